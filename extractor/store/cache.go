package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/trunklinehq/trunkline/extractor/intent"
)

const (
	maxAccounts = 1000
	// maxModels bounds the size of the encoded intent models that are kept in
	// memory, in bytes. Decoded, each takes up to ten times as much.
	maxModels = 48 << 20
)

// cache keeps the compiled extractors of accounts.
type cache struct {
	mu       sync.Mutex
	accounts map[string]*cachedAccount
	models   map[string]cachedModel // by the extractor's id
	size     int                    // of the stored models
}

type cachedAccount struct {
	mu       sync.Mutex
	revision int64       // of the account
	items    []*compiled // in the order of lists
}

type cachedModel struct {
	revision int64
	size     int
	model    *intent.Model
}

func (s *cache) account(id string) *cachedAccount {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.accounts == nil || len(s.accounts) >= maxAccounts {
		s.accounts = map[string]*cachedAccount{}
	}
	if s.accounts[id] == nil {
		s.accounts[id] = &cachedAccount{}
	}
	return s.accounts[id]
}

// items returns the account's compiled extractors, in the order of lists. It asks
// the database whether they are current, since any node may have changed them.
func (a *Account) items(ctx context.Context) ([]*compiled, error) {
	revision, err := a.revision(ctx)
	if err != nil {
		return nil, err
	}
	on := a.s.cache.account(a.id)
	on.mu.Lock()
	defer on.mu.Unlock()
	if revision == on.revision {
		return on.items, nil
	}
	if err := a.restock(ctx, on); err != nil {
		return nil, err
	}
	return on.items, nil
}

// revision returns the number of changes of the account's extractors.
func (a *Account) revision(ctx context.Context) (revision int64, err error) {
	err = a.s.db.GetContext(ctx, &revision, `SELECT COALESCE((SELECT revision FROM extractor_account WHERE account = $1), 0)`, a.id)
	if err != nil {
		return 0, fmt.Errorf("looking for changes of extractors: %w", err)
	}
	return revision, nil
}

// restock reloads what has changed.
func (a *Account) restock(ctx context.Context, on *cachedAccount) error {
	revision, err := a.revision(ctx) // read again: a concurrent request may have reloaded it
	if err != nil {
		return err
	}
	known := map[string]*compiled{}
	for _, c := range on.items {
		known[c.ID] = c
	}
	var rows []struct {
		row
		Trained int64
	}
	err = a.s.db.SelectContext(ctx, &rows, `SELECT i.number, i.id, i.name, i.kind, i.reference, i.bot, i.flow, i.enabled, i.revision,
			COALESCE(m.revision, 0) AS trained
		FROM extractor_item i LEFT JOIN extractor_model m ON m.extractor = i.id WHERE i.account = $1 ORDER BY i.number`, a.id)
	if err != nil {
		return fmt.Errorf("reading extractors: %w", err)
	}
	items := make([]*compiled, 0, len(rows))
	for _, r := range rows {
		c := known[r.ID]
		if c == nil || c.revision != r.Revision || c.Name != r.Name {
			if c, err = a.load(ctx, r.ID); err != nil {
				return err
			}
		}
		if c == nil {
			continue
		}
		copied := *c
		copied.Enabled, copied.Scope, copied.number, copied.trained = r.Enabled, r.view().Scope, r.Number, r.Trained
		items = append(items, &copied)
	}
	on.items, on.revision = items, revision
	return nil
}

// load compiles an extractor. It returns nil if the extractor no longer exists, or
// if a newer version of this program wrote it.
func (a *Account) load(ctx context.Context, id string) (*compiled, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := ready(r.view())
	if err != nil {
		a.s.opts.Logger.ErrorContext(ctx, "an extractor cannot be read", "extractor", id, "error", err)
		return nil, nil
	}
	c.revision, c.Config = r.Revision, nil // nothing asks the cache for the config, which may be large
	return c, nil
}

// learned returns the trained model of an extractor, nil if there is none.
func (a *Account) learned(ctx context.Context, c *compiled) (*intent.Model, error) {
	if c.Kind != Intent || c.trained == 0 {
		return nil, nil
	}
	if m := a.s.cache.model(c.ID, c.trained); m != nil {
		return m, nil
	}
	var stored struct {
		Revision int64
		Body     string
	}
	err := a.s.db.GetContext(ctx, &stored, `SELECT revision, body FROM extractor_model WHERE extractor = $1`, c.ID)
	if err != nil {
		return nil, fmt.Errorf("reading what was learned: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(stored.Body)
	if err != nil {
		return nil, fmt.Errorf("reading what was learned: %w", err)
	}
	m := &intent.Model{}
	if err := m.UnmarshalBinary(raw); err != nil {
		// Another version of this program wrote it: train the model again.
		return nil, errors.Join(err, a.relearn(ctx, c.ID))
	}
	a.s.cache.keep(c.ID, cachedModel{stored.Revision, len(raw), m})
	return m, nil
}

func (s *cache) model(id string, revision int64) *intent.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[id]; ok && m.revision >= revision {
		return m.model
	}
	return nil
}

// keep caches a model and evicts others when there are too many.
func (s *cache) keep(id string, m cachedModel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = map[string]cachedModel{}
	}
	s.size += m.size - s.models[id].size
	s.models[id] = m
	for other, o := range s.models {
		if s.size <= maxModels {
			return
		}
		if other != id {
			s.size -= o.size
			delete(s.models, other)
		}
	}
}
