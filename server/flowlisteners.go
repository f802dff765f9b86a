package server

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// listenerLife is for how long it is believed on which lines something
// listens. What changes on this node counts at once.
const listenerLife = time.Second

// listeners remembers on which lines a bot or a flow listens: nearly all
// messages come on lines where none does, and asking the database costs as
// much as storing one.
type listeners struct {
	mu      sync.Mutex
	known   map[int64]bool
	since   time.Time
	changes int64
}

// ListeningTx says on which of some lines a bot or a flow listens.
func (l *listeners) ListeningTx(ctx context.Context, tx *sqlx.Tx, s *Server, references []int64) (map[int64]bool, error) {
	changes, now := s.Bots.Changes()+s.Flows.Changes(), time.Now()
	out, unknown := l.look(references, changes, now)
	if len(unknown) == 0 {
		return out, nil
	}
	bots, err := s.Bots.ListeningTx(ctx, tx, unknown)
	if err != nil {
		return nil, err
	}
	flows, err := s.Flows.ListeningTx(ctx, tx, unknown)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ref := range unknown {
		out[ref] = bots[ref] || flows[ref]
		if l.changes == changes {
			l.known[ref] = out[ref]
		}
	}
	return out, nil
}

// look is what is known of lines, and of which nothing is.
func (l *listeners) look(references []int64, changes int64, now time.Time) (known map[int64]bool, unknown []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes != changes || l.known == nil || now.Sub(l.since) > listenerLife {
		l.known, l.since, l.changes = map[int64]bool{}, now, changes
	}
	known = make(map[int64]bool, len(references))
	for _, ref := range references {
		if listens, is := l.known[ref]; is {
			known[ref] = listens
		} else {
			unknown = append(unknown, ref)
		}
	}
	return known, unknown
}
