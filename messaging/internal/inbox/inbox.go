package inbox

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Inbox stores what networks report. It implements [provider.Inbox], and is
// safe for concurrent use. Its fields are set before [New].
type Inbox struct {
	Store *store.Store
	Trace span.Hook
	// Received notes that a reference has received something.
	Received func(id provider.ReferenceID, at time.Time)
	// Unnamed takes the people who wrote and have no name yet.
	Unnamed func(people []store.Person)
	// Reply has a batch send a text to the caller of a call that was rejected.
	Reply func(ctx context.Context, u *store.Batch, l store.ReferenceInfo, chatID, text string) error
	// Count counts what was new.
	Count func(kind provider.Kind, what string, n int)

	references referenceCache
	batches    groupcommit.Group[[]ingest.Event]
}

// New returns b, ready for use.
func New(b *Inbox) *Inbox {
	// SQLite has one writer. To PostgreSQL few large transactions are less work
	// than many small ones, but while one waits for the disk another can continue.
	writers := 1
	if b.Store.DB.Dialect == database.Postgres {
		writers = 2
	}
	b.batches.Gate, b.batches.Run = make(chan struct{}, writers), b.receiveBatch
	return b
}

// Receive stores the events of a reference of any account, with everything that
// follows from them. It returns nil only once all of it is durable. Events that
// are known already change nothing.
func (b *Inbox) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	l, err := b.references.get(ctx, b.Store, ref)
	if err != nil {
		return err
	}
	as := make([]ingest.Event, len(events))
	for i, e := range events {
		as[i] = ingest.Event{Reference: l, Event: e}
	}
	if err := b.Add(ctx, as); err != nil {
		b.Forget() // another node may have deleted the reference
		return err
	}
	return nil
}

// Forget empties the cache of references. Call it after a reference was deleted.
func (b *Inbox) Forget() { b.references.clear() }

// Add stores events together with those of other callers.
func (b *Inbox) Add(ctx context.Context, as []ingest.Event) error {
	if len(as) == 0 {
		return nil
	}
	ctx, received := b.beginSpan(ctx, as)
	for i := range as {
		as[i] = ingest.Validate(as[i])
		as[i].Parent = span.Of(ctx)
	}
	err := b.Store.DB.Wait(ctx, func(ctx context.Context) error { return b.batches.Do(ctx, as) })
	received.End(err != nil)
	if err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	var last provider.ReferenceID
	for _, a := range as {
		if a.Reference.ID != last {
			last = a.Reference.ID
			b.Received(last, b.Store.Now())
		}
	}
	return nil
}

// beginSpan begins the span of what a network reports at once. Ids of chats are
// phone numbers, and ids of messages may contain them: no span has one.
func (b *Inbox) beginSpan(ctx context.Context, as []ingest.Event) (context.Context, *span.Span) {
	ctx, received := span.Begin(ctx, b.Trace, "messaging.receive")
	if received != nil {
		received.Set(slog.Int64("reference", int64(as[0].Reference.ID)))
		received.Set(slog.String("kind", string(as[0].Reference.Kind)))
		received.Set(slog.Int("events", len(as)))
	}
	return ctx, received
}

// receiveBatch stores the events of many callers in one transaction. When that
// fails, it tries the events of each caller alone, so that only the caller at
// fault gets an error. It is no caller's fault that the store cannot be written.
func (b *Inbox) receiveBatch(ctx context.Context, batch [][]ingest.Event) []error {
	ctx = span.With(ctx, "") // it is that of one of them
	errs := make([]error, len(batch))
	all := slices.Concat(batch...)
	err := b.write(ctx, all, nil)
	alone := err != nil && len(batch) > 1 && !database.IsUnwritable(err)
	for i, as := range batch {
		if alone {
			errs[i] = b.write(ctx, as, nil)
		} else {
			errs[i] = err
		}
	}
	return errs
}

// Replay stores events that are validated in one transaction with first, which
// runs before. It may run more than once.
func (b *Inbox) Replay(ctx context.Context, as []ingest.Event, first func(ctx context.Context, tx *database.Tx) error) error {
	return b.write(ctx, as, first)
}

// write stores events in one transaction, after first, which may be nil. A panic
// becomes an error, since the same batch has events of other callers.
func (b *Inbox) write(ctx context.Context, as []ingest.Event, first func(ctx context.Context, tx *database.Tx) error) (err error) {
	counts := ingest.Counts{}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			return
		}
		if err == nil {
			for k, n := range counts {
				b.Count(k.Kind, k.What, n)
			}
		}
	}()
	var unnamed []store.Person
	err = b.Store.InTx(ctx, func(tx *database.Tx) error {
		u := b.Store.Begin(tx)
		clear(counts)
		if first != nil {
			if err := first(ctx, tx); err != nil {
				return err
			}
		}
		if err := ingest.Apply(ctx, u, as, counts); err != nil {
			return err
		}
		if err := b.replyToCalls(ctx, u, as); err != nil {
			return err
		}
		unnamed = u.Unnamed
		return u.Flush(ctx)
	})
	if err == nil && len(unnamed) > 0 {
		b.Unnamed(unnamed)
	}
	return err
}
