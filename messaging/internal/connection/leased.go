package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// unlinkTimeout bounds how long a network may take to end a pairing.
	unlinkTimeout = 10 * time.Second
	// NotHereRetryDelay is how soon a send is tried again whose reference stands nowhere.
	NotHereRetryDelay = time.Second
)

// errLeaseLost reports that another node has the reference meanwhile.
var errLeaseLost = errors.New("messaging: the line is held by another node")

// leasedConnection is a reference that this node leases.
type leasedConnection struct {
	leases *leases
	id     provider.ReferenceID
	kind   provider.Kind
	fence  int64
	until  atomic.Int64 // the age of the process at which the lease ends

	mu          sync.Mutex
	reconciling bool
	closed      bool // it was closed for good
	session     provider.Session
	asked       int64
	revision    int64
}

// valid reports whether this node may still act for the reference.
func (l *leasedConnection) valid() bool { return int64(l.leases.age()) < l.until.Load() }

func (l *leasedConnection) open() provider.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.valid() {
		return nil
	}
	return l.session
}

// reconcile begins to do what is desired of the reference, unless that is under
// way; the next heartbeat comes back to it then.
func (l *leasedConnection) reconcile(r leaseRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stands := r.Desired == desiredConnected && l.session != nil && l.asked == r.Asked && l.revision == r.Revision
	if l.reconciling || l.closed || stands {
		return
	}
	l.reconciling = true
	l.leases.working.Go(func() {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.reconciling = false
		}()
		ctx, cancel := context.WithTimeout(context.Background(), unlinkTimeout)
		defer cancel()
		if err := l.applyDesired(ctx, r); err != nil && l.valid() {
			l.leases.manager.Logger.WarnContext(ctx, "holding a line", slog.Int64("reference", int64(l.id)), slog.Any("error", err))
		}
	})
}

func (l *leasedConnection) applyDesired(ctx context.Context, r leaseRow) error {
	switch {
	case r.Desired == desiredConnected && r.Revision >= 0:
		return l.connect(ctx, r)
	case r.Desired == desiredUnlinked:
		if err := l.unlink(ctx, r); err != nil {
			l.leases.manager.Logger.WarnContext(ctx, "ending a pairing", slog.Int64("reference", int64(l.id)), slog.Any("error", err))
		}
	}
	return l.forget(ctx)
}

// connect opens the reference's session, again after a change of its settings, and
// links it when a user asked for that since.
func (l *leasedConnection) connect(ctx context.Context, r leaseRow) error {
	l.mu.Lock()
	sess, changed := l.session, l.revision != r.Revision
	l.mu.Unlock()
	if sess != nil && changed {
		l.closeSession(ctx)
		sess = nil
	}
	if sess == nil {
		row, err := store.ReferenceByID(ctx, l.leases.manager.Store.DB, l.id)
		if err != nil {
			return err
		}
		if sess, err = l.leases.manager.openSession(ctx, row, l.valid, leasedInbox{l}); err != nil {
			return err
		}
		if !l.opened(sess, row.Revision) {
			return sess.Close(ctx)
		}
	}
	if linker, ok := sess.(provider.Linker); ok {
		if err := linker.Link(ctx, r.Phone); err != nil {
			return fmt.Errorf("linking a line: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = r.Asked
	return nil
}

// opened keeps a session unless the reference was closed meanwhile.
func (l *leasedConnection) opened(sess provider.Session, revision int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.session, l.revision = sess, revision
	l.leases.manager.Store.Sends.Notify() // there may be something to send, or to fetch
	l.leases.manager.Store.Files.Notify()
	return true
}

// unlink ends the pairing of a reference with the network.
func (l *leasedConnection) unlink(ctx context.Context, r leaseRow) error {
	if l.open() == nil && r.Revision >= 0 {
		if err := l.connect(ctx, r); err != nil {
			return err
		}
	}
	if linker, ok := l.open().(provider.Linker); ok {
		return linker.Unlink(ctx)
	}
	return nil
}

// forget deletes what is kept of the reference, which needs no lease after it.
func (l *leasedConnection) forget(ctx context.Context) error {
	l.closeSession(ctx)
	if !l.valid() {
		return errLeaseLost
	}
	if err := l.leases.manager.Store.Kinds[l.kind].(provider.Connector).Forget(ctx, l.id); err != nil {
		return fmt.Errorf("forgetting a line: %w", err)
	}
	err := l.leases.manager.Store.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_lease WHERE reference = $1 AND fence = $2 AND desired <> $3`, l.id, l.fence, desiredConnected)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting a line: %w", err)
	}
	return nil
}

// close ends the reference here.
func (l *leasedConnection) close(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.closeSession(ctx)
}

func (l *leasedConnection) closeSession(ctx context.Context) {
	l.mu.Lock()
	sess := l.session
	l.session = nil
	l.mu.Unlock()
	if sess == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CloseTimeout)
	defer cancel()
	if err := sess.Close(ctx); err != nil {
		l.leases.manager.Logger.WarnContext(ctx, "closing a session", slog.Int64("reference", int64(l.id)), slog.Any("error", err))
	}
}

// leasedInbox takes what a reference receives as long as it is leased.
type leasedInbox struct{ conn *leasedConnection }

// Receive stores events, and what they say of the connection.
func (in leasedInbox) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	if ref != in.conn.id || !in.conn.valid() {
		return errLeaseLost
	}
	var rest []provider.Event
	for _, e := range events {
		c, ok := e.(*provider.Connection)
		if !ok {
			rest = append(rest, e)
			continue
		}
		if err := in.conn.connection(ctx, c); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return in.conn.leases.manager.Inbox.Receive(ctx, ref, rest)
}
