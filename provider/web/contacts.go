package web

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// inContacts is the part of the phone's settings that its book is in.
const inContacts = appstate.WAPatchCriticalUnblockLow

// contactsState is how often the contacts have changed, and which change was reported last.
type contactsState struct{ Changed, Published int64 }

func (s *session) contactsState(ctx context.Context) (b contactsState, err error) {
	err = s.p.devices.db.GetContext(ctx, &b, `SELECT changed, published FROM web_contacts WHERE reference = $1`, s.ref.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return b, fmt.Errorf("reading how far the phone's book was reported: %w", err)
	}
	return b, nil
}

// loadContacts finds out whether the process that had the line before has reported
// all changes that it fetched.
func (s *session) loadContacts(ctx context.Context) error {
	b, err := s.contactsState(ctx)
	if b.Changed > b.Published {
		s.store.contactStore.markStale()
	}
	return err
}

// syncContacts fetches what has changed in the phone's book since the line was
// connected; all of it when a change is lost.
func (s *session) syncContacts(c *whatsmeow.Client) {
	b, err := s.contactsState(s.ctx)
	if err == nil && b.Changed > 0 {
		err = c.FetchAppState(s.ctx, inContacts, s.store.contactStore.isStale(), false)
	}
	if err == nil && s.store.contactStore.isStale() { // by a fetch of the connection before, which this one has waited for
		err = c.FetchAppState(s.ctx, inContacts, true, false)
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Debug("fetching the phone's book", slog.Any("error", err)) // the next connection tries again
	}
}

// publishContacts reports what has changed in the phone's book. What cannot be stored
// is fetched again with the next connection.
func (s *session) publishContacts() {
	s.telling.Lock()
	defer s.telling.Unlock()
	c := s.device()
	if c == nil {
		return
	}
	if err := s.reportContacts(c); err != nil && s.ctx.Err() == nil {
		s.log.Warn("reporting the phone's book", slog.Any("error", err))
		s.store.contactStore.markStale()
		s.breakOff(c)
	}
}

func (s *session) reportContacts(c *whatsmeow.Client) error {
	b, err := s.contactsState(s.ctx)
	if err != nil || b.Changed == b.Published {
		return err
	}
	// This waits until whatsmeow has stored the names of the changes so far.
	if err := c.FetchAppState(s.ctx, inContacts, false, true); err != nil {
		return fmt.Errorf("waiting for the phone's book: %w", err)
	}
	who, whole, spoilt := s.store.contactStore.take()
	if spoilt {
		return nil // the whole book is about to be fetched
	}
	evs, err := s.contactChanges(c, b.Changed, who, whole)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err := s.inbox.Receive(s.ctx, s.ref.ID, part); err != nil {
			return fmt.Errorf("storing names: %w", err)
		}
	}
	return s.p.devices.db.Write(s.ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`UPDATE web_contacts SET published = $1 WHERE reference = $2 AND published < $1`, b.Changed, s.ref.ID)
		return err
	})
}

// contactChanges is the names that the phone gives some people, or everybody.
func (s *session) contactChanges(c *whatsmeow.Client, change int64, who map[types.JID]bool, whole bool) ([]provider.Event, error) {
	var evs []provider.Event
	if whole {
		all, err := c.Store.Contacts.GetAllContacts(s.ctx)
		for j, info := range all {
			if info.FullName != "" || who[j] {
				evs = append(evs, s.entry(j, info.FullName, change))
			}
		}
		return evs, err
	}
	for j := range who {
		info, err := c.Store.Contacts.GetContact(s.ctx, j)
		if err != nil {
			return nil, fmt.Errorf("reading a name: %w", err)
		}
		evs = append(evs, s.entry(j, info.FullName, change))
	}
	return evs, nil
}

// entry is a person in the phone's book, after a change of that.
func (s *session) entry(j types.JID, name string, change int64) *provider.ContactChange {
	c := &provider.ContactChange{What: provider.ContactSaved, Chat: s.both(s.ctx, j, types.EmptyJID), At: s.p.opts.Now(), Name: name}
	if name == "" {
		c.What = provider.ContactForgotten
	}
	what := sha256.Sum256([]byte(name))
	c.Raw = provider.Raw{Kind: "contact", ID: fmt.Sprintf("%s:%d:%x", c.Chat.ChatID, change, what[:8])}
	return c
}
