package messaging

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Receive stores what a network reported, with everything that follows from
// it. It returns nil only once all of it is durable. Events that are known
// already change nothing. It implements [provider.Inbox].
func (s *Service) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	l, err := s.cachedReference(ctx, ref)
	if err != nil {
		return err
	}
	as := make([]ingest.Event, len(events))
	for i, e := range events {
		as[i] = ingest.Event{Reference: l, Event: e}
	}
	if err := s.receive(ctx, as); err != nil {
		s.references.clear() // the reference may have been deleted by another node
		return err
	}
	return nil
}

// receive stores inbound events together with those of other callers.
func (s *Service) receive(ctx context.Context, as []ingest.Event) error {
	if len(as) == 0 {
		return nil
	}
	ctx, received := s.beginReceive(ctx, as)
	for i := range as {
		as[i] = ingest.Validate(as[i])
		as[i].Parent = span.Of(ctx)
	}
	err := s.inbox.Do(ctx, as)
	received.End(err != nil)
	if err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	var last provider.ReferenceID
	for _, a := range as {
		if a.Reference.ID != last {
			last = a.Reference.ID
			s.liveness.Inbound(last, s.now())
		}
	}
	return nil
}

// receiveBatch stores many callers' inbound events in one transaction. When that
// fails each caller's are tried alone, so that only the one at fault sees an
// error.
func (s *Service) receiveBatch(ctx context.Context, batch [][]ingest.Event) []error {
	ctx = span.With(ctx, "") // it is that of one of them
	errs := make([]error, len(batch))
	var all []ingest.Event
	for _, as := range batch {
		all = append(all, as...)
	}
	err := s.storeEvents(ctx, all)
	for i, as := range batch {
		if err != nil && len(batch) > 1 {
			errs[i] = s.storeEvents(ctx, as)
		} else {
			errs[i] = err
		}
	}
	s.notifySubscribers()
	if slices.ContainsFunc(all, ingest.Event.BringsFile) {
		s.files.Notify()
	}
	return errs
}

// storeEvents is the transaction of Receive. A panic becomes an error: the inbound events
// of others are in the same batch.
func (s *Service) storeEvents(ctx context.Context, as []ingest.Event) (err error) {
	counts := ingest.Counts{}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			return
		}
		if err == nil {
			for k, n := range counts {
				s.opts.Observer.received(k.Kind, k.What, n)
			}
		}
	}()
	var nameless []store.Person
	err = s.store.InTx(ctx, func(tx *sqlx.Tx) error {
		u := s.store.Begin(tx)
		clear(counts)
		if err := ingest.Apply(ctx, u, as, counts); err != nil {
			return err
		}
		nameless = u.Unnamed
		return u.Flush(ctx)
	})
	if err == nil && len(nameless) > 0 {
		s.nameLookups.enqueue(nameless, s.now())
	}
	return err
}

// referenceCache remembers what receiving needs to know of references: nothing of
// it ever changes. It is emptied with the claims, so that a reference that was
// deleted is forgotten.
type referenceCache struct {
	mu    sync.Mutex
	infos map[provider.ReferenceID]store.ReferenceInfo
	epoch int64
}

// cachedReference is the line of a reference of any account, or [ErrNotFound].
func (s *Service) cachedReference(ctx context.Context, id provider.ReferenceID) (store.ReferenceInfo, error) {
	c := &s.references
	c.mu.Lock()
	l, ok := c.infos[id]
	epoch := c.epoch
	c.mu.Unlock()
	if ok {
		return l, nil
	}
	l, err := s.store.ReferenceInfo(ctx, s.db, id)
	if err != nil {
		return store.ReferenceInfo{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.infos == nil {
		c.infos = map[provider.ReferenceID]store.ReferenceInfo{}
	}
	if c.epoch == epoch {
		c.infos[id] = l
	}
	return l, nil
}

func (c *referenceCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.infos = nil
	c.epoch++
}
