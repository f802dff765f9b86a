package graphtest

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// PageInbound is a message that a person writes to a page.
type PageInbound struct {
	Page        string // id; "": the first
	From        string // page-scoped id
	ID          string // "": a new one
	At          time.Time
	Text        string
	ReplyTo     string // id of the quoted message, or ""
	QuickReply  string // payload of the pressed quick reply, or ""
	Attachments []any  // with type and payload, as in Meta's API
	Referral    any    // what led to the chat; nil: nothing
	Standby     bool   // another app has the conversation
}

func person(id string) map[string]any { return map[string]any{"id": id} }

func (in *PageInbound) message() map[string]any {
	m := map[string]any{"mid": in.ID}
	put(m, "text", in.Text)
	if in.ReplyTo != "" {
		m["reply_to"] = map[string]any{"mid": in.ReplyTo}
	}
	if in.QuickReply != "" {
		m["quick_reply"] = map[string]any{"payload": in.QuickReply}
	}
	if in.Attachments != nil {
		m["attachments"] = in.Attachments
	}
	if in.Referral != nil {
		m["referral"] = in.Referral
	}
	return m
}

// Write makes a person write to a page. It posts the callback until it is
// answered with 200 or ctx ends, and returns the message's id.
func (ps *Pages) Write(ctx context.Context, in PageInbound) (id string, err error) {
	p, known := ps.find(in.Page)
	if !known {
		return "", fmt.Errorf("graphtest: no page %q", in.Page)
	}
	in.ID = defaulted(in.ID, newMid())
	if in.At.IsZero() {
		in.At = ps.fake.opts.Now()
	}
	ps.fake.record(func() {
		ps.fake.taken[in.ID] = Message{ID: in.ID, Owner: p.ID, From: in.From, Type: "text", Text: in.Text, At: in.At}
		ps.fake.wrote[p.ID+"/"+in.From] = in.At
	})
	item := map[string]any{"sender": person(in.From), "recipient": person(p.ID), "timestamp": in.At.UnixMilli(), "message": in.message()}
	return in.ID, ps.postItem(ctx, p, item, in.Standby)
}

// Echo makes an app write to the person of in for the page, and posts that as
// [Pages.Write] does. Without an app id, a person at the page's inbox writes.
func (ps *Pages) Echo(ctx context.Context, in PageInbound, app string) (id string, err error) {
	p, known := ps.find(in.Page)
	if !known {
		return "", fmt.Errorf("graphtest: no page %q", in.Page)
	}
	in.ID = defaulted(in.ID, newMid())
	if in.At.IsZero() {
		in.At = ps.fake.opts.Now()
	}
	m := in.message()
	m["is_echo"] = true
	put(m, "app_id", app)
	item := map[string]any{"sender": person(p.ID), "recipient": person(in.From), "timestamp": in.At.UnixMilli(), "message": m}
	return in.ID, ps.postItem(ctx, p, item, in.Standby)
}

// Watermark posts that the person has received ("delivered") or read ("read")
// all messages up to the one with an id.
func (ps *Pages) Watermark(ctx context.Context, messageID, status string) error {
	ps.fake.mu.Lock()
	m, known := ps.fake.taken[messageID]
	ps.fake.mu.Unlock()
	if !known || m.To == "" {
		return fmt.Errorf("graphtest: no message %q was taken", messageID)
	}
	item := map[string]any{"sender": person(m.To)}
	mark := map[string]any{"watermark": m.At.UnixMilli()}
	switch status {
	case "delivered":
		mark["mids"] = []string{m.ID}
		item["delivery"] = mark
	case "read":
		item["read"] = mark
	default:
		return nil // pages have no other statuses
	}
	return ps.PostItem(ctx, m.Owner, item)
}

// PostItem posts an event between a person and a page, signed and repeated as
// by [Pages.Write]. The item gets the page as its recipient, and the time if it
// has none.
func (ps *Pages) PostItem(ctx context.Context, page string, item map[string]any) error {
	p, known := ps.find(page)
	if !known {
		return fmt.Errorf("graphtest: no page %q", page)
	}
	return ps.postItem(ctx, p, item, false)
}

func (ps *Pages) postItem(ctx context.Context, p Page, item map[string]any, standby bool) error {
	whole := map[string]any{"recipient": person(p.ID), "timestamp": ps.fake.opts.Now().UnixMilli()}
	maps.Copy(whole, item)
	name := "messaging"
	if standby {
		name = "standby"
	}
	return ps.post(ctx, p, map[string]any{name: []any{whole}})
}

func (ps *Pages) post(ctx context.Context, p Page, entry map[string]any) error {
	entry["id"], entry["time"] = p.ID, ps.fake.opts.Now().UnixMilli()
	return ps.fake.post.deliver(ctx, "", p.AppSecret, wire(map[string]any{"object": "page", "entry": []any{entry}}))
}

// URL returns the public address of a page's file, which is valid for a day.
func (fs *Files) URL(id string) string {
	return fmt.Sprintf("%s%s%s?until=%d", fs.fake.URL, attachment, id, fs.fake.opts.Now().Add(24*time.Hour).UnixMilli())
}
