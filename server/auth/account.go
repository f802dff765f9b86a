package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Accounts locks and closes accounts. It is safe for concurrent use.
type Accounts struct {
	db  *database.DB
	now func() time.Time
	log *slog.Logger
}

// LockTx says whether an account exists and is not closed, and keeps it
// so until tx ends.
func (s *Accounts) LockTx(ctx context.Context, on database.Executor, id string) (bool, error) {
	tx, err := s.db.Join(on)
	if err != nil {
		return false, err
	}
	q := `SELECT id FROM auth_account WHERE id = $1 AND closed_us = 0`
	if s.db.Dialect == database.Postgres {
		q += ` FOR SHARE`
	}
	err = tx.GetContext(ctx, new(string), q, id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for an account: %w", err)
	}
	return true, nil
}

// Close ends an account for good: its users, their tokens and sessions
// are refused on every node when it returns.
// What else belongs to it is for the caller to erase: see
// [Accounts.TakeClosed]. Have the password confirmed before. Then, which may be
// nil, is part of the transaction; it may run more than once.
func (s *Accounts) Close(ctx context.Context, id string, then func(ctx context.Context, tx *database.Tx) error) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		// The update comes first: it waits for transactions that have locked the account.
		_, err := tx.ExecContext(ctx, `UPDATE auth_account SET closed_us = $1 WHERE id = $2 AND closed_us = 0`,
			database.Micros(s.now()), id)
		if err == nil {
			err = audit.RecordTx(ctx, tx, audit.Entry{Action: audit.AccountDelete, ObjectID: id})
		}
		if err == nil && then != nil {
			err = then(ctx, tx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("closing an account: %w", err)
	}
	s.log.InfoContext(ctx, "an account was closed", slog.String("account", id))
	if err := s.EraseUsers(ctx, id); err != nil {
		s.log.WarnContext(ctx, "erasing the users of a closed account; it is tried again", slog.Any("error", err))
	}
	return nil
}

const (
	// userRows is how many users a transaction erases: each has a password, a
	// second factor and identities.
	userRows = 20
	// smallRows is how many small rows a transaction erases.
	smallRows = 200
)

// EraseUsers removes the users of a closed account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (s *Accounts) EraseUsers(ctx context.Context, account string) error {
	const users = `SELECT u.id FROM auth_user u JOIN auth_account a ON a.id = u.account_id WHERE a.id = $1 AND a.closed_us > 0`
	for _, t := range []struct {
		table, key, of string
		rows           int
	}{
		{"auth_session", "id", "user_id", smallRows},
		{"auth_invitation", "id", "inviter", smallRows},
		{"auth_origin", "user_id, address", "user_id", smallRows},
		{"auth_reset", "hash", "user_id", smallRows},
		{"auth_user", "id", "id", userRows},
	} {
		err := s.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s IN (%[4]s) LIMIT %[5]d)`,
			t.table, t.key, t.of, users, t.rows), account)
		if err != nil {
			return fmt.Errorf("erasing the users of an account: %w", err)
		}
	}
	return nil
}

// ClosedQuery is a SELECT that finds something if [Accounts.TakeClosed] does. Its
// parameters are numbered from first.
func (s *Accounts) ClosedQuery(first int, ahead time.Duration) (text string, args []any) {
	return fmt.Sprintf(`SELECT 1 FROM auth_account WHERE closed_us > 0 AND taken_us <= $%d`, first), []any{database.Micros(s.now().Add(ahead))}
}

// TakeClosed returns an account that is closed and on which no node works, and
// since when it is closed. It is the caller's for a while: see
// [Accounts.KeepClosed]. [ErrNotFound]: there is none.
func (s *Accounts) TakeClosed(ctx context.Context, until time.Duration) (id string, closed time.Time, err error) {
	now := s.now()
	var row struct {
		ID     string `db:"id"`
		Closed int64  `db:"closed_us"`
	}
	err = s.db.GetContext(ctx, &row, `SELECT id, closed_us FROM auth_account WHERE closed_us > 0 AND taken_us <= $1 LIMIT 1`, database.Micros(now))
	if errors.Is(err, sql.ErrNoRows) {
		return "", closed, ErrNotFound
	}
	if err != nil {
		return "", closed, fmt.Errorf("looking for closed accounts: %w", err)
	}
	mine, err := s.keepClosed(ctx, row.ID, now, now.Add(until))
	if err == nil && !mine {
		err = ErrNotFound // another node was faster
	}
	return row.ID, database.Time(row.Closed), err
}

// KeepClosed keeps a closed account from other nodes for a while from now.
func (s *Accounts) KeepClosed(ctx context.Context, id string, until time.Duration) error {
	now := s.now()
	_, err := s.keepClosed(ctx, id, now.Add(until), now.Add(until))
	return err
}

// keepClosed takes an account until a time, if it is not taken until another.
func (s *Accounts) keepClosed(ctx context.Context, id string, free, until time.Time) (bool, error) {
	var taken bool
	err := s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		taken, err = inserted(tx.ExecContext(ctx, `UPDATE auth_account SET taken_us = $1 WHERE id = $2 AND closed_us > 0 AND taken_us <= $3`,
			database.Micros(until), id, database.Micros(free)))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("taking a closed account: %w", err)
	}
	return taken, nil
}

// Forget removes a closed account, when everything of it is erased.
func (s *Accounts) Forget(ctx context.Context, id string) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM auth_account WHERE id = $1 AND closed_us > 0`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting an account: %w", err)
	}
	return nil
}
