package messaging

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
	"github.com/trunklinehq/trunkline/provider"
)

const (
	nameWorkers        = 4              // lookups at once
	maxNameQueue       = 1024           // contacts that wait; others are asked for with their next message
	nameRetryInterval  = 24 * time.Hour // after which one is asked for again
	maxNamesRemembered = 100_000        // contacts that are remembered as asked for
	nameTimeout        = 10 * time.Second
)

// nameLookups remembers for whose names networks were asked: messages do not wait
// for them.
type nameLookups struct {
	queue chan store.Person

	mu    sync.Mutex
	asked map[store.ChatName]time.Time
}

// enqueue queues the contacts that have not been asked for lately.
func (b *nameLookups) enqueue(people []store.Person, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range people {
		key := store.ChatName{Reference: p.Reference.ID, TypedID: store.IDs(p.Address)[0]}
		if at, asked := b.asked[key]; asked && now.Sub(at) < nameRetryInterval {
			continue
		}
		select {
		case b.queue <- p:
		default:
			return
		}
		if len(b.asked) >= maxNamesRemembered {
			clear(b.asked)
		}
		b.asked[key] = now
	}
}

// runNameLookups asks for the names that are wanted until ctx ends.
func (s *Service) runNameLookups(ctx context.Context) error {
	var g errgroup.Group
	for range nameWorkers {
		g.Go(func() error {
			for {
				select {
				case p := <-s.nameLookups.queue:
					s.logNameless(ctx, p, s.lookUpName(ctx, p))
				case <-ctx.Done():
					return nil
				}
			}
		})
	}
	return g.Wait()
}

// logNameless says why a contact has no name. That it shows none is no news.
func (s *Service) logNameless(ctx context.Context, p store.Person, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	level := slog.LevelInfo
	if refusal.Certain(err) {
		level = slog.LevelDebug
	}
	s.opts.Logger.Log(ctx, level, "asking for a contact's name", slog.Int64("reference", int64(p.Reference.ID)), slog.Any("error", err))
}

// lookUpName asks the network what a contact is called. A panic of a provider
// becomes an error.
func (s *Service) lookUpName(ctx context.Context, p store.Person) error {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	ref := &store.Reference{}
	err := s.db.GetContext(ctx, ref, `SELECT `+store.ReferenceColumns+` FROM messaging_reference WHERE id = $1`, p.Reference.ID)
	if err != nil {
		return fmt.Errorf("loading reference %d: %w", p.Reference.ID, err)
	}
	if refusal.CheckUsable(ref) != nil {
		return nil
	}
	sess, err := s.connections.Get(ctx, ref)
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
	return s.store.InBatch(ctx, func(u *store.Batch) error {
		c, err := store.LockChat(ctx, u, p.Reference, p.Address)
		if errors.Is(err, ErrNotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		c.SetName(sanitize.Contact(who), database.Micros(u.Now))
		return ingest.ChatChanged(ctx, u, p.Reference, c, true)
	})
}
