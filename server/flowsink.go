package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// toFlows has the messages of contacts answered by bots and flows.
type toFlows struct{ s *Server }

// eventsTx queues the messages of contacts in whose chats something listens.
func (t toFlows) eventsTx(ctx context.Context, tx *sqlx.Tx, evs []messaging.Event, to *audience) error {
	for _, ev := range evs {
		if !to.takes(ev) {
			continue
		}
		if err := t.queue(ctx, tx, ev, to.read(ev)); err != nil {
			return err
		}
	}
	return nil
}

// fromContact says whether an event is a message of a contact.
func fromContact(ev messaging.Event) bool {
	return ev.Type == messaging.EventMessage && ev.Actor == messaging.ActorContact
}

// saysSomething says whether a message may be answered: it does not react to
// another, change it or take it back.
func saysSomething(p messaging.MessagePayload) bool {
	return p.Reaction == nil && p.Revoked == nil && p.Edited == nil
}

// queue has a message answered if it says something, and read before if
// extractors are to.
func (t toFlows) queue(ctx context.Context, tx *sqlx.Tx, ev messaging.Event, read bool) error {
	var p messaging.MessagePayload
	if err := json.Unmarshal(ev.Payload, &p); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	if !saysSomething(p) {
		return nil
	}
	about, err := t.s.Messaging.For(ev.Account).InboundMessageTx(ctx, tx, ev.Reference, ev.MessageID)
	if err != nil {
		return err
	}
	in := runtime.Incoming{
		Chat:    view.RunChat(ev.Account, ev.Reference, ev.Key, ev.ChatID),
		Message: t.s.flowMessage(p), Prepare: read, Traceparent: ev.Traceparent,
		Inbound: flow.Inbound{Channel: string(about.Kind), Group: p.Participant != nil, First: about.First, Text: said(p)},
	}
	if p.Reply != nil {
		in.Inbound.Button = p.Reply.ID
	}
	if len(p.Referral) > 0 {
		payload := referralPayload(p.Referral)
		in.Inbound.Referral = &payload
	}
	return t.s.Runs.IncomingTx(ctx, tx, in)
}

// said is the text of a message, or what is below its file.
func said(p messaging.MessagePayload) string {
	if p.Text != "" {
		return p.Text
	}
	return p.Caption
}

// flowMessage is a message as flows see it.
func (s *Server) flowMessage(p messaging.MessagePayload) map[string]any {
	m := map[string]any{"id": p.ID, "type": p.Type, "text": said(p)}
	switch {
	case p.Location != nil:
		m["type"], m["location"] = "location", plain(p.Location)
	case p.Contacts != nil:
		m["type"], m["contacts"] = "contacts", plain(p.Contacts)
	case p.Type != messaging.TypeText && p.Type != "":
		m["media"] = map[string]any{
			"type": p.Type, "url": s.fileAddress(p.FileURL), "mimetype": p.MimeType, "fileName": p.FileName,
			"fileLength": p.FileLength, "seconds": p.Seconds, "sticker": p.Sticker,
		}
	}
	if p.Reply != nil {
		m["reply"] = map[string]any{"id": p.Reply.ID, "title": p.Reply.Title}
	}
	return m
}

// fileAddress is where a file is got; "" when there is none.
func (s *Server) fileAddress(path string) string {
	if path == "" {
		return ""
	}
	return s.cfg.BaseURL + "/" + path
}

// plain is a value as its JSON has it.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// referralPayload is what a link or an advertisement carries for us, in the
// words of both networks.
func referralPayload(raw json.RawMessage) string {
	var r struct {
		Ref      string `json:"ref"`
		SourceID string `json:"source_id"`
	}
	_ = json.Unmarshal(raw, &r) // whatever it is, it has no payload then
	if r.Ref != "" {
		return r.Ref
	}
	return r.SourceID
}

// chatsTx tells runs that a person has come, or is done, and that chats are
// one now.
func (t toFlows) chatsTx(ctx context.Context, tx *sqlx.Tx, news []messaging.ChatUpdate) error {
	for _, n := range news {
		chat := runtime.Chat{Reference: int64(n.Reference), Key: n.Key, ID: n.ChatID}
		if len(n.Merged) > 0 {
			if err := t.s.Runs.MergedTx(ctx, tx, chat, n.Merged); err != nil {
				return err
			}
		}
		if n.Handoff.IsZero() && !n.WasTaken {
			continue
		}
		if err := t.s.Runs.HandoffTx(ctx, tx, chat, n.Handoff.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

// erase erases the runs of a contact.
func (t toFlows) erase(ctx context.Context, e messaging.Erased) error {
	return t.s.Runs.For(e.Account).Erase(ctx, runtime.Erasure{
		Reference: int64(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
}
