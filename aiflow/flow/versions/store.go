package versions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Options says where an engine keeps its flows, and in which words it refuses
// something. All members are required but those that name a default.
type Options struct {
	Engine string // its name among those of a [runtime.Runtime]
	Noun   string // what it calls a flow in errors and logs
	Scope  string // what the slugs of published flows are unique in, in problems

	Flows    string // the table of flows
	Versions string // the table of versions
	Key      string // the column of Versions that has the id of the flow
	// Functions says that a version is published with the functions that it
	// calls: Versions has a column functions, and Flows one named kind.
	Functions bool

	Runs *runtime.Runtime // what flows run on
	// Source reads a version of a flow, or its draft for version 0, as
	// [runtime.Engine] does.
	Source func(ctx context.Context, account, id string, version int64) (runtime.Source, error)
	// Environment is what a source may refer to when it is simulated.
	Environment func(src runtime.Source) *flow.Environment
	// TestsTx locks the row of a flow, in the transaction that stores its tests,
	// and records the change. A flow that does not exist is NotFound.
	TestsTx func(ctx context.Context, tx *database.Tx, account, id string) error

	// Admit is asked before a version is stored, with its size; its error refuses
	// that. nil: versions are not bounded.
	Admit func(ctx context.Context, tx database.Executor, account string, bytes int64) error

	NotFound error                               // for what does not exist
	Refused  func(problems []flow.Problem) error // for a document with errors

	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Store keeps the flows of an engine. It is safe for concurrent use.
type Store struct {
	db       *database.DB
	opts     Options
	triggers runtime.Triggers
}

// New returns a Store over db, which has the engine's tables already.
func New(ctx context.Context, db *sqlx.DB, opts Options) (*Store, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	if opts.Now == nil {
		opts.Now = time.Now
	}
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("versions: %w", err)
	}
	return &Store{db: d, opts: opts}, nil
}

// Row is what the rows of all flows have. An engine embeds it in a row of its
// own.
type Row struct {
	Number   int64 // the order of lists
	ID       string
	Account  string
	Name     string
	Draft    string
	Revision int64  // of the draft; raised by every change
	Slug     string // of the published version; "": there is none
	Kind     string // of the published version; see [Options]
	Version  int64  // the published one; 0: there is none
	Versions int64  // how many there have been
	Created  int64  `db:"created_us"`
	Updated  int64  `db:"updated_us"`
}

// Find reads columns of a flow of an account into a row R. For a flow that does
// not exist, or is deleted, it returns Options.NotFound. lock ends the statement.
func Find[R any](ctx context.Context, s *Store, q database.Reader, columns, account, id, lock string) (R, error) {
	var r R
	if uuid.Validate(id) != nil {
		return r, s.opts.NotFound
	}
	err := q.GetContext(ctx, &r, `SELECT `+columns+` FROM `+s.opts.Flows+` WHERE id = $1 AND account = $2 AND NOT removed`+lock, id, account)
	if errors.Is(err, sql.ErrNoRows) {
		return r, s.opts.NotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading a %s: %w", s.opts.Noun, err)
	}
	return r, nil
}

// check returns Options.NotFound for a flow that does not exist.
func (s *Store) check(ctx context.Context, account, id string) error {
	_, err := Find[struct{ ID string }](ctx, s, s.db, `id`, account, id, "")
	return err
}

// KeepTx prevents that a flow is deleted until tx ends. A flow that does not
// exist is [runtime.ErrNotFound].
func (s *Store) KeepTx(ctx context.Context, on database.Executor, id string) error {
	tx, err := s.db.Join(on)
	if err != nil {
		return err
	}
	var is []bool
	if err := tx.SelectContext(ctx, &is, `SELECT true FROM `+s.opts.Flows+` WHERE id = $1 AND NOT removed`+s.db.Dialect.ForShare(), id); err != nil {
		return fmt.Errorf("keeping a %s: %w", s.opts.Noun, err)
	}
	if len(is) == 0 {
		return runtime.ErrNotFound
	}
	return nil
}

func (s *Store) nowUS() int64 { return database.Micros(s.opts.Now()) }
