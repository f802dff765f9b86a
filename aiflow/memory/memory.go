package memory

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Scope says whose messages are recalled.
type Scope string

// Whose messages are recalled.
const (
	ScopeNone    Scope = "none"
	ScopeRun     Scope = "run"
	ScopeChat    Scope = "chat"
	ScopeContact Scope = "contact" // on all references
)

// rank orders scopes: a turn that was said in one is recalled in the smaller
// ones, too.
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

// Chat names a chat.
type Chat struct {
	Reference int64 // of its reference; 0: there is none
	ID        string
}

// Place is where something is said.
type Place struct {
	Scope Scope
	Run   string
	Chat  Chat // zero: the run has none, and remembers for itself
	// Message is the id of the message that is answered. "": none.
	Message string
}

// scope is the place's, which without a chat is no more than the run's.
func (p Place) scope() Scope {
	if p.Chat.Reference == 0 && p.Scope.rank() > 0 {
		return ScopeRun
	}
	return p.Scope
}

// Options configures a [Service].
type Options struct {
	// Names returns the names by which a chat is or was known on its reference;
	// everywhere adds those of the same contact on all references. nil: a chat has
	// one name, and a contact one chat.
	Names func(ctx context.Context, account string, c Chat, everywhere bool) ([]Chat, error)
	// Lock says whether a run is there, and keeps it from being erased until tx
	// ends: what was said in one that was erased meanwhile is not kept. nil: all
	// are there.
	Lock func(ctx context.Context, tx *sqlx.Tx, account, run string) (bool, error)
	// Retention is how long turns of chats and contacts are kept; 0: for ever.
	Retention time.Duration
	Logger    *slog.Logger     // nil: slog.Default()
	Now       func() time.Time // nil: time.Now
}

// Service keeps conversations. It is safe for concurrent use.
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

// New returns a Service over db, and creates or upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	s := &Service{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Names == nil {
		s.opts.Names = func(_ context.Context, _ string, c Chat, _ bool) ([]Chat, error) { return []Chat{c}, nil }
	}
	if s.opts.Lock == nil {
		s.opts.Lock = func(context.Context, *sqlx.Tx, string, string) (bool, error) { return true, nil }
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Retention < 0 {
		return nil, fmt.Errorf("memory: Options.Retention is negative: %s", s.opts.Retention)
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	var err error
	if s.db, err = database.Of(ctx, db); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	return s, nil
}

// Account is the share of a [Service] that belongs to one account.
type Account struct {
	s  *Service
	id string
}

// For returns the service for one account.
func (s *Service) For(account string) *Account { return &Account{s: s, id: account} }
