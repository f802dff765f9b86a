package aiflow

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Tx is a transaction of the caller, as [runtime.Tx].
type Tx = runtime.Tx

// OneAccount is the account of a program that has only one.
const OneAccount = "one"

// Options configures a [Service].
type Options struct {
	// Runs is what flows run on. [New] has it serve them. nil: one of the
	// Service's own, that [Service.Run] has work, for flows that send nothing:
	// its runs have no chats.
	Runs *runtime.Runtime
	// Types are the node types that flows may use where Runs is nil; else they
	// are those of Runs. nil: the built-in ones.
	Types *flow.Types
	// Models are language models by the name of their provider where Runs is nil;
	// flows name them "provider/model". They answer the nodes assistant, agent and
	// extract, without memory, files and tools; what they take is in a
	// [usage.Ledger] on the same database. nil: such nodes end with the code
	// effect.unsupported.
	Models map[string]llm.Model
	// Environment says what flows of an account may refer to beside the
	// functions of their project: it fills members of env, and those that it
	// leaves nil are not checked. q reads what it needs: the database, or the
	// transaction in which a flow is published. nil: nothing is checked.
	Environment func(ctx context.Context, q database.Reader, account string, env *flow.Environment) error
	// Deleted removes what belongs elsewhere to a flow that is deleted, alone or
	// with its project, but not with its account. It works in small
	// transactions, and is called again after an error or a crash. nil: nothing
	// belongs to it.
	Deleted func(ctx context.Context, account, flow string) error
	// Admit is asked before a version of a flow is stored, with its size; its
	// error refuses to publish. nil: versions are not bounded.
	Admit  func(ctx context.Context, tx Tx, account string, bytes int64) error
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Service keeps projects and flows. It is safe for concurrent use, and any
// number of processes may run one on the same PostgreSQL.
type Service struct {
	db    *database.DB
	opts  Options
	store *versions.Store
	alone bool // Runs is its own
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package, and of runs. [New]
// does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := runtime.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "aiflow", migrations)
}

// New returns a Service over db, and creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Deleted == nil {
		s.opts.Deleted = func(context.Context, string, string) error { return nil }
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "aiflow", Migrate); err != nil {
		return nil, err
	}
	if s.opts.Runs == nil {
		s.alone = true
		if s.opts.Runs, err = s.newRuntime(ctx, db); err != nil {
			return nil, fmt.Errorf("aiflow: %w", err)
		}
	} else if s.opts.Models != nil {
		return nil, errors.New("aiflow: Options.Models has no effect with Options.Runs: give the runtime its callers")
	}
	s.opts.Types = s.opts.Runs.Types()
	if s.store, err = versions.New(ctx, db, versions.Options{
		Engine: flow.EngineFlow, Noun: "flow", Scope: "project",
		Flows: "aiflow_flow", Versions: "aiflow_version", Key: "flow", Functions: true, Admit: s.opts.Admit,
		Runs: s.opts.Runs, Source: s.Source, Environment: func(src runtime.Source) *flow.Environment { return published(src) }, TestsTx: s.testsTx,
		NotFound: ErrNotFound, Refused: refused,
		Logger: s.opts.Logger, Now: s.opts.Now,
	}); err != nil {
		return nil, fmt.Errorf("aiflow: %w", err)
	}
	s.opts.Runs.Serve(s)
	return s, nil
}

func (s *Service) nowUS() int64 { return database.Micros(s.opts.Now()) }

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

// Projects returns the projects of the account.
func (a *Account) Projects() Projects { return Projects{a.scope} }

// Flows returns the flows and functions of the account.
func (a *Account) Flows() Flows { return Flows{a.scope} }

// Versions returns the published versions of the account's flows.
func (a *Account) Versions() Versions { return Versions{a.scope} }

// Bindings returns the references on which the account's flows listen.
func (a *Account) Bindings() Bindings { return Bindings{a.scope} }

// Tests returns the tests that are stored with the account's flows.
func (a *Account) Tests() versions.Tests { return a.s.store.Tests(a.id) }

// Runs returns the runs of the account's flows.
func (a *Account) Runs() Runs { return Runs{a.scope} }

// List bounds a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]

func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	return id.String(), nil
}

// isID says whether a text can be the id of something; others no database has
// to see.
func isID(id string) bool { return uuid.Validate(id) == nil }

// checkText refuses texts for people that cannot be kept; what may not be
// empty says least 1.
func checkText(field, s string, least, limit int) error {
	if wrong := text.Check(s, least, limit); wrong != "" {
		return &Invalid{Field: field, Message: wrong}
	}
	return nil
}
