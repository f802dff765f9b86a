// Package job runs work that continues after the answer to a request, such as
// deleting a chat with a million messages.
//
// A job is a row, written in the transaction of the request. Any node runs it, and
// another one continues if that node dies. The work itself must be done in small
// transactions, and must continue from where it was when it is restarted.
//
// It is not a queue for many small tasks: see package queue.
package job

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// ErrNotFound reports a job that does not exist, or belongs to another account.
var ErrNotFound = errors.New("job: not found")

// Job is work to be done once.
type Job struct {
	ID        string
	Account   string
	Kind      string
	Reference int64           // reference that it concerns; 0: none
	Args      json.RawMessage // nil after the end
	CreatedAt time.Time
	EndedAt   time.Time // zero: in progress
}

// New describes a job to add.
type New struct {
	Account, Kind string
	Reference     int64
	Args          any // encoded as JSON
}

// Do does the work of a job. It is called again, on any node, after an error or a
// crash, until it returns nil.
type Do func(ctx context.Context, j Job) error

// Options configures a [Service].
type Options struct {
	Kinds  map[string]Do
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Service stores and runs jobs. It is safe for concurrent use.
type Service struct {
	db   *database.DB
	opts Options
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package. [Open] does it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := clockstep.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "job", migrations)
}

// Open returns a Service over db. It creates or upgrades its tables.
func Open(ctx context.Context, db *sqlx.DB, opts *Options) (*Service, error) {
	d, err := database.Prepare(ctx, db, "job", Migrate)
	if err != nil {
		return nil, err
	}
	clockstep.Register(d, "job", clockstep.Column("job_job", "due_us", "ended_us = 0"))
	s := &Service{db: d}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	return s, nil
}

type jobRow struct {
	Number    int64  `db:"number"`
	ID        string `db:"id"`
	Account   string `db:"account"`
	Kind      string `db:"kind"`
	Args      string `db:"args"`
	Reference int64  `db:"reference"`
	Tries     int64  `db:"tries"`
	CreatedUS int64  `db:"created_us"`
	EndedUS   int64  `db:"ended_us"`
}

const columns = `number, id, account, kind, args, reference, tries, created_us, ended_us`

func (r jobRow) view() Job {
	j := Job{
		ID: r.ID, Account: r.Account, Kind: r.Kind, Reference: r.Reference,
		CreatedAt: database.Time(r.CreatedUS), EndedAt: database.Time(r.EndedUS),
	}
	if r.Args != "" {
		j.Args = json.RawMessage(r.Args)
	}
	return j
}

// AddTx adds a job when tx commits.
func (s *Service) AddTx(ctx context.Context, on Tx, n New) (Job, error) {
	tx, err := s.db.Join(on)
	if err != nil {
		return Job{}, err
	}
	args, err := json.Marshal(n.Args)
	if err != nil {
		return Job{}, fmt.Errorf("job: writing arguments: %w", err)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return Job{}, fmt.Errorf("job: making an id: %w", err)
	}
	row := jobRow{
		ID: id.String(), Account: n.Account, Kind: n.Kind, Args: string(args), Reference: n.Reference,
		CreatedUS: database.Micros(s.opts.Now()),
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO job_job (id, account, kind, args, reference, tries, due_us, created_us, ended_us)
		VALUES ($1, $2, $3, $4, $5, 0, 0, $6, 0)`, row.ID, row.Account, row.Kind, row.Args, row.Reference, row.CreatedUS)
	if err != nil {
		return Job{}, fmt.Errorf("job: storing: %w", err)
	}
	tx.NotifyAfter(topic)
	return row.view(), nil
}

// topic is the topic of notifications about new jobs.
const topic = "job"

// Job returns a job of an account. Ended jobs are kept for 30 days.
func (s *Service) Job(ctx context.Context, account, id string) (Job, error) {
	if uuid.Validate(id) != nil {
		return Job{}, ErrNotFound
	}
	var row jobRow
	err := s.db.GetContext(ctx, &row, `SELECT `+columns+` FROM job_job WHERE id = $1 AND account = $2`, id, account)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, ErrNotFound
	}
	if err != nil {
		return Job{}, fmt.Errorf("job: reading: %w", err)
	}
	return row.view(), nil
}

// End ends the jobs of a kind of an account, whose work was done elsewhere.
func (s *Service) End(ctx context.Context, account, kind string) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), `UPDATE job_job SET ended_us = $1, args = '' WHERE account = $2 AND kind = $3 AND ended_us = 0`,
			database.Micros(s.opts.Now()), account, kind)
		return err
	})
	if err != nil {
		return fmt.Errorf("job: ending: %w", err)
	}
	return nil
}
