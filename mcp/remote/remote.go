package remote

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
)

// OneAccount is the id of the account in programs that have only one.
const OneAccount = "one"

// Options configures a [Service].
type Options struct {
	// Authorize adds a credential of an account to a request. It may change the
	// headers and the query of the URL. nil: servers have no credentials.
	Authorize func(ctx context.Context, account, credential string, r *http.Request) error
	// Allow lists networks and hosts that may be reached although they are private
	// or loopback, also over plain http. nil: none.
	Allow []string
	// Programs are servers by name that this process starts and speaks to over
	// their standard input and output. Every account has them, and all of their
	// tools are approved. nil: none.
	Programs map[string]Program
	// Own reports whether an address is that of this program. Its tools read what
	// contacts wrote, so their results may be about other contacts than that of a
	// run. nil: none is.
	Own func(address string) bool
	// Connect is the timeout for connecting to a server. 0: 10 s.
	Connect time.Duration
	// Call is the timeout of a call whose context has no deadline. 0: 15 s.
	Call time.Duration
	// Idle is how long an unused connection stays open. 0: 60 s.
	Idle time.Duration
	// Version is the version of this program that servers see. "": "0".
	Version string
	Logger  *slog.Logger     // nil: slog.Default()
	Now     func() time.Time // nil: time.Now
}

// Program is a server that this process starts.
type Program struct {
	Path string   // of the program
	Args []string // without its name
	Env  []string // "KEY=value"; nil: that of this process
	Dir  string   // working directory; "": that of this process
}

const (
	defaultConnect = 10 * time.Second
	defaultCall    = 15 * time.Second
	defaultIdle    = time.Minute
)

// Service keeps foreign servers and their tools, and calls them. It is safe for
// concurrent use. Any number of processes may run one on the same PostgreSQL
// database.
type Service struct {
	db    *database.DB
	opts  Options
	guard *guard.Guard
	web   *http.Client
	pool  *pool
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "mcp_remote", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	if err := s.defaults(); err != nil {
		return nil, err
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "remote", Migrate); err != nil {
		return nil, err
	}
	if s.guard, err = guard.New(s.opts.Allow); err != nil {
		return nil, fmt.Errorf("remote: Options.Allow: %w", err)
	}
	s.web = s.guard.Client()
	s.pool = newPool(s)
	return s, nil
}

func (s *Service) defaults() error {
	o := &s.opts
	if o.Connect < 0 || o.Call < 0 || o.Idle < 0 {
		return errors.New("remote: a duration of Options is negative")
	}
	for name := range o.Programs {
		if !serverName.MatchString(name) {
			return fmt.Errorf("remote: Options.Programs: %q is not a valid name of a server", name)
		}
	}
	o.Connect = cmp.Or(o.Connect, defaultConnect)
	o.Call = cmp.Or(o.Call, defaultCall)
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	o.Version = cmp.Or(o.Version, "0")
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// Run closes idle connections. After ctx has ended it waits for calls in progress
// and closes all connections.
func (s *Service) Run(ctx context.Context) error {
	defer s.web.CloseIdleConnections()
	defer s.pool.close()
	tick := time.NewTicker(max(s.opts.Idle/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.pool.sweep()
		}
	}
}

// Account is the part of a [Service] that belongs to one account. It finds nothing
// that belongs to another account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
