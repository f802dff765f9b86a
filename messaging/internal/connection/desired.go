package connection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// DesireConnected records that a reference is to be connected.
func DesireConnected(ctx context.Context, u *store.Batch, row *store.Reference, phone string) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_lease (reference, kind, desired, phone, asked, node, fence, until_us)
		VALUES ($1, $2, $3, $4, 1, '', 0, 0) ON CONFLICT (reference) DO UPDATE SET desired = excluded.desired, phone = excluded.phone,
		asked = messaging_lease.asked + 1, until_us = CASE WHEN messaging_lease.node = '' THEN 0 ELSE messaging_lease.until_us END`,
		row.ID, row.Kind, desiredConnected, phone)
	if err != nil {
		return fmt.Errorf("noting what is wished of a line: %w", err)
	}
	return nil
}

// DesireUnlinked records that the pairing of a reference is to end, if it was
// ever desired.
func DesireUnlinked(ctx context.Context, u *store.Batch, id provider.ReferenceID) error {
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_lease SET desired = $1, asked = asked + 1, until_us = CASE WHEN node = '' THEN 0 ELSE until_us END
		WHERE reference = $2`, desiredUnlinked, id)
	if err != nil {
		return fmt.Errorf("noting what is wished of a line: %w", err)
	}
	return nil
}

// connection records the state of a leased connection. A state that a user has
// desired in the meantime wins.
func (l *leasedConnection) connection(ctx context.Context, c *provider.Connection) error {
	s := l.leases.manager
	err := s.Store.InBatch(ctx, func(u *store.Batch) error {
		r, err := store.LockReference(ctx, u, l.id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if ours, err := l.isCurrent(ctx, u.Tx, c); err != nil || !ours {
			return err
		}
		before := *r
		session.ApplyConnection(r, c, l.leases.node, u)
		return session.Save(ctx, u, r, before)
	})
	if err != nil {
		return err
	}
	if c.State == provider.Connected {
		s.Store.Sends.Notify() // there may be something to send
		return nil
	}
	s.Store.DB.Notify(leaseTopic)
	return nil
}

// isCurrent reports whether the reference is this node's and to be connected, and notes
// when its connection is over: until when it is not to be tried again.
func (l *leasedConnection) isCurrent(ctx context.Context, tx *database.Tx, c *provider.Connection) (bool, error) {
	set, args := `desired = desired`, []any{l.id, l.fence, desiredConnected} // locks the row
	switch c.State {
	case provider.LoggedOut:
		set = `desired = '` + desiredForgotten + `'`
	case provider.Disconnected:
		set, args = `node = '', until_us = $4`, append(args, cmp.Or(database.Micros(c.Until), never))
	}
	res, err := tx.ExecContext(ctx, `UPDATE messaging_lease SET `+set+` WHERE reference = $1 AND fence = $2 AND desired = $3`, args...)
	if err != nil {
		return false, fmt.Errorf("noting how a line is held: %w", err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// never is a time that does not come.
const never int64 = 1 << 62
