package messaging

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"rsc.io/qr"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// desireConnected notes that a reference is to stand.
func desireConnected(ctx context.Context, u *store.Batch, row *store.Reference, phone string) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_hold (reference, kind, wish, phone, asked, node, fence, until_us)
		VALUES ($1, $2, $3, $4, 1, '', 0, 0) ON CONFLICT (reference) DO UPDATE SET wish = excluded.wish, phone = excluded.phone,
		asked = messaging_hold.asked + 1, until_us = CASE WHEN messaging_hold.node = '' THEN 0 ELSE messaging_hold.until_us END`,
		row.ID, row.Kind, desiredConnected, phone)
	if err != nil {
		return fmt.Errorf("noting what is wished of a line: %w", err)
	}
	return nil
}

// desireUnlinked wishes that the pairing of a line ends, if it was ever wished for.
func desireUnlinked(ctx context.Context, u *store.Batch, id provider.ReferenceID) error {
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_hold SET wish = $1, asked = asked + 1, until_us = CASE WHEN node = '' THEN 0 ELSE until_us END
		WHERE reference = $2`, desiredUnlinked, id)
	if err != nil {
		return fmt.Errorf("noting what is wished of a line: %w", err)
	}
	return nil
}

// connectReference wishes that a reference stands. phone "": it is linked by QR.
func (a *Account) connectReference(ctx context.Context, row *store.Reference, phone string) (Session, error) {
	err := a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		if row, err = store.LockReference(ctx, u, row.ID); err != nil {
			return err
		}
		before := *row
		if !alive(row) {
			row.State, row.ConnectedUS = StateStarting, 0
			row.ErrorCode, row.ErrorMessage, row.ErrorUS, row.ErrorRetryUS = "", "", 0, 0
		}
		if err := saveSession(ctx, u, row, before); err != nil {
			return err
		}
		if err := recordReferenceTx(ctx, u.Tx, audit.ReferenceConnect, row, nil); err != nil {
			return err
		}
		return desireConnected(ctx, u, row, phone)
	})
	if err != nil {
		return Session{}, err
	}
	a.s.db.Wake(leaseTopic)
	return sessionOf(row, a.s.now()), nil
}

// alive reports whether a reference stands, or is on its way to.
func alive(r *store.Reference) bool {
	return r.State != StateFailed && r.State != StateLoggedOut && r.State != StateStopped
}

// connection writes down how a held line stands. What a user has wished in the
// meantime wins.
func (l *leasedConnection) connection(ctx context.Context, c *provider.Connection) error {
	s := l.leases.s
	err := s.store.InBatch(ctx, func(u *store.Batch) error {
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
		applyConnection(r, c, l.leases.node, u)
		return saveSession(ctx, u, r, before)
	})
	if err != nil {
		return err
	}
	if c.State == provider.Connected {
		s.Committed() // there may be something to send
		return nil
	}
	s.db.Wake(leaseTopic)
	return nil
}

// isCurrent reports whether the reference is this node's and to be connected, and notes
// when its connection is over: until when it is not to be tried again.
func (l *leasedConnection) isCurrent(ctx context.Context, tx *sqlx.Tx, c *provider.Connection) (bool, error) {
	set, args := `wish = wish`, []any{l.id, l.fence, desiredConnected} // locks the row
	switch c.State {
	case provider.LoggedOut:
		set = `wish = '` + desiredForgotten + `'`
	case provider.Disconnected:
		set, args = `node = '', until_us = $4`, append(args, cmp.Or(database.Micros(c.Until), never))
	}
	res, err := tx.ExecContext(ctx, `UPDATE messaging_hold SET `+set+` WHERE reference = $1 AND fence = $2 AND wish = $3`, args...)
	if err != nil {
		return false, fmt.Errorf("noting how a line is held: %w", err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// applyConnection makes the session say what the provider said.
func applyConnection(r *store.Reference, c *provider.Connection, node string, u *store.Batch) {
	now := database.Micros(u.Now)
	r.QR, r.PairingCode, r.PairingUS, r.Node = store.Sanitize(c.QR), store.Sanitize(c.Code), database.Micros(c.Expires), node
	switch c.State {
	case provider.Connecting:
		if r.State != StateConnected && r.State != StateReconnecting {
			r.State = StateStarting
			break
		}
		r.State = StateReconnecting // another node has had it
	case provider.Reconnecting:
		r.State = StateReconnecting
	case provider.Pairing:
		r.State = StatePairing
	case provider.Connected:
		markReferenceConnected(r, now)
		r.Proved = true
	case provider.LoggedOut:
		r.State, r.Node = StateLoggedOut, ""
	case provider.Disconnected:
		r.State, r.Node = StateFailed, ""
	}
	if r.State != StateConnected && r.State != StateReconnecting {
		r.ConnectedUS = 0
	}
	if a := c.Account; a != nil {
		r.RemoteID, r.RemoteName, r.RemoteBiz = store.Sanitize(a.ID), store.Sanitize(a.Name), store.Sanitize(a.VerifiedBizName)
	}
	if c.Reason != "" {
		r.ErrorCode, r.ErrorMessage = store.Sanitize(string(c.Reason)), cmp.Or(store.Sanitize(c.Detail), noReasonText)
		r.ErrorUS, r.ErrorRetryUS = cmp.Or(database.Micros(c.At), now), database.Micros(c.Until)
	}
}

// never is a time that does not come.
const never int64 = 1 << 62

// qrView is a code that can still be scanned.
func qrView(r *store.Reference, nowUS int64) *QR {
	if r.QR == "" || r.PairingUS <= nowUS {
		return nil
	}
	code, err := qr.Encode(r.QR, qr.L)
	if err != nil {
		return nil // too long for a code
	}
	return &QR{
		Code: r.QR, Image: "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()),
		ExpiresAt: payload.TimeOf(r.PairingUS),
	}
}
