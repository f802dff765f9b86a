package messaging

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// inboundEvent is one event of one reference.
type inboundEvent struct {
	reference store.ReferenceInfo
	event     provider.Event
	body      string        // of a message, as its row will have it
	bad       *provider.Bad // instead of an event
	echo      bool          // of what was sent from here

	parent string // traceparent of its receipt
}

// Receive stores what a network reported, with everything that follows from
// it. It returns nil only once all of it is durable. Events that are known
// already change nothing. It implements [provider.Inbox].
func (s *Service) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	l, err := s.cachedReference(ctx, ref)
	if err != nil {
		return err
	}
	as := make([]inboundEvent, len(events))
	for i, e := range events {
		as[i] = inboundEvent{reference: l, event: e}
	}
	if err := s.receive(ctx, as); err != nil {
		s.references.clear() // the reference may have been deleted by another node
		return err
	}
	return nil
}

// receive stores inbound events together with those of other callers.
func (s *Service) receive(ctx context.Context, as []inboundEvent) error {
	if len(as) == 0 {
		return nil
	}
	ctx, received := s.beginReceive(ctx, as)
	for i := range as {
		as[i] = validateEvent(as[i])
		as[i].parent = span.Of(ctx)
	}
	err := s.inbox.Do(ctx, as)
	received.End(err != nil)
	if err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	var last provider.ReferenceID
	for _, a := range as {
		if a.reference.ID != last {
			last = a.reference.ID
			s.health.inbound(last, s.now())
		}
	}
	return nil
}

// receiveBatch stores many callers' inbound events in one transaction. When that
// fails each caller's are tried alone, so that only the one at fault sees an
// error.
func (s *Service) receiveBatch(ctx context.Context, batch [][]inboundEvent) []error {
	ctx = span.With(ctx, "") // it is that of one of them
	errs := make([]error, len(batch))
	var all []inboundEvent
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
	if slices.ContainsFunc(all, inboundEvent.bringsFile) {
		s.files.Notify()
	}
	return errs
}

// storeEvents is the transaction of Receive. A panic becomes an error: the inbound events
// of others are in the same batch.
func (s *Service) storeEvents(ctx context.Context, as []inboundEvent) (err error) {
	counts := counter{}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			return
		}
		if err == nil {
			counts.report(s.opts.Observer)
		}
	}()
	var nameless []store.Person
	err = s.store.InTx(ctx, func(tx *sqlx.Tx) error {
		u := s.store.Begin(tx)
		clear(counts)
		if err := ingest(ctx, u, as, counts); err != nil {
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

// counter counts what was new by kind of line and what it was.
type counter map[countKey]int

type countKey struct {
	kind provider.Kind
	what string
}

func (c counter) report(o *Observer) {
	for k, n := range c {
		o.received(k.kind, k.what, n)
	}
}
