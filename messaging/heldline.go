package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// unlinkTimeout bounds how long a network may take to end a pairing.
	unlinkTimeout = 10 * time.Second
	// notHereWait is how soon a send is tried again whose line stands nowhere.
	notHereWait = time.Second
)

var (
	// errNotHere reports a line that is a connection which this node does not have.
	errNotHere = errors.New("messaging: the line is not connected here")
	errLost    = errors.New("messaging: the line is held by another node")
)

// heldLine is a line that this node holds.
type heldLine struct {
	h     *holds
	id    provider.ReferenceID
	kind  provider.Kind
	fence int64
	until atomic.Int64 // the age of the process at which the hold ends

	mu       sync.Mutex
	busy     bool
	over     bool // it was closed for good
	session  provider.Session
	asked    int64
	revision int64
}

// held reports whether this node may still act for the line.
func (l *heldLine) held() bool { return int64(l.h.age()) < l.until.Load() }

func (l *heldLine) open() provider.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held() {
		return nil
	}
	return l.session
}

// wish begins to do what is wished of the line, unless that is under way; the
// next beat comes back to it then.
func (l *heldLine) wish(r holdRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stands := r.Wish == wishConnect && l.session != nil && l.asked == r.Asked && l.revision == r.Revision
	if l.busy || l.over || stands {
		return
	}
	l.busy = true
	l.h.working.Go(func() {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.busy = false
		}()
		ctx, cancel := context.WithTimeout(context.Background(), unlinkTimeout)
		defer cancel()
		if err := l.fulfil(ctx, r); err != nil && l.held() {
			l.h.s.opts.Logger.WarnContext(ctx, "holding a line", slog.Int64("reference", int64(l.id)), slogError(err))
		}
	})
}

func (l *heldLine) fulfil(ctx context.Context, r holdRow) error {
	switch {
	case r.Wish == wishConnect && r.Revision >= 0:
		return l.connect(ctx, r)
	case r.Wish == wishUnlink:
		if err := l.unlink(ctx, r); err != nil {
			l.h.s.opts.Logger.WarnContext(ctx, "ending a pairing", slog.Int64("reference", int64(l.id)), slogError(err))
		}
	}
	return l.forget(ctx)
}

// connect opens the line's session, anew after a change of its settings, and
// links it when somebody asked for that since.
func (l *heldLine) connect(ctx context.Context, r holdRow) error {
	l.mu.Lock()
	sess, changed := l.session, l.revision != r.Revision
	l.mu.Unlock()
	if sess != nil && changed {
		l.closeSession(ctx)
		sess = nil
	}
	if sess == nil {
		row, err := referenceOf(ctx, l.h.s.db, l.id)
		if err != nil {
			return err
		}
		if sess, err = l.h.s.openSession(ctx, row, l.held, heldInbox{l}); err != nil {
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

// opened keeps a session unless the line was closed meanwhile.
func (l *heldLine) opened(sess provider.Session, revision int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.session, l.revision = sess, revision
	l.h.s.Committed() // there may be something to send, or to fetch
	l.h.s.files.Notify()
	return true
}

// unlink ends the pairing of a line with the network.
func (l *heldLine) unlink(ctx context.Context, r holdRow) error {
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

// forget deletes what is kept of the line. It needs to be held no more.
func (l *heldLine) forget(ctx context.Context) error {
	l.closeSession(ctx)
	if !l.held() {
		return errLost
	}
	if err := l.h.s.kinds[l.kind].(provider.Connector).Forget(ctx, l.id); err != nil {
		return fmt.Errorf("forgetting a line: %w", err)
	}
	err := l.h.s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`DELETE FROM messaging_hold WHERE reference = $1 AND fence = $2 AND wish <> $3`, l.id, l.fence, wishConnect)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting a line: %w", err)
	}
	return nil
}

// close ends the line here.
func (l *heldLine) close(ctx context.Context) {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.closeSession(ctx)
}

func (l *heldLine) closeSession(ctx context.Context) {
	l.mu.Lock()
	sess := l.session
	l.session = nil
	l.mu.Unlock()
	if sess == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := sess.Close(ctx); err != nil {
		l.h.s.opts.Logger.WarnContext(ctx, "closing a session", slog.Int64("reference", int64(l.id)), slogError(err))
	}
}

// heldInbox takes what a line receives as long as it is held.
type heldInbox struct{ l *heldLine }

// Receive stores events, and what they say of the connection.
func (in heldInbox) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	if ref != in.l.id || !in.l.held() {
		return errLost
	}
	var rest []provider.Event
	for _, e := range events {
		c, ok := e.(*provider.Connection)
		if !ok {
			rest = append(rest, e)
			continue
		}
		if err := in.l.connection(ctx, c); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return in.l.h.s.Receive(ctx, ref, rest)
}
