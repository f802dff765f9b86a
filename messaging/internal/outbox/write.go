package outbox

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// queueParts has a batch store the messages of a prepared one and queue them under
// the key of their chat. A splitter makes several of one; then it returns the one
// that has the type of the prepared message.
func (w *Writer) queueParts(ctx context.Context, u *store.Batch, d prepared) (*store.Message, error) {
	d.request = w.chooseID(&d)
	splitter, ok := d.provider.(provider.Splitter)
	if !ok {
		d.ownID = d.request
		return w.queuePart(ctx, u, d)
	}
	var main *store.Message
	parts := splitter.Split(d.content)
	first := max(0, slices.IndexFunc(parts, func(c provider.Content) bool { return c.Type() == d.content.Type() }))
	for i, content := range parts {
		part := d
		part.content, part.ownID = content, d.request
		if i != first {
			part.ownID = w.chooseID(&d)
		}
		own := content.Type() == d.content.Type()
		if own && d.req.Content.Type() != d.content.Type() {
			part.req.Content = d.req.Content // it is shown as it was asked for
		} else {
			part.req.Content = content
		}
		if !own {
			part.file, part.template = nil, nil
		}
		if i > 0 {
			part.req.ReplyTo = ""
		}
		m, err := w.queuePart(ctx, u, part)
		if err != nil {
			return nil, err
		}
		if i == first {
			main = m
		}
	}
	return main, nil
}

// expectLink has the file of a message fetched that is sent by its address. The
// network gets the address, and the record the copy.
func expectLink(u *store.Batch, d prepared, m *store.Message) {
	f, is := d.content.(provider.Media)
	if !is || f.URL == "" || !u.Store.KeepsFiles {
		return
	}
	source := store.FileSource{Kind: f.Kind, URL: f.URL, Name: f.FileName, Link: true}
	u.Expected = append(u.Expected, store.ExpectedFile{ID: store.NewID(), Reference: d.ref, Message: m, Source: source, Parent: u.Traceparent})
}

// queuePart has a batch store one message and queue it under the key of its chat.
func (w *Writer) queuePart(ctx context.Context, u *store.Batch, d prepared) (*store.Message, error) {
	u.Bounded = true
	if err := w.Admit(ctx, u.Tx, d.ref.Account); err != nil {
		return nil, err
	}
	c := d.locked
	if c == nil {
		to := store.Person{Reference: d.ref, Address: d.addr}
		if err := u.Open(ctx, []store.Person{to}, nil); err != nil {
			return nil, err
		}
		c = u.ChatOf(to)
	}
	replyTo, err := quoted(ctx, u, d, c)
	if err != nil {
		return nil, err
	}
	now := database.Micros(u.Now)
	m := &store.Message{
		Reference: d.ref.ID, Chat: c.ID, ID: d.ownID, Mine: true, Actor: d.req.Actor, Status: provider.StatusPending,
		PushName: c.Name, BizName: c.BizName, AtUS: now, CreatedUS: now, OwnID: d.ownID, ClientID: d.req.ClientID,
	}
	if d.request != d.ownID {
		m.RequestID = d.request
	}
	if d.content.Type() != d.req.Content.Type() {
		m.SentAs = d.content.Type()
	}
	content, err := aimed(ctx, u, d, c)
	if err != nil {
		return nil, err
	}
	body := d.body()
	if err := fillVote(u, &body, content, c); err != nil {
		return nil, err
	}
	if replyTo != "" {
		body.Context = &payload.Quote{MessageID: replyTo}
	}
	m.Body = string(payload.MustEncode(body))
	stored, err := render.EncodeContent(content, d.req.Tag)
	if err != nil {
		return nil, err
	}
	if err := attachment.Use(ctx, u, d.content); err != nil {
		return nil, err
	}
	expectLink(u, d, m)
	out := store.Outgoing{Message: m, Chat: c, Content: stored, ReplyTo: replyTo, Traceparent: u.Traceparent}
	if m.SentAs != "" {
		out.Asks = d.req.Content
	}
	u.Outgoing = append(u.Outgoing, out)
	c.ActivityUS = max(c.ActivityUS, now)
	if d.req.Actor == payload.ActorUser {
		c.HandoffUS = now
	}
	u.Publish(d.ref.Account, m.Reference, string(payload.EventMessage), m.View(c))
	return m, nil
}

// quoted is the network's id of the message that a prepared one answers.
func quoted(ctx context.Context, u *store.Batch, d prepared, c *store.Chat) (string, error) {
	if d.req.ReplyTo == "" {
		return "", nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: d.ref.ID, ID: d.req.ReplyTo}})
	if err != nil {
		return "", err
	}
	if len(at) == 0 || at[0].Chat != c.ID {
		return "", &payload.Missing{Field: "context.messageId", Message: "must be the id of a message in this chat"}
	}
	return at[0].ID, nil
}

// aimed returns the content to send. When it is about another message, that is
// named by the network's id. Only a reaction may be to a message that is not
// stored here.
func aimed(ctx context.Context, u *store.Batch, d prepared, c *store.Chat) (provider.Content, error) {
	id := text.Sanitize(Target(d.content))
	if id == "" {
		return d.content, nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: d.ref.ID, ID: id}})
	if err != nil {
		return nil, err
	}
	_, reaction := d.content.(provider.Reaction)
	_, vote := d.content.(provider.Vote)
	switch {
	case reaction && len(at) == 0:
		return d.content, nil
	case len(at) == 0 || at[0].Chat != c.ID:
		return nil, &payload.Invalid{Field: "message.messageId", Message: "must be the id of a message in this chat"}
	}
	if err := u.Load(ctx, []int64{at[0].Seq}); err != nil {
		return nil, err
	}
	if m := u.Messages[at[0].Seq]; !reaction && !vote && m != nil && !m.Mine {
		return nil, &payload.Invalid{Field: "message.messageId", Message: "must be the id of a message from the account"}
	}
	return AimedAt(d.content, at[0].ID), nil
}
