// Package auditlog keeps the audit log of accounts: who did what to which object,
// and from where. Entries come from the transactions of the changes
// themselves, through package internal/audit, whose Recorder a [Store] is; this
// package lists them, writes them as CSV, and deletes them when they are old.
package auditlog

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Options configures a [Store].
type Options struct {
	// Retention is how long entries are kept. 0: 365 days, −1: for ever.
	Retention time.Duration
	// Logger is told what could not be deleted. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// Store is the audit logs of all accounts. It is safe for concurrent use.
type Store struct {
	db   *database.DB
	opts Options
}

var _ audit.Recorder = (*Store)(nil)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "auditlog", migrations)
}

// New returns a Store over db, and creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Store, error) {
	s := &Store{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Retention = cmp.Or(s.opts.Retention, 365*24*time.Hour)
	if s.opts.Retention < -1 {
		return nil, errors.New("auditlog: Options.Retention is negative")
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "auditlog", Migrate); err != nil {
		return nil, err
	}
	return s, nil
}

const (
	maxText    = 500  // bytes of a column that is not an id
	maxDetails = 4096 // bytes of the details
)

// RecordTx writes an entry in the transaction of the change.
func (s *Store) RecordTx(ctx context.Context, on database.Executor, r audit.Record) error {
	tx, err := s.db.Join(on)
	if err != nil {
		return err
	}
	details, err := detailsOf(r.Details)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO auditlog_entry (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		database.Micros(s.opts.Now()), r.Account, string(r.Action), string(r.Kind), r.User, clean(r.Email), r.Token, r.Run, r.Address, r.Request,
		r.ObjectType, clean(r.ObjectID), clean(r.ObjectName), r.Reference, details)
	return err
}

// Record writes an entry in a transaction of its own: of what changes nothing,
// such as an export.
func (s *Store) Record(ctx context.Context, e audit.Entry) error {
	return s.db.Write(ctx, func(tx *database.Tx) error { return audit.RecordTx(ctx, tx, e) })
}

// detailsOf is JSON that is not too long.
func detailsOf(details map[string]any) (string, error) {
	if len(details) == 0 {
		return "{}", nil
	}
	b, err := json.Marshal(details)
	if err != nil {
		return "", fmt.Errorf("encoding the details: %w", err)
	}
	if len(b) > maxDetails {
		return `{"truncated":true}`, nil
	}
	return string(b), nil
}

// clean is what both databases can hold of a text.
func clean(s string) string {
	return text.Sanitize(text.Truncate(s, maxText))
}

const (
	pruneEvery = 10 * time.Minute
	pruneChunk = 500 // rows of a transaction, so that nothing waits for it
)

// Run deletes entries that are older than the retention until ctx ends. Any
// number of processes may.
func (s *Store) Run(ctx context.Context) error {
	return periodic.Run(ctx, pruneEvery, nil, s.opts.Logger, "deleting old entries of the audit log failed", s.Prune)
}

// Prune deletes what is older than the retention. It needs no index by time:
// ids rise with it.
func (s *Store) Prune(ctx context.Context) error {
	if s.opts.Retention < 0 {
		return nil
	}
	return s.deleteAll(ctx, `DELETE FROM auditlog_entry WHERE id IN (SELECT id FROM
		(SELECT id, at_us FROM auditlog_entry ORDER BY id LIMIT $1) AS oldest WHERE at_us < $2)`,
		pruneChunk, database.Micros(s.opts.Now().Add(-s.opts.Retention)))
}

// DeleteAll removes the log of an account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (s *Store) DeleteAll(ctx context.Context, account string) error {
	return s.deleteAll(ctx, `DELETE FROM auditlog_entry WHERE id IN (SELECT id FROM auditlog_entry WHERE account = $1 LIMIT $2)`, account, pruneChunk)
}

// deleteAll runs a statement that deletes or erases, each time in a transaction of
// its own, until it finds nothing.
func (s *Store) deleteAll(ctx context.Context, statement string, args ...any) error {
	if err := s.db.InSteps(ctx, statement, args...); err != nil {
		return fmt.Errorf("erasing from the audit log: %w", err)
	}
	return nil
}

// Erase forgets which contact entries of an account name: those whose object is
// one of ids. That something was done, by whom and when, stays, and what was
// changed goes. It works in small steps, each durable, and may be called again
// after an error or a crash.
func (s *Store) Erase(ctx context.Context, account string, ids []string) error {
	for part := range slices.Chunk(ids, pruneChunk) {
		values := make([]any, len(part))
		for i, id := range part {
			values[i] = id
		}
		in, args := s.db.Dialect.In("object_id", 3, values)
		err := s.deleteAll(ctx, `UPDATE auditlog_entry SET object_id = '', object_name = '', details = '{}'
			WHERE id IN (SELECT id FROM auditlog_entry WHERE account = $1 AND object_id <> '' AND `+in+` LIMIT $2)`, append([]any{account, pruneChunk}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}
