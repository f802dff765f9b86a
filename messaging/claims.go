package messaging

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// claim is a reference that says that callbacks for an id are its own.
type claim struct {
	line     store.ReferenceInfo
	row      *store.Reference
	secret   string
	shared   bool // the secret is one for all references, so that it proves nothing
	proved   bool
	starting bool
}

// claimKey is an id under which a network knows a reference or a group of references.
type claimKey struct {
	kind  provider.Kind
	group bool
	id    string
}

// claimCache remembers who claims an id. It is emptied when a reference
// changes on any node, and never trusted for a refusal.
type claimCache struct {
	mu      sync.Mutex
	entries map[claimKey]cachedClaims
	epoch   int64
}

type cachedClaims struct {
	claims []claim
	at     time.Time
	anew   time.Time // somebody began to read them again then; zero: nobody has
}

// claimTTL bounds how long a change on another node can go unnoticed when
// its wake-up is lost: twice that, if the database hangs.
const claimTTL = time.Second

// maxCachedClaims bounds the ids in the cache; they come from strangers only after
// they were found to belong to somebody.
const maxCachedClaims = 10_000

// cached returns the claims of key that can be used. When their time is over
// the first who asks reads them again, and the others need not wait for it.
func (c *claimCache) cached(key claimKey) ([]claim, bool) {
	e, ok := c.entries[key]
	if !ok || time.Since(e.at) < claimTTL {
		return e.claims, ok
	}
	if e.anew.IsZero() {
		e.anew = time.Now()
		c.entries[key] = e
		return nil, false
	}
	return e.claims, time.Since(e.anew) < claimTTL
}

// get returns the claims of those of keys that are remembered.
func (c *claimCache) get(keys []claimKey) map[claimKey][]claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[claimKey][]claim{}
	for _, key := range keys {
		if claims, ok := c.cached(key); ok {
			found[key] = claims
		}
	}
	return found
}

// now is the epoch, for keep.
func (c *claimCache) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// keep remembers what was found; epoch is what it was before it was read.
func (c *claimCache) keep(found map[claimKey][]claim, began time.Time, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch != epoch {
		return
	}
	if c.entries == nil || len(c.entries)+len(found) > maxCachedClaims {
		c.entries = map[claimKey]cachedClaims{}
	}
	for key, claims := range found {
		c.entries[key] = cachedClaims{claims: claims, at: began}
	}
}

func (c *claimCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = nil
	c.epoch++
}

// referencesTopic wakes nodes whose cache is out of date.
const referencesTopic = "messaging references"

// referencesChanged makes every node read references anew.
func (s *Service) referencesChanged() {
	s.forgetReferences()
	s.db.Wake(referencesTopic)
}

func (s *Service) forgetReferences() {
	s.claims.clear()
	s.references.clear()
}

// watchReferences empties the caches when another node changed a reference.
func (s *Service) watchReferences(ctx context.Context) error {
	changed := s.db.Listen(ctx, referencesTopic)
	for {
		select {
		case <-changed:
			s.forgetReferences()
		case <-ctx.Done():
			return nil
		}
	}
}

// maxOwnClaims is how many references of an account claim one id. Of a reference
// the first maxLine claims count, so no account can take all of these.
const maxOwnClaims = 10

// claimsLock is the first key of the locks of mayClaim.
const claimsLock = 0x636c6d73

// mayClaim refuses to have r claim an id that many of its account claim
// already. What claims it stays as it is.
func (s *Service) mayClaim(ctx context.Context, tx *sqlx.Tx, r *store.Reference, id string) error {
	if id == "" {
		return nil
	}
	if s.db.Dialect == database.Postgres { // others of the account wait; seldom, those of another
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1, hashtext($2))`, claimsLock, r.Account); err != nil {
			return fmt.Errorf("locking the claims of an account: %w", err)
		}
	}
	var others int
	err := tx.GetContext(ctx, &others, `SELECT count(*) FROM messaging_reference WHERE account = $1 AND kind = $2 AND line_key = $3 AND id <> $4
		AND NOT EXISTS (SELECT 1 FROM messaging_reference AS own WHERE own.id = $4 AND own.line_key = $3)`, r.Account, r.Kind, id, r.ID)
	if err != nil {
		return fmt.Errorf("counting the claims of an id: %w", err)
	}
	if others >= maxOwnClaims {
		return &Invalid{Field: "settings", Message: fmt.Sprintf("name a number or page that %d references of the account have already", maxOwnClaims)}
	}
	return nil
}
