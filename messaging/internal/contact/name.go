package contact

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	nameWorkers        = 4              // lookups at once
	maxNameQueue       = 1024           // contacts that wait; others are looked up with their next message
	nameRetryInterval  = 24 * time.Hour // between two lookups of a contact
	maxNamesRemembered = 100_000        // contacts that are remembered as looked up
	nameTimeout        = 10 * time.Second
)

// Names looks up the names of contacts whose messages come without one.
// Messages do not wait for it.
type Names struct {
	store   *store.Store
	logger  *slog.Logger
	session func(ctx context.Context, row *store.Reference) (provider.Session, error)
	queue   chan store.Person

	mu    sync.Mutex
	asked map[store.ChatName]time.Time
}

// NewNames returns Names over a store; session returns the open session of a
// reference.
func NewNames(s *store.Store, logger *slog.Logger, session func(ctx context.Context, row *store.Reference) (provider.Session, error)) *Names {
	return &Names{
		store: s, logger: logger, session: session,
		queue: make(chan store.Person, maxNameQueue), asked: map[store.ChatName]time.Time{},
	}
}

// Enqueue queues contacts that were not looked up in the last 24 hours. When
// the queue is full, it drops the rest.
func (n *Names) Enqueue(people []store.Person) {
	now := n.store.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range people {
		key := store.ChatName{Reference: p.Reference.ID, TypedID: store.IDs(p.Address)[0]}
		if at, asked := n.asked[key]; asked && now.Sub(at) < nameRetryInterval {
			continue
		}
		select {
		case n.queue <- p:
		default:
			return
		}
		if len(n.asked) >= maxNamesRemembered {
			clear(n.asked)
		}
		n.asked[key] = now
	}
}

// Run looks up the queued contacts until ctx ends.
func (n *Names) Run(ctx context.Context) error {
	var g errgroup.Group
	for range nameWorkers {
		g.Go(func() error {
			for {
				select {
				case p := <-n.queue:
					n.report(ctx, p, n.lookUp(ctx, p))
				case <-ctx.Done():
					return nil
				}
			}
		})
	}
	return g.Wait()
}

// report logs why a lookup failed.
func (n *Names) report(ctx context.Context, p store.Person, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	level := slog.LevelInfo
	if refusal.Certain(err) { // the contact shows no name
		level = slog.LevelDebug
	}
	n.logger.Log(ctx, level, "asking for a contact's name", slog.Int64("reference", int64(p.Reference.ID)), slog.Any("error", err))
}

// lookUp asks the network what a contact is called, and stores the answer. A
// panic of a provider becomes an error.
func (n *Names) lookUp(ctx context.Context, p store.Person) error {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	ref := &store.Reference{}
	err := n.store.DB.GetContext(ctx, ref, `SELECT `+store.ReferenceColumns+` FROM messaging_reference WHERE id = $1`, p.Reference.ID)
	if err != nil {
		return fmt.Errorf("loading reference %d: %w", p.Reference.ID, err)
	}
	if refusal.CheckUsable(ref) != nil {
		return nil
	}
	sess, err := n.session(ctx, ref)
	if err != nil {
		return err
	}
	namer, ok := sess.(provider.Namer)
	if !ok {
		return nil
	}
	var who provider.Contact
	err = refusal.Recovered(func() (err error) {
		who, err = namer.Name(ctx, p.Address)
		return err
	})
	if err != nil || who.Name == "" && who.Username == "" {
		return err
	}
	return n.store.InBatch(ctx, func(u *store.Batch) error {
		c, err := store.LockChat(ctx, u, p.Reference, p.Address)
		if errors.Is(err, payload.ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		c.SetName(sanitize.Contact(who), database.Micros(u.Now))
		return ingest.ChatChanged(ctx, u, p.Reference, c, true)
	})
}
