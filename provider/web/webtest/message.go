package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
)

// Message is a message as a phone has it.
type Message struct {
	ID      string
	Chat    types.JID      // the person or group, addressed as the sender did
	From    types.JID      // the device that sent it
	FromMe  bool           // a linked device of the phone sent it
	Peer    bool           // a word between devices of one account: no chat shows it
	Content *waE2E.Message // decrypted; of a linked device's what it said to the chat
	At      time.Time      // as the server has it, in whole seconds
	Got     time.Time      // when the phone had it
	// Copies is how often it arrived and could be decrypted; the phone shows it
	// once.
	Copies int
	// Retries is how often it could not be decrypted and was asked for again.
	Retries int
}

// messageKey tells messages apart: ids are their sender's choice.
type messageKey struct {
	id, user string
	device   uint16
}

// Text is what the message says, or "".
func (m *Message) Text() string {
	if text := m.Content.GetConversation(); text != "" {
		return text
	}
	return m.Content.GetExtendedTextMessage().GetText()
}

// Await waits for a message that match accepts, and returns it as it is then.
// Nil accepts every message of a chat that others sent. No call returns a
// message that another has returned.
func (p *Phone) Await(ctx context.Context, match func(*Message) bool) (*Message, error) {
	if match == nil {
		match = func(m *Message) bool { return !m.FromMe && !m.Peer }
	}
	var found *Message
	err := p.s.until(ctx, &p.changed, func() bool {
		at := slices.IndexFunc(p.inbox.untaken, match)
		if at >= 0 {
			copied := *p.inbox.untaken[at]
			found = &copied
			p.inbox.untaken = slices.Delete(p.inbox.untaken, at, at+1)
		}
		return at >= 0
	})
	if err != nil {
		return nil, fmt.Errorf("webtest: no such message among %d of %s: %w", len(p.Messages()), p.jid, err)
	}
	return found, nil
}

// AwaitText waits for a message that says text: see [Phone.Await].
func (p *Phone) AwaitText(ctx context.Context, text string) (*Message, error) {
	return p.Await(ctx, func(m *Message) bool { return m.Text() == text })
}

// Messages returns what the phone could decrypt, in the order of its first
// arrival.
func (p *Phone) Messages() []Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var list []Message
	for _, m := range p.inbox.messages {
		if m.Content != nil {
			list = append(list, *m)
		}
	}
	return list
}

// MakeUndecryptable makes the phone unable to decrypt the next n messages. It asks for each
// of them again.
func (p *Phone) MakeUndecryptable(n int) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.inbox.undecryptable += n
}

// message finds or adds the record of a message. s.mu is held.
func (in *phoneInbox) message(id string, from types.JID) *Message {
	key := messageKey{id: id, user: from.User, device: from.Device}
	m := in.byID[key]
	if m == nil {
		m = &Message{ID: id, From: from}
		in.byID[key] = m
		in.messages = append(in.messages, m)
	}
	return m
}
