package botengine

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller, as [runtime.Tx].
type Tx = runtime.Tx

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

// Options configures a [Service].
type Options struct {
	// Deleted removes what belongs elsewhere to a bot that is deleted alone, not
	// with its reference or its account. It works in small transactions, and is called
	// again after an error or a crash. nil: nothing belongs to it.
	Deleted func(ctx context.Context, account, bot string) error
	// Admit is asked before a version of a bot is stored, with its size; its
	// error refuses to publish. nil: versions are not bounded.
	Admit  func(ctx context.Context, tx Tx, account string, bytes int64) error
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Service keeps bots. It is safe for concurrent use, and any number of
// processes may run one on the same PostgreSQL.
type Service struct {
	db    *database.DB
	runs  *runtime.Runtime
	opts  Options
	store *versions.Store
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "botengine", migrations)
}

// New returns a Service over db, and creates or upgrades its tables. Bots run on
// runs, which serves them from then on, and use its node types.
func New(ctx context.Context, db *sqlx.DB, runs *runtime.Runtime, opts *Options) (*Service, error) {
	if runs == nil {
		return nil, errors.New("botengine: a runtime is required")
	}
	s := &Service{runs: runs}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Deleted == nil {
		s.opts.Deleted = func(context.Context, string, string) error { return nil }
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "botengine", Migrate); err != nil {
		return nil, err
	}
	if s.store, err = versions.New(ctx, db, versions.Options{
		Engine: flow.EngineBot, Noun: "bot", Scope: "reference",
		Flows: "botengine_bot", Versions: "botengine_version", Key: "bot", Admit: s.opts.Admit,
		Runs: runs, Source: s.Source, Environment: func(runtime.Source) *flow.Environment { return &flow.Environment{Engine: flow.EngineBot} }, TestsTx: s.testsTx,
		NotFound: ErrNotFound, Refused: refused,
		Logger: s.opts.Logger, Now: s.opts.Now,
	}); err != nil {
		return nil, fmt.Errorf("botengine: %w", err)
	}
	runs.Serve(s)
	return s, nil
}

// VersionBytes returns the size of all versions that an account has published.
func (s *Service) VersionBytes(ctx context.Context, q database.Reader, account string) (int64, error) {
	return s.store.Bytes(ctx, q, account)
}

// Account is the share of a [Service] that belongs to one account. What
// belongs to another account is not found.
type Account struct{ scope }

// scope is what the resources of an [Account] have in common.
type scope struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{scope{s, account}} }

// Bots returns the bots of the account.
func (a *Account) Bots() Bots { return Bots{a.scope} }

// Versions returns the published versions of the account's bots.
func (a *Account) Versions() Versions { return Versions{a.scope} }

// Tests returns the tests that are stored with the account's bots.
func (a *Account) Tests() versions.Tests { return a.s.store.Tests(a.id) }

// Runs returns the runs of the account's bots.
func (a *Account) Runs() Runs { return Runs{a.scope} }

// List bounds a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]
