package connection

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/settings"
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
// a connection it is the one that this node leases.
func (c *sessionCache) get(ctx context.Context, m *Manager, row *store.Reference) (provider.Session, error) {
	if m.Store.Connects(row.Kind) {
		return m.leases.session(row.ID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[row.ID]; o != nil {
		if o.revision >= row.Revision {
			return o.session, nil
		}
		c.close(row.ID, m.Logger)
	}
	// Opening does not wait for the network, so the lock is short.
	sess, err := m.openSession(ctx, row, nil, m.Inbox)
	if err != nil {
		return nil, err
	}
	if c.open == nil {
		c.open = map[provider.ReferenceID]*cachedSession{}
	}
	c.open[row.ID] = &cachedSession{row.Revision, sess}
	return sess, nil
}

// openSession opens a session of a reference.
func (m *Manager) openSession(ctx context.Context, row *store.Reference, deferred func() bool, inbox provider.Inbox) (provider.Session, error) {
	p, err := m.Store.Provider(row.Kind)
	if err != nil {
		return nil, err
	}
	values, err := m.Settings.Open(p, row)
	if err != nil {
		return nil, err
	}
	sess, err := p.Open(context.WithoutCancel(ctx), provider.Reference{
		ID: row.ID, Name: row.Name, Settings: settings.Effective(p, values), CallbackURL: row.Callback, Leased: deferred,
	}, inbox)
	if err != nil {
		return nil, fmt.Errorf("opening reference %d: %w", row.ID, err)
	}
	if paced, ok := sess.(provider.RateLimiter); ok {
		sent, err := m.sentRecords(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		paced.Left(sent)
	}
	return sess, nil
}

// drop closes a reference that was deleted or logged out.
func (c *sessionCache) drop(id provider.ReferenceID, log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close(id, log)
}

func (c *sessionCache) closeAll(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.open {
		c.close(id, log)
	}
}

// CloseTimeout bounds how long a session may take to say goodbye.
const CloseTimeout = 5 * time.Second

func (c *sessionCache) close(id provider.ReferenceID, log *slog.Logger) {
	o := c.open[id]
	if o == nil {
		return
	}
	delete(c.open, id)
	go func() { // others must not wait for a network that does not answer
		ctx, cancel := context.WithTimeout(context.Background(), CloseTimeout)
		defer cancel()
		if err := o.session.Close(ctx); err != nil {
			log.Warn("closing a session", slog.Int64("reference", int64(id)), slog.Any("error", err))
		}
	}()
}
