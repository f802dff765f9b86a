package mcp

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
)

// OneAccount is the id of the account in programs that have only one.
const OneAccount = "one"

// PermissionExecute is the permission that every caller needs, besides that of the
// function.
const PermissionExecute = "mcp.execute"

// Options configures a [Registry].
type Options struct {
	// Limit is the maximum number of calls per minute by one user to one function,
	// also all at once; 0: 60, −1: no limit.
	Limit int
	// AccountLimit is the maximum number of calls per minute by one account; 0:
	// 600, −1: no limit.
	AccountLimit int
	// Retention is how long the audit log is kept; 0: 90 days, −1: for ever.
	Retention time.Duration
	// NoAudit disables the audit log, for programs that keep their own.
	NoAudit bool
	// Timeout bounds a call of a function without a timeout of its own; 0: 30 s.
	Timeout time.Duration
	// Translate converts an error of a handler that is not an [Error]. If it
	// returns nil, or is nil, the caller gets the code "internal" and the log has
	// the error.
	Translate func(error) *Error
	// Observer receives metrics. nil: none are reported.
	Observer *Observer
	Logger   *slog.Logger // nil: slog.Default()
	// Now is the clock of limits, log and answers. nil: time.Now, and for limits
	// the database's clock, so that the clocks of nodes may differ.
	Now func() time.Time
}

// Observer receives metrics. Its functions must not block; nil ones are skipped.
type Observer struct {
	// Called is called after every call with the function ("" if it is unknown),
	// "ok" or the error's code, and the duration.
	Called func(function, outcome string, duration time.Duration)
}

// Registry holds functions and executes calls. It is safe for concurrent use. Any
// number of processes may have one on the same PostgreSQL database; limits count
// over all of them.
type Registry struct {
	db    *database.DB
	opts  Options
	clock string // columns with the clock of limits

	adding    sync.Mutex
	catalogue atomic.Pointer[catalogue]
	stray     atomic.Int64 // handlers past their deadlines
	charges   groupcommit.Group[*charge]
	log       groupcommit.Group[*auditRow]
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := clockstep.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "mcp", migrations)
}

// New returns a Registry without functions over db. It creates or upgrades its
// tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Registry, error) {
	r := &Registry{}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.defaults(); err != nil {
		return nil, err
	}
	var err error
	if r.db, err = database.Prepare(ctx, db, "mcp", Migrate); err != nil {
		return nil, err
	}
	clockstep.Register(r.db, "mcp", clockstep.Column("mcp_limit", "full_us", ""))
	r.clock = clockColumns(r.db.Dialect, opts != nil && opts.Now != nil)
	r.catalogue.Store(&catalogue{byName: map[string]*function{}})
	r.charges.Gate, r.charges.Run = make(chan struct{}, 1), r.chargeAll
	r.log.Gate, r.log.Run = make(chan struct{}, 1), r.storeAudit
	return r, nil
}

func (r *Registry) defaults() error {
	o := &r.opts
	for _, n := range []struct {
		name  string
		value *int
		usual int
	}{{"Limit", &o.Limit, 60}, {"AccountLimit", &o.AccountLimit, 600}} {
		if *n.value == 0 {
			*n.value = n.usual
		}
		if *n.value < -1 || *n.value > maxLimit {
			return fmt.Errorf("mcp: Options.%s must be from 1 to %d, or -1", n.name, maxLimit)
		}
	}
	o.Retention = cmp.Or(o.Retention, 90*24*time.Hour)
	if o.Retention < -1 {
		return errors.New("mcp: Options.Retention is negative")
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	if o.Timeout < 0 {
		return errors.New("mcp: Options.Timeout is negative")
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// Account is the part of a [Registry] that belongs to one account.
type Account struct {
	r  *Registry
	id string
}

// For returns the registry for one account.
func (r *Registry) For(account string) *Account { return &Account{r: r, id: account} }
