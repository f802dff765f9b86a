package store

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

// OneAccount is the id of the account in programs that have only one.
const OneAccount = "one"

// Options configures a [Service].
type Options struct {
	// Model returns the model for a call: its Request.Model is what llm.Models made
	// of [Call.Model]. It also meters calls. nil: extractors that need a model find
	// nothing, and [Account.Try] returns an error.
	Model func(ctx context.Context, c Call) (llm.Model, string, error)
	// Timeout is how long a model may take for a message; 0: 13 s, so that a caller
	// that waits 15 s for the values gets them.
	Timeout time.Duration
	// Exclusive reports that no other process uses the database, so that the
	// training of a process that was killed can continue at once.
	Exclusive bool
	Logger    *slog.Logger     // nil: slog.Default()
	Now       func() time.Time // nil: time.Now

	// BeforeTrained is called after intents were learned and before they are
	// stored. Tests stop a node there. nil: nothing is called.
	BeforeTrained func()
}

// Call describes a call of a model.
type Call struct {
	Account   string
	Extractor string // its id
	Model     string // provider/model
	Reference int64  // of the message; 0: [Account.Try] with a text
	ChatID    string
	// Used receives the usage of an answer and its cost in nano-USD, if known.
	Used func(u llm.Usage, costNano int64, known bool)
}

// Service stores and runs extractors. It is safe for concurrent use. Any number of
// processes may run one on the same PostgreSQL database.
type Service struct {
	db      *database.DB
	opts    Options
	cache   cache
	answers answers
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := clockstep.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "extractor", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.opts.Timeout = cmp.Or(s.opts.Timeout, 13*time.Second)
	if s.opts.BeforeTrained == nil {
		s.opts.BeforeTrained = func() {}
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "store", Migrate); err != nil {
		return nil, err
	}
	clockstep.Register(s.db, "extractor", clockstep.Column("extractor_item", "claim_us", "training = 'training'"))
	return s, nil
}

// Run trains extractors until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	clockstep.Watch(gctx, s.db, s.opts.Logger)
	g.Go(func() error { return s.train(gctx) })
	if err := g.Wait(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func (s *Service) now() time.Time { return s.opts.Now() }

// Account is the part of a [Service] that belongs to one account. It finds nothing
// that belongs to another account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
