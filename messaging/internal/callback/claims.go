package callback

import (
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// claim is a reference that says that callbacks for an id are its own.
type claim struct {
	ref      store.ReferenceInfo
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
	anew   time.Time // a reading of them began then; zero: none has
}

// claimTTL bounds how long a change on another node can go unnoticed when
// its wake-up is lost: twice that, if the database hangs.
const claimTTL = time.Second

// maxCachedClaims bounds the ids in the cache; they come from strangers only after
// they were found to belong to a reference.
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
