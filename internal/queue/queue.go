package lane

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the tables of this package to the newest version.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "lane", migrations)
}

// Queue is a named set of lanes. Its methods are safe for concurrent use.
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
		return nil, errors.New("lane: a queue needs a Name and a Handle")
	}
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, err
	}
	o.Workers = def(o.Workers, 64)
	o.Cap = def(o.Cap, 16)
	o.Run = def(o.Run, 16)
	o.Lease = def(o.Lease, time.Minute)
	o.Drain = def(o.Drain, 15*time.Second)
	log := o.Logger
	if log == nil {
		log = slog.Default()
	}
	q := &Queue{db: d, o: o, log: log.With("queue", o.Name), sql: newDialect(d.Dialect, o.Now)}
	return q, q.prepare(ctx)
}

// def is v, or d when v is not set.
func def[T int | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// putLimit bounds the rows of one statement, which have putWidth values each.
const (
	putLimit = 1000
	putWidth = 6
)

// PutTx queues es in the caller's transaction. Entries of one consumer and key
// keep the order in which their transactions commit only if the caller holds a
// lock that serializes them, such as their chat's row, before it calls PutTx.
// After the commit the caller calls [Queue.Committed].
func (q *Queue) PutTx(ctx context.Context, tx *sqlx.Tx, es ...Entry) error {
	for len(es) > 0 {
		n := min(len(es), putLimit)
		if err := q.put(ctx, tx, es[:n]); err != nil {
			return fmt.Errorf("putting into queue %s: %w", q.o.Name, err)
		}
		es = es[n:]
	}
	return nil
}

func (q *Queue) put(ctx context.Context, tx *sqlx.Tx, es []Entry) error {
	values, parent := make([]any, 0, putWidth*len(es)), span.Of(ctx)
	for _, e := range es {
		if e.Consumer == "" && q.o.Route == nil {
			return errors.New("an entry names no consumer, and the queue has no Route")
		}
		values = append(values, e.Consumer, e.Key, e.Subject, e.Note, e.Merged, cmp.Or(e.Traceparent, parent))
	}
	text, args := q.putText(values)
	_, err := q.db.ExecTx(ctx, tx, text, args...)
	return err
}

// putText is the statement that puts the entries of values.
func (q *Queue) putText(values []any) (string, []any) {
	const insert = `INSERT INTO lane_outbox (queue, consumer, key, subject, note, merged, traceparent, at_us)
		SELECT $1, column1, column2, column3, column4, column5, column6, {now} FROM (%s) AS v`
	list, args := q.db.Dialect.List(2, []string{"TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT"}, values)
	return fmt.Sprintf(q.sql.text(insert), list), append([]any{q.o.Name}, args...)
}

// prepare prepares what is run often, as far as it is always the same text.
func (q *Queue) prepare(ctx context.Context) error {
	if q.o.Now != nil { // it is in the texts
		return nil
	}
	one, _ := q.putText(make([]any, putWidth))
	if q.db.Dialect != database.Postgres {
		return q.db.Prepare(ctx, one, q.scanText(), removeOne)
	}
	many, _ := q.putText(make([]any, putWidth*putLimit))
	items, _ := q.itemsText([][]int64{make([]int64, 3)})
	advance, _ := q.advanceText([][]int64{make([]int64, 6)})
	remove, _ := q.removeText([][]int64{make([]int64, 3)})
	return q.db.Prepare(ctx, one, many, guardSQL, q.scanText(), items, advance, remove)
}

// prepareOnce prepares a text that nobody may need.
func (q *Queue) prepareOnce(ctx context.Context, text string) error {
	if q.o.Now != nil { // it is in the text
		return nil
	}
	return q.db.Prepare(ctx, text)
}

// Committed tells the queue, on all nodes, that what was put, resumed or
// dropped is committed. It does not block. Without it the work is found by
// polling, within a second.
func (q *Queue) Committed() { q.db.Wake(q.topic()) }

func (q *Queue) topic() string { return "lane:" + q.o.Name }

// DropTx forgets a consumer that is deleted: its lanes, its items and what was
// put for it and not routed yet. What is being handled cannot finish any more.
// Route must not name the consumer again. Call [Queue.ResumeTx] after it, and
// after locking whatever Settle locks: it is the order in which workers lock.
func (q *Queue) DropTx(ctx context.Context, tx *sqlx.Tx, consumer string) error {
	for _, s := range []string{
		`DELETE FROM lane_outbox WHERE queue = $1 AND consumer = $2`,
		`SELECT count(*) FROM (SELECT id FROM lane_lane WHERE queue = $1 AND consumer = $2 ORDER BY key, detached {lock}) l`,
		`DELETE FROM lane_item WHERE lane_id IN (SELECT id FROM lane_lane WHERE queue = $1 AND consumer = $2)`,
		`DELETE FROM lane_lane WHERE queue = $1 AND consumer = $2`,
	} {
		if _, err := tx.ExecContext(ctx, q.sql.text(s), q.o.Name, consumer); err != nil {
			return fmt.Errorf("dropping a consumer of queue %s: %w", q.o.Name, err)
		}
	}
	return nil
}

// dropRows is how many rows a transaction of [Queue.Drop] deletes.
const dropRows = 500

// Drop is [Queue.DropTx] and [Queue.ResumeTx] in small transactions, for a
// consumer that has many items. It may be called again after an error.
func (q *Queue) Drop(ctx context.Context, consumer string) error {
	for _, s := range []string{
		`DELETE FROM lane_outbox WHERE id IN (SELECT id FROM lane_outbox WHERE queue = $1 AND consumer = $2 LIMIT $3)`,
		`DELETE FROM lane_item WHERE (lane_id, seq) IN (SELECT i.lane_id, i.seq FROM lane_item i JOIN lane_lane l ON l.id = i.lane_id
			WHERE l.queue = $1 AND l.consumer = $2 LIMIT $3)`,
		`DELETE FROM lane_lane WHERE id IN (SELECT id FROM lane_lane WHERE queue = $1 AND consumer = $2 ORDER BY key, detached LIMIT $3)`,
	} {
		for n := int64(dropRows); n > 0; {
			err := q.db.InTx(ctx, func(tx *sqlx.Tx) error {
				res, err := tx.ExecContext(ctx, s, q.o.Name, consumer, dropRows)
				if err == nil {
					n, err = res.RowsAffected()
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("dropping a consumer of queue %s: %w", q.o.Name, err)
			}
		}
	}
	err := q.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if err := q.DropTx(ctx, tx, consumer); err != nil {
			return err
		}
		return q.ResumeTx(ctx, tx, consumer)
	})
	if err == nil {
		q.Committed()
	}
	return err
}

// ResumeTx ends the pause of a consumer, if there is one, or forgets it. What was in hand then
// may pause it again unless Settle takes that back. After the commit the caller
// calls [Queue.Committed].
func (q *Queue) ResumeTx(ctx context.Context, tx *sqlx.Tx, consumer string) error {
	const resume = `DELETE FROM lane_consumer WHERE queue = $1 AND consumer = $2`
	if _, err := tx.ExecContext(ctx, resume, q.o.Name, consumer); err != nil {
		return fmt.Errorf("resuming a consumer of queue %s: %w", q.o.Name, err)
	}
	return nil
}

// write runs fn in a transaction that commits together with others on SQLite.
func (q *Queue) write(ctx context.Context, fn func(context.Context, *sqlx.Tx) error) error {
	return q.db.Write(ctx, func(tx *sqlx.Tx) error {
		if err := q.guard(ctx, tx); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// guard prepares a transaction on PostgreSQL. It is ended when its node is
// frozen within it: its locks would stop all others. And it reads by index,
// because what the planner knows of a queue's tables is always out of date.
func (q *Queue) guard(ctx context.Context, tx *sqlx.Tx) error {
	if q.db.Dialect != database.Postgres {
		return nil
	}
	_, err := q.db.ExecTx(ctx, tx, guardSQL)
	return err
}

const guardSQL = `SELECT set_config('idle_in_transaction_session_timeout', '10s', true), set_config('enable_seqscan', 'off', true)`
