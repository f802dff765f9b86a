package messaging

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// claim is a reference that says that callbacks for an id are its own.
type claim struct {
	line     line
	row      *referenceRow
	secret   string
	shared   bool // the secret is one for all references, so that it proves nothing
	proved   bool
	starting bool
}

// claimKey is an id under which a network knows a line or a group of lines.
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

// claimLife bounds how long a change on another node can go unnoticed when
// its wake-up is lost: twice that, if the database hangs.
const claimLife = time.Second

// maxClaims bounds the cache; ids come from strangers only after they were
// found to belong to somebody.
const maxClaims = 10_000

// get returns the claims of key; fresh skips the cache.
func (c *claimCache) get(ctx context.Context, s *Service, key claimKey, fresh bool) ([]claim, error) {
	e, epoch, ok := c.cached(key)
	if ok && !fresh {
		return e.claims, nil
	}
	e = cachedClaims{at: time.Now()}
	var err error
	if e.claims, err = s.loadClaims(ctx, key); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= maxClaims {
		c.entries = map[claimKey]cachedClaims{}
	}
	if len(e.claims) > 0 && c.epoch == epoch {
		c.entries[key] = e
	}
	return e.claims, nil
}

// cached returns the claims of key that can be used. When their time is over
// the first who asks reads them again, and the others need not wait for it.
func (c *claimCache) cached(key claimKey) (e cachedClaims, epoch int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok = c.entries[key]; !ok || time.Since(e.at) < claimLife {
		return e, c.epoch, ok
	}
	if e.anew.IsZero() {
		e.anew = time.Now()
		c.entries[key] = e
		return e, c.epoch, false
	}
	return e, c.epoch, time.Since(e.anew) < claimLife
}

func (c *claimCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = nil
	c.epoch++
}

// loadClaims reads the references of every account that claim an id.
func (s *Service) loadClaims(ctx context.Context, key claimKey) ([]claim, error) {
	column := "line_key"
	if key.group {
		column = "group_key"
	}
	var rows []*referenceRow
	err := s.db.SelectContext(ctx, &rows, `SELECT `+referenceColumns+` FROM messaging_reference
		WHERE `+column+` = $1 AND `+column+` <> '' AND kind = $2 ORDER BY id`, key.id, key.kind)
	if err != nil {
		return nil, fmt.Errorf("finding the lines of a callback: %w", err)
	}
	p, err := s.kind(key.kind)
	if err != nil {
		return nil, err
	}
	out := make([]claim, 0, len(rows))
	for _, r := range rows {
		settings, err := s.openSettings(p, r)
		if err != nil {
			return nil, err
		}
		caller := p.(provider.Caller)
		own, _ := caller.Secrets(settings)
		secret, _ := caller.Secrets(effective(p, settings))
		out = append(out, claim{line: r.line(p), row: r, secret: secret, shared: own == "", proved: r.Proved, starting: r.State == StateStarting})
	}
	return out, nil
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
	s.known.clear()
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
