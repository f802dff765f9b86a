package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the tables of this package, and of package clockstep, to the newest
// version.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	if err := clockstep.Migrate(ctx, db); err != nil {
		return err
	}
	return database.Migrate(ctx, db, "queue", migrations)
}

// Queue is a named set of partitions. Its methods are safe for concurrent use.
type Queue struct {
	db     *database.DB
	o      Options
	log    *slog.Logger
	sql    *dialect
	fenced atomic.Int64
}

// New returns the queue of o.Name in db, whose tables [Migrate] has made.
// Nothing runs before [Queue.Run].
func New(ctx context.Context, db *sqlx.DB, o Options) (*Queue, error) {
	if o.Name == "" || o.Handle == nil {
		return nil, errors.New("queue: a queue needs a Name and a Handle")
	}
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, err
	}
	o.Workers = orDefault(o.Workers, 64)
	o.Cap = orDefault(o.Cap, 16)
	o.Run = orDefault(o.Run, 16)
	o.Lease = orDefault(o.Lease, time.Minute)
	o.Drain = orDefault(o.Drain, 15*time.Second)
	log := o.Logger
	if log == nil {
		log = slog.Default()
	}
	registerClock(d, o.Name)
	q := &Queue{db: d, o: o, log: log.With("queue", o.Name), sql: newDialect(d.Dialect, o.Now, min(Expiry, expiryOf(d)))}
	return q, nil
}

// orDefault is v, or d when v is not set.
func orDefault[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Notify has the queue look for work now, on all nodes: what [Options].Serves
// returns, or the clock, has changed. It does not block.
func (q *Queue) Notify() { q.db.Notify(q.topic()) }

func (q *Queue) topic() string { return "queue:" + q.o.Name }

// DropTx forgets a subscriber that is deleted: its partitions and its jobs. What is
// being handled cannot finish any more. What is put for the subscriber later is
// handled. Call [Queue.ResumeTx] after it, and
// after locking whatever Complete locks: it is the order in which workers lock.
func (q *Queue) DropTx(ctx context.Context, tx *database.Tx, subscriber string) error {
	if tx.Own() {
		putsOf(tx).drop(q, subscriber)
	}
	for _, s := range []string{
		`DELETE FROM queue_review WHERE queue = $1 AND subscriber = $2`,
		`SELECT count(*) FROM (SELECT id FROM queue_partition WHERE queue = $1 AND subscriber = $2 ORDER BY key, parked {lock}) l`,
		`DELETE FROM queue_job WHERE partition_id IN (SELECT id FROM queue_partition WHERE queue = $1 AND subscriber = $2)`,
		`DELETE FROM queue_partition WHERE queue = $1 AND subscriber = $2`,
	} {
		if _, err := tx.ExecContext(ctx, q.sql.text(s), q.o.Name, subscriber); err != nil {
			return fmt.Errorf("dropping a subscriber of queue %s: %w", q.o.Name, err)
		}
	}
	tx.NotifyAfter(q.topic())
	return nil
}

// dropRows is how many rows a transaction of [Queue.Drop] deletes.
const dropRows = 500

// Drop is [Queue.DropTx] and [Queue.ResumeTx] in small transactions, for a
// subscriber that has many jobs. It may be called again after an error.
func (q *Queue) Drop(ctx context.Context, subscriber string) error {
	for _, s := range []string{
		`DELETE FROM queue_job WHERE (partition_id, seq) IN (SELECT i.partition_id, i.seq FROM queue_job i JOIN queue_partition l ON l.id = i.partition_id
			WHERE l.queue = $1 AND l.subscriber = $2 LIMIT $3)`,
		`DELETE FROM queue_partition WHERE id IN (SELECT id FROM queue_partition WHERE queue = $1 AND subscriber = $2 ORDER BY key, parked LIMIT $3)`,
	} {
		if err := q.db.InSteps(ctx, s, q.o.Name, subscriber, dropRows); err != nil {
			return fmt.Errorf("dropping a subscriber of queue %s: %w", q.o.Name, err)
		}
	}
	return q.db.InTx(ctx, func(tx *database.Tx) error {
		if err := q.DropTx(ctx, tx, subscriber); err != nil {
			return err
		}
		return q.ResumeTx(ctx, tx, subscriber)
	})
}

// ResumeTx ends the pause of a subscriber, if there is one, or forgets it. What was in
// hand then may pause it again unless Complete takes that back.
func (q *Queue) ResumeTx(ctx context.Context, tx *database.Tx, subscriber string) error {
	tx.NotifyAfter(q.topic())
	resume := func(ctx context.Context) error {
		const resume = `DELETE FROM queue_subscriber WHERE queue = $1 AND subscriber = $2`
		if _, err := tx.ExecContext(ctx, resume, q.o.Name, subscriber); err != nil {
			return fmt.Errorf("resuming a subscriber of queue %s: %w", q.o.Name, err)
		}
		return nil
	}
	if !tx.Own() { // its end is not known
		return resume(ctx)
	}
	putsOf(tx) // the jobs of the transaction are written before: subscribers are locked last
	tx.BeforeCommit(resume)
	return nil
}

// write runs fn in a transaction that commits together with others on SQLite.
func (q *Queue) write(ctx context.Context, fn func(context.Context, *database.Tx) error) error {
	return q.db.Write(ctx, func(tx *database.Tx) error {
		if err := q.guard(ctx, tx); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// guard prepares a transaction on PostgreSQL. It is ended when its node is
// frozen within it: its locks would stop all others. And it reads by index,
// because what the planner knows of a queue's tables is always out of date.
func (q *Queue) guard(ctx context.Context, tx *database.Tx) error {
	if q.db.Dialect != database.Postgres {
		return nil
	}
	_, err := tx.ExecContext(ctx, q.sql.text(guardSQL))
	return err
}

const guardSQL = `SELECT set_config('idle_in_transaction_session_timeout', {frozen}, true), set_config('enable_seqscan', 'off', true)`
