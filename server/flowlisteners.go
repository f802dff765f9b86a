package server

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// listenerLife is for how long it is believed on which lines something
// listens. What changes on this node counts at once.
const listenerLife = time.Second

// heed says who heeds the messages of a line.
type heed struct {
	listens bool // a bot or a flow answers, or an extractor of the line reads them
	reads   bool // extractors read those that are heeded
	holds   bool // events of the line wait for what extractors find
}

// listeners remembers who heeds the messages of lines: nearly all messages come
// on lines where nobody does, and asking the database costs as much as storing
// one.
type listeners struct {
	mu      sync.Mutex
	known   map[provider.ReferenceID]heed
	since   time.Time
	changes int64
}

// HeedTx says who heeds the messages of the lines of events.
func (l *listeners) HeedTx(ctx context.Context, tx *sqlx.Tx, s *Server, evs []messaging.Event) (map[provider.ReferenceID]heed, error) {
	changes, now := s.Bots.Changes()+s.Flows.Changes()+s.Extractors.Changes(), time.Now()
	out, unknown := l.look(evs, changes, now)
	if len(unknown) == 0 {
		return out, nil
	}
	refs, scopes := make([]int64, 0, len(unknown)), make([]string, 0, len(unknown))
	for ref := range unknown {
		refs, scopes = append(refs, ref), append(scopes, webhookScope(provider.ReferenceID(ref)))
	}
	bots, err := s.Bots.ListeningTx(ctx, tx, refs)
	if err != nil {
		return nil, err
	}
	flows, err := s.Flows.ListeningTx(ctx, tx, refs)
	if err != nil {
		return nil, err
	}
	reads, err := s.Extractors.ReadingTx(ctx, tx, unknown)
	if err != nil {
		return nil, err
	}
	holds, err := s.Webhooks.HoldingTx(ctx, tx, scopes)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref := range unknown {
		id := provider.ReferenceID(ref)
		out[id] = heed{
			listens: bots[ref] || flows[ref] || reads[ref].Line, reads: reads[ref].Line || reads[ref].Flows, holds: holds[webhookScope(id)],
		}
		if l.changes == changes {
			l.known[id] = out[id]
		}
	}
	return out, nil
}

// look is what is known of the lines of events, and of which nothing is, with
// their accounts.
func (l *listeners) look(evs []messaging.Event, changes int64, now time.Time) (known map[provider.ReferenceID]heed, unknown map[int64]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes != changes || l.known == nil || now.Sub(l.since) > listenerLife {
		l.known, l.since, l.changes = map[provider.ReferenceID]heed{}, now, changes
	}
	known, unknown = make(map[provider.ReferenceID]heed, len(evs)), map[int64]string{}
	for _, ev := range evs {
		if h, is := l.known[ev.Reference]; is {
			known[ev.Reference] = h
		} else {
			unknown[int64(ev.Reference)] = ev.Account
		}
	}
	return known, unknown
}
