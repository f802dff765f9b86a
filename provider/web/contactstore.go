package web

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// contactStore is what has changed in the phone's book and is not reported yet.
// whatsmeow fetches a change once, and notes that it has it before it says what
// it is: what is lost then is found only by fetching the whole book. So that a
// change is about to be noted is stored first.
type contactStore struct {
	report func() // reports it; nil: it is not reported

	mu    sync.Mutex
	who   map[types.JID]bool
	whole bool // everybody
	// stale says that some change is lost here: only all contacts together help.
	spoilt bool
}

// noted adds a person.
func (b *contactStore) noted(who types.JID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.who == nil {
		b.who = map[types.JID]bool{}
	}
	b.who[who] = true
}

// fetched adds everybody.
func (b *contactStore) fetched() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.whole, b.spoilt = true, false
}

func (b *contactStore) markStale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spoilt = true
}

func (b *contactStore) isStale() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spoilt
}

// take hands out whom the report is to be about, and begins again.
func (b *contactStore) take() (who map[types.JID]bool, whole, spoilt bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	who, whole = b.who, b.whole
	b.who, b.whole = nil, false
	return who, whole, b.spoilt
}

// versions notes how far whatsmeow has fetched the phone's settings.
type versions struct {
	store.AppStateStore
	g *guarded
}

// PutAppStateVersion notes that a change was fetched.
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
		v.g.contactStore.markStale() // whatsmeow forgets what it has read so far
		return err
	}
	if v.g.contactStore.report != nil {
		v.g.contactStore.report()
	}
	return nil
}

func (g *guarded) contactsChanged(ctx context.Context) error {
	if !leased(g.ref) {
		return errLost
	}
	err := g.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`INSERT INTO web_contacts (reference, changed, published) VALUES ($1, 1, 0)
			ON CONFLICT (reference) DO UPDATE SET changed = web_contacts.changed + 1`, g.ref.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("noting that the phone's book has changed: %w", err)
	}
	return nil
}

// contactNames are the names of people. whatsmeow continues as if those were stored
// that could not be.
type contactNames struct {
	store.ContactStore
	g *guarded
}

// PutContactName stores what the phone's book calls a person.
func (c *contactNames) PutContactName(ctx context.Context, user types.JID, first, full string) error {
	err := c.ContactStore.PutContactName(ctx, user, first, full)
	if err != nil {
		return c.refused(ctx, err)
	}
	c.g.contactStore.noted(user)
	return nil
}

// PutAllContactNames stores the whole book. Of a person who is in it more than
// once whatsmeow would keep the oldest name.
func (c *contactNames) PutAllContactNames(ctx context.Context, all []store.ContactEntry) error {
	latest := make([]store.ContactEntry, 0, len(all))
	known := make(map[types.JID]bool, len(all))
	for _, e := range slices.Backward(all) {
		if !known[e.JID] {
			known[e.JID], latest = true, append(latest, e)
		}
	}
	if err := c.ContactStore.PutAllContactNames(ctx, latest); err != nil {
		return c.refused(ctx, err)
	}
	c.g.contactStore.fetched()
	return nil
}

// refused has the contacts fetched again, with the next connection.
func (c *contactNames) refused(ctx context.Context, err error) error {
	c.g.contactStore.markStale()
	if ctx.Err() == nil && c.g.fail != nil {
		c.g.fail()
	}
	return err
}
