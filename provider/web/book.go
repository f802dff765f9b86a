package web

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// saved is what the phone's book calls somebody from now on.
func (s *session) saved(e *events.Contact) []provider.Event {
	c := s.entry(e.JID, e.Action.GetFullName())
	c.At = e.Timestamp
	c.ID = fmt.Sprintf("%s:%d", c.Chat.ChatID, e.Timestamp.UnixMilli())
	return []provider.Event{c}
}

// phoneBook reports all of the phone's book, which whatsmeow has fetched as a
// whole: of that it tells nobody.
func (s *session) phoneBook(c *whatsmeow.Client) {
	all, err := c.Store.Contacts.GetAllContacts(s.ctx)
	var evs []provider.Event
	for j, info := range all {
		if info.FullName != "" {
			evs = append(evs, s.entry(j, info.FullName))
		}
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err == nil {
			err = s.inbox.Receive(s.ctx, s.ref.ID, part)
		}
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("importing the phone's book", slog.Any("error", err))
	}
}

// entry is somebody in the phone's book.
func (s *session) entry(j types.JID, name string) *provider.ContactChange {
	c := &provider.ContactChange{What: provider.ContactSaved, Chat: s.both(s.ctx, j, types.EmptyJID), At: s.p.opts.Now(), Name: name}
	if name == "" {
		c.What = provider.ContactForgotten
	}
	what := sha256.Sum256([]byte(name))
	c.Raw = provider.Raw{Kind: "contact", ID: fmt.Sprintf("%s:%x", c.Chat.ChatID, what[:8])}
	return c
}
