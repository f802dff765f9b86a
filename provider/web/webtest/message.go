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
	Chat    types.JID      // the person or group, as the sender addressed it
	From    types.JID      // the device that sent it
	FromMe  bool           // a linked device of the phone sent it
	Peer    bool           // a message between devices of one account, which no chat shows
	Content *waE2E.Message // decrypted; of a linked device, what it sent to the chat
	At      time.Time      // the server's time, in whole seconds
	Got     time.Time      // when the phone received it
	// Copies is how often it arrived and could be decrypted. The phone shows it
	// once.
	Copies int
	// Retries is how often it could not be decrypted and was requested again.
	Retries int
}

// messageKey identifies a message. Its sender chose the id.
type messageKey struct {
	id, user string
	device   uint16
}

// Text returns the text of the message, or "".
func (m *Message) Text() string {
	if text := m.Content.GetConversation(); text != "" {
		return text
	}
	return m.Content.GetExtendedTextMessage().GetText()
}

// Await waits for a message for which match returns true, and returns a copy. A
// nil match accepts messages of others, except those between devices. Each
// message is returned once.
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
		return nil, fmt.Errorf("webtest: none of the %d messages of %s matches: %w", len(p.Messages()), p.jid, err)
	}
	return found, nil
}

// AwaitText waits for a message with a text: see [Phone.Await].
func (p *Phone) AwaitText(ctx context.Context, text string) (*Message, error) {
	return p.Await(ctx, func(m *Message) bool { return m.Text() == text })
}

// Messages returns the messages that the phone could decrypt, in the order of
// their first arrival.
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

// MakeUndecryptable makes the phone unable to decrypt the next n messages. It
// requests each of them again.
func (p *Phone) MakeUndecryptable(n int) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.inbox.undecryptable += n
}

// message returns the record of a message, and creates it if necessary. s.mu is
// held.
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
