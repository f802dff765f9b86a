package messaging

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// queueParts stores the messages of a prepared message and puts them into its chat's partition.
// Nearly always it is one; else it returns the one that is of the prepared message's type.
func (s *Service) queueParts(ctx context.Context, u *store.Batch, d preparedMessage) (int64, error) {
	d.request = s.chooseID(&d)
	splitter, ok := d.provider.(provider.Splitter)
	if !ok {
		d.ownID = d.request
		return s.queuePart(ctx, u, d)
	}
	var main int64
	parts := splitter.Split(d.content)
	first := max(0, slices.IndexFunc(parts, func(c provider.Content) bool { return c.Type() == d.content.Type() }))
	for i, content := range parts {
		part := d
		part.content, part.ownID = content, d.request
		if i != first {
			part.ownID = s.chooseID(&d)
		}
		own := content.Type() == d.content.Type()
		if own && d.req.Content.Type() != d.content.Type() {
			part.req.Content = d.req.Content // it is shown as it was asked for
		} else {
			part.req.Content = content
		}
		if !own {
			part.file, part.template, part.req.IdempotencyKey = nil, nil, ""
		}
		if i > 0 {
			part.req.ReplyTo = ""
		}
		seq, err := s.queuePart(ctx, u, part)
		if err != nil {
			return 0, err
		}
		if i == first {
			main = seq
		}
	}
	return main, nil
}

// expectLink has the file of a message that goes out by its address fetched,
// while the message is sent: the network gets the address, and the record the
// copy.
func expectLink(u *store.Batch, d preparedMessage, m *store.Message) {
	f, is := d.content.(provider.Media)
	if !is || f.URL == "" || !u.Store.KeepsFiles {
		return
	}
	source := store.FileSource{Kind: f.Kind, URL: f.URL, Name: f.FileName, Link: true}
	u.Expected = append(u.Expected, store.ExpectedFile{ID: store.NewID(), Reference: d.line, Message: m, Source: source, Parent: u.Traceparent})
}

// checkTag refuses a tag that the reference's network does not have. Lines without
// tags ignore it.
func (d *preparedMessage) checkTag() error {
	known := d.provider.Capabilities().Tags
	if _, ok := known[d.req.Tag]; ok || d.req.Tag == "" || len(known) == 0 {
		return nil
	}
	return &Invalid{Field: "message.tag", Message: "must be one of " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")}
}

// tagged says whether the prepared message's tag still lets it go out.
func (d *preparedMessage) tagged(now time.Time) bool {
	ttl, ok := d.provider.Capabilities().Tags[d.req.Tag]
	lastInbound := d.windowUS - d.line.Window.Microseconds() // when the contact wrote last
	return ok && d.windowUS > 0 && database.Time(lastInbound).Add(ttl).After(now)
}

// wayOut says what may be sent although the window is closed.
func (d *preparedMessage) wayOut() string {
	const closed = "The contact has not written within the window in which free-form messages may be sent. "
	tags := d.provider.Capabilities().Tags
	if len(tags) == 0 {
		return closed + "Send an approved template instead: a message of type template."
	}
	var ways []string
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		ways = append(ways, fmt.Sprintf("%s within %d days of the contact's last message", tag, int(tags[tag].Hours())/24))
	}
	return closed + "Only a message with a tag may go out: " + strings.Join(ways, ", ") + "."
}

// aimed is what will be sent of a prepared message, about a message by the network's id.
// Only a reaction may be to a message that is not stored here.
func aimed(ctx context.Context, u *store.Batch, d preparedMessage, c *store.Chat) (provider.Content, error) {
	id := store.Sanitize(outbox.Target(d.content))
	if id == "" {
		return d.content, nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: d.line.ID, ID: id}})
	if err != nil {
		return nil, err
	}
	_, reaction := d.content.(provider.Reaction)
	switch {
	case reaction && len(at) == 0:
		return d.content, nil
	case len(at) == 0 || at[0].Chat != c.ID:
		return nil, &Invalid{Field: "message.messageId", Message: "names no message of this chat"}
	}
	if err := u.Load(ctx, []int64{at[0].Seq}); err != nil {
		return nil, err
	}
	if m := u.Messages[at[0].Seq]; !reaction && m != nil && !m.Mine {
		return nil, &Invalid{Field: "message.messageId", Message: "must name a message of the account itself"}
	}
	return outbox.AimedAt(d.content, at[0].ID), nil
}
