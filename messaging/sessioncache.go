package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// sessionCache holds the open sessions of this node by reference. A session is
// opened when it is first needed and again when the settings changed.
type sessionCache struct {
	mu   sync.Mutex
	open map[provider.ReferenceID]*cachedSession
}

type cachedSession struct {
	revision int64
	session  provider.Session
}

// get returns the session of a reference as row describes it. Of a reference that is
// a connection it is the one that this node holds.
func (ls *sessionCache) get(ctx context.Context, s *Service, row *store.Reference) (provider.Session, error) {
	if s.connects(row.Kind) {
		return s.leases.session(row.ID)
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if o := ls.open[row.ID]; o != nil {
		if o.revision >= row.Revision {
			return o.session, nil
		}
		ls.close(row.ID, s.opts.Logger)
	}
	// Opening does not wait for the network, so the lock is short.
	sess, err := s.openSession(ctx, row, nil, s)
	if err != nil {
		return nil, err
	}
	if ls.open == nil {
		ls.open = map[provider.ReferenceID]*cachedSession{}
	}
	ls.open[row.ID] = &cachedSession{row.Revision, sess}
	return sess, nil
}

// openSession opens a session of a reference.
func (s *Service) openSession(ctx context.Context, row *store.Reference, held func() bool, inbox provider.Inbox) (provider.Session, error) {
	p, err := s.kind(row.Kind)
	if err != nil {
		return nil, err
	}
	settings, err := s.openSettings(p, row)
	if err != nil {
		return nil, err
	}
	sess, err := p.Open(context.WithoutCancel(ctx), provider.Reference{
		ID: row.ID, Name: row.Name, Settings: effective(p, settings), CallbackURL: row.Callback, Held: held,
	}, inbox)
	if err != nil {
		return nil, fmt.Errorf("opening reference %d: %w", row.ID, err)
	}
	if paced, ok := sess.(provider.RateLimiter); ok {
		sent, err := s.sentRecords(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		paced.Left(sent)
	}
	return sess, nil
}

// drop closes a reference that was deleted or logged out.
func (ls *sessionCache) drop(id provider.ReferenceID, log *slog.Logger) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.close(id, log)
}

func (ls *sessionCache) closeAll(log *slog.Logger) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for id := range ls.open {
		ls.close(id, log)
	}
}

// closeTimeout bounds how long a session may take to say goodbye.
const closeTimeout = 5 * time.Second

func (ls *sessionCache) close(id provider.ReferenceID, log *slog.Logger) {
	o := ls.open[id]
	if o == nil {
		return
	}
	delete(ls.open, id)
	go func() { // others must not wait for a network that does not answer
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := o.session.Close(ctx); err != nil {
			log.Warn("closing a session", slog.Int64("reference", int64(id)), slog.Any("error", err))
		}
	}()
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
	l, err := s.referenceInfo(ctx, s.db, id)
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

// healthBuffer collects signs of life; they are written once a second rather
// than with every message.
type healthBuffer struct {
	mu       sync.Mutex
	inbounds map[provider.ReferenceID]time.Time
	acks     map[provider.ReferenceID]time.Time
	touched  map[provider.ReferenceID]time.Time // starting lines whose network has answered
}

func (h *healthBuffer) inbound(id provider.ReferenceID, at time.Time) { h.note(&h.inbounds, id, at) }
func (h *healthBuffer) ack(id provider.ReferenceID, at time.Time)     { h.note(&h.acks, id, at) }
func (h *healthBuffer) touch(id provider.ReferenceID, at time.Time)   { h.note(&h.touched, id, at) }

func (h *healthBuffer) note(m *map[provider.ReferenceID]time.Time, id provider.ReferenceID, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *m == nil {
		*m = map[provider.ReferenceID]time.Time{}
	}
	(*m)[id] = at
}

// take hands out what was noted and begins anew.
func (h *healthBuffer) take() (inbounds, acks, touched map[provider.ReferenceID]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	inbounds, acks, touched = h.inbounds, h.acks, h.touched
	h.inbounds, h.acks, h.touched = nil, nil, nil
	return inbounds, acks, touched
}
