package web

import (
	"context"
	"database/sql"
	"errors"

	"go.mau.fi/util/dbutil"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// errLost reports that another process holds the line.
var errLost = errors.New("web: the line is held by another process")

// leased reports whether this process may still act for a line.
func leased(ref provider.Reference) bool { return ref.Leased == nil || ref.Leased() }

// guarded is the database as whatsmeow's store of one line uses it. It writes
// nothing once the line is another process's, whose keys would be spoiled, and
// waits its turn with the other writers of the process.
type guarded struct {
	*sql.DB
	db           *database.DB
	ref          provider.Reference
	fail         func()
	wrapped      *dbutil.Database // as whatsmeow has it: knows its transactions
	contactStore contactStore
}

// write runs fn while no other call writes.
func (g *guarded) write(ctx context.Context, fn func() error) error {
	return g.db.Alone(ctx, func() error {
		if !leased(g.ref) {
			return errLost
		}
		return fn()
	})
}

// ExecContext writes outside of transactions. What is written inside of one
// goes through [buffer] and [sessions], or is a copy of what can be asked for
// again.
func (g *guarded) ExecContext(ctx context.Context, query string, args ...any) (res sql.Result, err error) {
	err = g.write(ctx, func() (err error) {
		res, err = g.DB.ExecContext(ctx, query, args...)
		return err
	})
	return res, err
}

// sessions are the keys shared with the devices of others. What whatsmeow
// writes in transactions of its own while it sends and receives is written
// like the rest.
type sessions struct {
	store.SessionStore
	g *guarded
}

// PutSession stores the keys that were used with a device.
func (s *sessions) PutSession(ctx context.Context, address string, session []byte) error {
	if from, ok := ctx.Value(senderKey{}).(*string); ok {
		*from = address
	}
	return s.SessionStore.PutSession(ctx, address, session)
}

// PutManySessions stores the keys of those to whom a message was sealed.
func (s *sessions) PutManySessions(ctx context.Context, all map[string][]byte) error {
	return s.g.write(ctx, func() error { return s.SessionStore.PutManySessions(ctx, all) })
}

// MigratePNToLID renames the keys of a person whose hidden id became known.
func (s *sessions) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	return s.g.write(ctx, func() error { return s.SessionStore.MigratePNToLID(ctx, pn, lid) })
}
