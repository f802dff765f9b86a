// Package quota limits what an account may have and do. The limits are the server's
// defaults, or those that an operator has set for an account. The packages that
// store things count the usage from what is stored. It is therefore correct after a
// crash and counts no repetition twice.
//
//	svc, err := quota.New(ctx, db, &quota.Options{Defaults: quota.Limits{quota.Messages: 100_000}, Used: counters})
//	err = svc.Take(ctx, db, account, quota.Messages, 1) // an *[Exceeded] when it is one too many
//
// A counter is read every few seconds, and what this process takes meanwhile is
// added in memory: a take usually needs no statement. What other nodes take is seen
// at the next reading, so an account can exceed a limit by what they take until
// then. [Service.TakeTx] is exact.
package quota

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Name is the name of a quota.
type Name string

// The quotas. Daily ones start again at midnight in UTC.
const (
	References Name = "references" // of the account
	Contacts   Name = "contacts"   // chats with people
	Storage    Name = "storage"    // bytes of stored files and published versions
	Messages   Name = "messages"   // sent messages per day
	Runs       Name = "runs"       // runs of flows and bots per day
	API        Name = "api"        // requests per minute on each node
)

// Names lists all quotas.
func Names() []Name { return []Name{References, Contacts, Storage, Messages, Runs, API} }

// Daily reports whether a quota starts again every day.
func (n Name) Daily() bool { return n == Messages || n == Runs }

// Limits are limits by name; 0 or absent: unlimited.
type Limits map[Name]int64

// Exceeded is the error of something that would exceed a quota.
type Exceeded struct {
	Name  Name
	Limit int64
	After time.Duration // until the quota starts again; 0: when something is deleted
}

func (e *Exceeded) Error() string {
	switch {
	case e.Name == API:
		return fmt.Sprintf("the account may make %d requests per minute", e.Limit)
	case e.Name.Daily():
		return fmt.Sprintf("the account may have %d %s per day", e.Limit, e.Name)
	case e.Name == Storage:
		return fmt.Sprintf("the account may store %d bytes of files and versions", e.Limit)
	}
	return fmt.Sprintf("the account may have %d %s", e.Limit, e.Name)
}

// Code returns "quota." and the name.
func (e *Exceeded) Code() string { return "quota." + string(e.Name) }

// Counter returns how much an account has, or has used since a time.
type Counter func(ctx context.Context, q database.Reader, account string, since time.Time) (int64, error)

// Options configures a [Service].
type Options struct {
	Defaults Limits           // nil: no limits
	Used     map[Name]Counter // missing ones count 0; API needs none
	Now      func() time.Time // nil: time.Now
}

// Service manages the quotas of accounts. It is safe for concurrent use, also by
// several nodes.
type Service struct {
	db   *database.DB
	opts Options

	mu     sync.Mutex
	meters map[key]*meter
	limits map[string]*limits
	swept  time.Time
}

type key struct {
	account string
	name    Name
}

// limits are cached limits of an account.
type limits struct {
	of Limits
	at time.Time
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "quota", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, o *Options) (*Service, error) {
	d, err := database.Prepare(ctx, db, "quota", Migrate)
	if err != nil {
		return nil, err
	}
	s := &Service{db: d, meters: map[key]*meter{}, limits: map[string]*limits{}}
	if o != nil {
		s.opts = Options{maps.Clone(o.Defaults), maps.Clone(o.Used), o.Now}
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	return s, nil
}

// limitsTTL is how long limits are cached: after this time a change applies on
// every node.
const limitsTTL = 5 * time.Second

// Limits returns the limits of an account. A change by another node within the last
// five seconds may be missing.
func (s *Service) Limits(ctx context.Context, q database.Reader, account string) (Limits, error) {
	now := s.opts.Now()
	s.mu.Lock()
	known := s.limits[account]
	s.mu.Unlock()
	if known != nil && now.Sub(known.at).Abs() < limitsTTL {
		return known.of, nil
	}
	set, err := overrides(ctx, q, account)
	if err != nil && known != nil {
		return known.of, nil // the request will find the error
	}
	if err != nil {
		return nil, err
	}
	of := Limits{}
	for _, name := range Names() {
		of[name] = s.opts.Defaults[name]
	}
	maps.Copy(of, set)
	s.mu.Lock()
	s.limits[account] = &limits{of, now}
	s.mu.Unlock()
	return of, nil
}

func overrides(ctx context.Context, q database.Reader, account string) (Limits, error) {
	var rows []struct {
		Name  Name  `db:"name"`
		Value int64 `db:"value"`
	}
	if err := q.SelectContext(ctx, &rows, `SELECT name, value FROM quota_limit WHERE account = $1`, account); err != nil {
		return nil, fmt.Errorf("reading the quotas of an account: %w", err)
	}
	out := Limits{}
	for _, r := range rows {
		out[r.Name] = r.Value
	}
	return out, nil
}

// Overrides returns the limits that were set for an account.
func (s *Service) Overrides(ctx context.Context, account string) (Limits, error) {
	return overrides(ctx, s.db, account)
}

// Set sets limits of an account; a negative one restores the server's default.
// Every node applies them within five seconds. A change without effect is not
// recorded.
func (s *Service) Set(ctx context.Context, account string, change Limits) error {
	if len(change) == 0 {
		return nil
	}
	for name := range change {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("quota: there is no quota %q", name)
		}
	}
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		for name, value := range change {
			query, args := `INSERT INTO quota_limit (account, name, value) VALUES ($1, $2, $3)
				ON CONFLICT (account, name) DO UPDATE SET value = excluded.value`, []any{account, name, value}
			if value < 0 {
				query, args = `DELETE FROM quota_limit WHERE account = $1 AND name = $2`, args[:2]
			}
			if _, err := tx.ExecContext(ctx, query, args...); err != nil {
				return err
			}
		}
		return recordTx(ctx, tx, account, change)
	})
	if err != nil {
		return fmt.Errorf("setting the quotas of an account: %w", err)
	}
	s.mu.Lock()
	delete(s.limits, account)
	s.mu.Unlock()
	return nil
}

// recordTx records a change in the audit log.
func recordTx(ctx context.Context, tx *database.Tx, account string, change Limits) error {
	details := map[string]any{}
	for name, value := range change {
		details[string(name)] = value
		if value < 0 {
			details[string(name)] = "default"
		}
	}
	return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.AccountQuota, ObjectID: account, Details: details})
}

// Forget deletes the limits that were set for an account.
func (s *Service) Forget(ctx context.Context, account string) error {
	err := s.db.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM quota_limit WHERE account = $1`, account)
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM quota_lock WHERE account = $1`, account)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting the quotas of an account: %w", err)
	}
	return nil
}
