package web

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// inContacts is the part of the app state that holds the phone's contacts.
const inContacts = appstate.WAPatchCriticalUnblockLow

// contactSync reports the names that the phone's contacts have.
type contactSync struct {
	conn   *connection
	inbox  provider.Inbox
	people *resolver
	db     *database.DB
	store  *contactStore

	publishing sync.Mutex // one report at a time
}

// contactsState counts the changes of the contacts and says which was published
// last.
type contactsState struct{ Changed, Published int64 }

func (cs *contactSync) state(ctx context.Context) (b contactsState, err error) {
	err = cs.db.GetContext(ctx, &b, `SELECT changed, published FROM web_contacts WHERE reference = $1`, cs.conn.ref.ID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return b, fmt.Errorf("reading the state of the phone's contacts: %w", err)
	}
	return b, nil
}

// load marks the contacts as stale if an earlier session has fetched changes
// that it did not publish.
func (cs *contactSync) load(ctx context.Context) error {
	b, err := cs.state(ctx)
	if b.Changed > b.Published {
		cs.store.markStale()
	}
	return err
}

// sync fetches the changes of the phone's contacts since the last connection, or
// all contacts when a change is lost.
func (cs *contactSync) sync(c *whatsmeow.Client) {
	b, err := cs.state(cs.conn.ctx)
	if err == nil && b.Changed > 0 {
		err = c.FetchAppState(cs.conn.ctx, inContacts, cs.store.isStale(), false)
	}
	if err == nil && cs.store.isStale() { // an earlier connection's fetch, which this one waited for, has lost a change
		err = c.FetchAppState(cs.conn.ctx, inContacts, true, false)
	}
	if err != nil && cs.conn.ctx.Err() == nil {
		cs.conn.log.Debug("fetching the phone's contacts", slog.Any("error", err)) // the next connection tries again
	}
}

// publish reports what has changed in the phone's contacts. Changes that cannot
// be stored are fetched again by the next connection.
func (cs *contactSync) publish() {
	cs.publishing.Lock()
	defer cs.publishing.Unlock()
	c := cs.conn.current()
	if c == nil {
		return
	}
	if err := cs.report(c); err != nil && cs.conn.ctx.Err() == nil {
		cs.conn.log.Warn("reporting the phone's contacts", slog.Any("error", err))
		cs.store.markStale()
		cs.conn.abort(c)
	}
}

func (cs *contactSync) report(c *whatsmeow.Client) error {
	b, err := cs.state(cs.conn.ctx)
	if err != nil || b.Changed == b.Published {
		return err
	}
	// The fetch returns after whatsmeow has stored the names of earlier changes.
	if err := c.FetchAppState(cs.conn.ctx, inContacts, false, true); err != nil {
		return fmt.Errorf("waiting for the phone's contacts: %w", err)
	}
	who, all, stale := cs.store.take()
	if stale {
		return nil // all contacts are about to be fetched
	}
	evs, err := cs.changes(c, b.Changed, who, all)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err := cs.inbox.Receive(cs.conn.ctx, cs.conn.ref.ID, part); err != nil {
			return fmt.Errorf("storing names: %w", err)
		}
	}
	return cs.db.Write(cs.conn.ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(cs.conn.ctx, `UPDATE web_contacts SET published = $1 WHERE reference = $2 AND published < $1`, b.Changed, cs.conn.ref.ID)
		return err
	})
}

// changes returns the events of changed contacts, or of all contacts.
func (cs *contactSync) changes(c *whatsmeow.Client, change int64, who map[types.JID]bool, everyone bool) ([]provider.Event, error) {
	var evs []provider.Event
	if everyone {
		all, err := c.Store.Contacts.GetAllContacts(cs.conn.ctx)
		for j, info := range all {
			if info.FullName != "" || who[j] {
				evs = append(evs, cs.entry(j, info.FullName, change))
			}
		}
		return evs, err
	}
	for j := range who {
		info, err := c.Store.Contacts.GetContact(cs.conn.ctx, j)
		if err != nil {
			return nil, fmt.Errorf("reading a name: %w", err)
		}
		evs = append(evs, cs.entry(j, info.FullName, change))
	}
	return evs, nil
}

// entry returns the event of one contact.
func (cs *contactSync) entry(j types.JID, name string, change int64) *provider.ContactChange {
	c := &provider.ContactChange{What: provider.ContactSaved, Chat: cs.people.address(cs.conn.ctx, j, types.EmptyJID), At: cs.conn.now(), Name: name}
	if name == "" {
		c.What = provider.ContactForgotten
	}
	what := sha256.Sum256([]byte(name))
	c.Raw = provider.Raw{Kind: "contact", ID: fmt.Sprintf("%s:%d:%x", c.Chat.ChatID, change, what[:8])}
	return c
}

// contactStore collects changes of the phone's contacts that are not reported
// yet. whatsmeow fetches a change once, and records the new version before it
// stores the change. If it fails in between, only fetching all contacts finds the
// change. This package therefore counts each change in the database before the
// version is recorded.
type contactStore struct {
	report func() // reports the changes; nil: they are not reported

	mu    sync.Mutex
	who   map[types.JID]bool // changed contacts
	all   bool               // all contacts were fetched
	stale bool               // a change is lost: all contacts must be fetched
}

// changed adds a contact.
func (b *contactStore) changed(who types.JID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.who == nil {
		b.who = map[types.JID]bool{}
	}
	b.who[who] = true
}

// fetchedAll records that all contacts were fetched.
func (b *contactStore) fetchedAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.stale = true, false
}

// markStale records that a change is lost.
func (b *contactStore) markStale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = true
}

func (b *contactStore) isStale() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stale
}

// take returns the contacts to report and clears them.
func (b *contactStore) take() (who map[types.JID]bool, all, stale bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	who, all = b.who, b.all
	b.who, b.all = nil, false
	return who, all, b.stale
}

// versions stores which versions of the app state whatsmeow has fetched.
type versions struct {
	store.AppStateStore
	g *guarded
}

// PutAppStateVersion stores that a version was fetched.
func (v *versions) PutAppStateVersion(ctx context.Context, name string, version uint64, hash [128]byte) error {
	if name != string(inContacts) {
		return v.AppStateStore.PutAppStateVersion(ctx, name, version, hash)
	}
	if err := v.g.contactsChanged(ctx); err != nil {
		v.g.contactStore.markStale()
		return err
	}
	err := v.AppStateStore.PutAppStateVersion(ctx, name, version, hash)
	if err != nil {
		v.g.contactStore.markStale() // whatsmeow discards what it has read
		return err
	}
	if v.g.contactStore.report != nil {
		v.g.contactStore.report()
	}
	return nil
}

// contactsChanged counts a change of the contacts.
func (g *guarded) contactsChanged(ctx context.Context) error {
	if !leased(g.ref) {
		return errLost
	}
	err := g.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO web_contacts (reference, changed, published) VALUES ($1, 1, 0)
			ON CONFLICT (reference) DO UPDATE SET changed = web_contacts.changed + 1`, g.ref.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("counting a change of the phone's contacts: %w", err)
	}
	return nil
}

// contactNames stores the names of contacts. whatsmeow ignores its errors, so
// they mark the contacts as stale.
type contactNames struct {
	store.ContactStore
	g *guarded
}

// PutContactName stores the name of one contact.
func (c *contactNames) PutContactName(ctx context.Context, user types.JID, first, full string) error {
	err := c.ContactStore.PutContactName(ctx, user, first, full)
	if err != nil {
		return c.failed(ctx, err)
	}
	c.g.contactStore.changed(user)
	return nil
}

// PutAllContactNames stores the names of all contacts. If a contact is listed
// more than once, it keeps the newest name, where whatsmeow would keep the oldest.
func (c *contactNames) PutAllContactNames(ctx context.Context, all []store.ContactEntry) error {
	latest := make([]store.ContactEntry, 0, len(all))
	known := make(map[types.JID]bool, len(all))
	for _, e := range slices.Backward(all) {
		if !known[e.JID] {
			known[e.JID], latest = true, append(latest, e)
		}
	}
	if err := c.ContactStore.PutAllContactNames(ctx, latest); err != nil {
		return c.failed(ctx, err)
	}
	c.g.contactStore.fetchedAll()
	return nil
}

// failed makes the next connection fetch the contacts again.
func (c *contactNames) failed(ctx context.Context, err error) error {
	c.g.contactStore.markStale()
	if ctx.Err() == nil && c.g.fail != nil {
		c.g.fail()
	}
	return err
}
