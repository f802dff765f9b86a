package connection

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Manager has the open sessions of this node. Its fields are set before [New].
type Manager struct {
	Store     *store.Store
	Settings  *settings.Box
	Logger    *slog.Logger
	Exclusive bool // no other process uses the database
	// Inbox takes what networks report.
	Inbox provider.Inbox

	sessions sessionCache
	leases   *leases // the references that are connections
	starts   database.Starts
}

// CallTimeout bounds one call of a network.
const CallTimeout = 30 * time.Second

// New returns m, ready for use.
func New(m *Manager) *Manager {
	m.leases = newLeases(m)
	return m
}

// Run maintains the leases of references that are connections until ctx ends;
// then it releases them.
func (m *Manager) Run(ctx context.Context) error { return m.leases.run(ctx) }

// Close closes the sessions of all other references.
func (m *Manager) Close() { m.sessions.closeAll(m.Logger) }

// Get returns the open session of a reference as row describes it, or
// [refusal.ErrNotHere] when another node has it.
func (m *Manager) Get(ctx context.Context, row *store.Reference) (provider.Session, error) {
	return m.sessions.get(ctx, m, row)
}

// Drop closes the session of a reference that was deleted or logged out.
func (m *Manager) Drop(id provider.ReferenceID) { m.sessions.drop(id, m.Logger) }

// Notify has all nodes look at what is desired of references.
func (m *Manager) Notify() { m.Store.DB.Notify(leaseTopic) }

// Serves reports whether this node may work for a subscriber.
func (m *Manager) Serves(subscriber string) bool {
	id, err := strconv.ParseInt(subscriber, 10, 64)
	return err != nil || m.leases.serves(provider.ReferenceID(id))
}

// Reach is what makes the calls to a reference's network that are no sends: its
// session, or one that has them made on the node that has the reference.
func (m *Manager) Reach(ctx context.Context, row *store.Reference) (any, error) {
	sess, err := m.Get(ctx, row)
	if errors.Is(err, refusal.ErrNotHere) {
		return forwarder{m, row.ID}, nil
	}
	return sess, err
}
