package memory

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// Scope determines which messages are recalled.
type Scope string

// The scopes.
const (
	ScopeNone    Scope = "none"
	ScopeRun     Scope = "run"
	ScopeChat    Scope = "chat"
	ScopeContact Scope = "contact" // on all references
)

// rank orders scopes: a turn of one scope is also recalled in the smaller ones.
func (s Scope) rank() int64 {
	switch s {
	case ScopeRun:
		return 1
	case ScopeChat:
		return 2
	case ScopeContact:
		return 3
	}
	return 0
}

// Chat identifies a chat.
type Chat struct {
	Reference int64 // its reference; 0: none
	ID        string
}

// Place is the place of a conversation.
type Place struct {
	Scope Scope
	Run   string
	Chat  Chat // zero: the run has no chat, and only the run remembers
	// Message is the id of the message to answer. "": none.
	Message string
}

// scope returns the scope of the place, which without a chat is that of the run.
func (p Place) scope() Scope {
	if p.Chat.Reference == 0 && p.Scope.rank() > 0 {
		return ScopeRun
	}
	return p.Scope
}

// Options configures a [Service].
type Options struct {
	// Names returns the current and former names of a chat on its reference; with
	// everywhere also those of the same contact on all references. nil: a chat has
	// one name, and a contact one chat.
	Names func(ctx context.Context, account string, c Chat, everywhere bool) ([]Chat, error)
	// Lock reports whether a run exists, and locks it so that it is not erased
	// until tx ends. Turns of an erased run are not stored. nil: all runs exist.
	Lock func(ctx context.Context, tx Tx, account, run string) (bool, error)
	// Retention is how long turns of chats and contacts are kept; 0: for ever.
	Retention time.Duration
	Logger    *slog.Logger     // nil: slog.Default()
	Now       func() time.Time // nil: time.Now
}

// Service stores conversations. It is safe for concurrent use.
type Service struct {
	db   *database.DB
	opts Options
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [New] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "memory", migrations)
}

// New returns a Service over db. It creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Names == nil {
		s.opts.Names = func(_ context.Context, _ string, c Chat, _ bool) ([]Chat, error) { return []Chat{c}, nil }
	}
	if s.opts.Lock == nil {
		s.opts.Lock = func(context.Context, Tx, string, string) (bool, error) { return true, nil }
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Retention < 0 {
		return nil, fmt.Errorf("memory: Options.Retention is negative: %s", s.opts.Retention)
	}
	var err error
	if s.db, err = database.Prepare(ctx, db, "memory", Migrate); err != nil {
		return nil, err
	}
	return s, nil
}

// Account is the part of a [Service] that belongs to one account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
