package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

// PutTx queues es in a transaction. Jobs of one subscriber and key keep the order in
// which their transactions commit only if the caller holds a lock that serializes
// them, such as their chat's row, before it calls PutTx.
//
// A transaction of package database writes the jobs of all its queues at its end,
// with one statement: partitions are locked last, briefly, and in one order.
func (q *Queue) PutTx(ctx context.Context, on database.Executor, es ...JobArgs) error {
	tx, err := q.db.Join(on)
	if err != nil || len(es) == 0 {
		return err
	}
	parent := span.Of(ctx)
	jobs := make([]put, len(es))
	for i, e := range es {
		if e.Subscriber == "" {
			return fmt.Errorf("putting into queue %s: a job names no subscriber", q.o.Name)
		}
		e.Traceparent = cmp.Or(e.Traceparent, parent)
		jobs[i] = put{queue: q, JobArgs: e}
	}
	tx.NotifyAfter(q.topic())
	if !tx.Own() { // its end is not known
		return storeTx(ctx, tx, jobs)
	}
	p := putsOf(tx)
	p.jobs = append(p.jobs, jobs...)
	return nil
}

// put is a job of a transaction, for one of its queues.
type put struct {
	queue *Queue
	JobArgs
	place int64 // among the jobs that are written together
}

// puts are the jobs of a transaction that are not written yet.
type puts struct{ jobs []put }

type putsKey struct{}

func putsOf(tx *database.Tx) *puts {
	return tx.Value(putsKey{}, func() any {
		p := &puts{}
		tx.BeforeCommit(func(ctx context.Context) error { return storeTx(ctx, tx, p.jobs) })
		return p
	}).(*puts)
}

// storeUntil writes the jobs of the queues up to one, in the order of their names.
func (p *puts) storeUntil(ctx context.Context, tx *database.Tx, queue string) error {
	var now, later []put
	for _, j := range p.jobs {
		if j.queue.o.Name <= queue {
			now = append(now, j)
		} else {
			later = append(later, j)
		}
	}
	p.jobs = later
	return storeTx(ctx, tx, now)
}

// drop forgets the jobs of a subscriber.
func (p *puts) drop(q *Queue, subscriber string) {
	p.jobs = slices.DeleteFunc(p.jobs, func(j put) bool { return j.queue.o.Name == q.o.Name && j.Subscriber == subscriber })
}

// storeTx writes jobs, queue by queue.
func storeTx(ctx context.Context, tx *database.Tx, jobs []put) error {
	slices.SortStableFunc(jobs, func(a, b put) int { return cmp.Compare(a.queue.o.Name, b.queue.o.Name) })
	plain := 0 // jobs[plain:i] merge nothing and are not written yet
	for i := 0; i < len(jobs); {
		q, end := jobs[i].queue, i+1
		for end < len(jobs) && jobs[end].queue.o.Name == q.o.Name {
			end++
		}
		if slices.ContainsFunc(jobs[i:end], func(j put) bool { return j.Merged != "" }) {
			if err := appendTx(ctx, tx, jobs[plain:i]); err != nil {
				return err
			}
			if err := q.mergeTx(ctx, tx, jobs[i:end]); err != nil {
				return fmt.Errorf("merging keys of queue %s: %w", q.o.Name, err)
			}
			plain = end
		}
		i = end
	}
	return appendTx(ctx, tx, jobs[plain:])
}

// putLimit is how many jobs PostgreSQL puts with one statement.
const putLimit = 1000

// appendTx puts jobs at the ends of their partitions, which it locks in the order in
// which everybody does.
func appendTx(ctx context.Context, tx *database.Tx, jobs []put) error {
	if len(jobs) == 0 {
		return nil
	}
	q := jobs[0].queue
	if q.db.Dialect != database.Postgres || len(jobs) > putLimit {
		if err := q.redirectAll(ctx, tx, jobs); err != nil {
			return err
		}
	}
	for i := range jobs {
		jobs[i].place = int64(i)
	}
	slices.SortStableFunc(jobs, func(a, b put) int { return a.partition().compare(b.partition()) })
	var err error
	if q.db.Dialect == database.Postgres {
		err = q.db.ExecRows(ctx, tx, database.Rows{Before: putBefore, After: q.sql.text(putAfter), Types: putTypes, Values: putValues(jobs)})
	} else {
		err = q.extend(ctx, tx, jobs)
	}
	if err != nil {
		return fmt.Errorf("putting jobs: %w", err)
	}
	return nil
}

// The statement by which PostgreSQL puts a list of jobs: it finds the keys that
// theirs have become one with, makes room in the partitions, in order, and inserts
// the jobs there. A node that is frozen behind it loses the transaction.
const (
	putBefore = `WITH v AS (SELECT u.column1 AS n, u.column2 COLLATE "C" AS queue, u.column3 COLLATE "C" AS subscriber,
			COALESCE(r.target, u.column4) AS key, u.column5 AS subject, u.column6 AS traceparent, u.column7 AS now
		FROM (`
	putAfter = `) AS u CROSS JOIN (SELECT set_config('idle_in_transaction_session_timeout', {frozen}, true)) AS guard
			LEFT JOIN queue_redirect r ON r.queue = u.column2 AND r.key = u.column4),
		g AS (SELECT queue, subscriber, key, count(*) AS jobs, max(now) AS now FROM v GROUP BY queue, subscriber, key),
		p AS (INSERT INTO queue_partition AS l (queue, subscriber, key, tail, ready_us)
			SELECT queue, subscriber, key, jobs, COALESCE(NULLIF(now, 0), {seen}) FROM g ORDER BY queue, subscriber, key
			` + extendPartition + ` RETURNING id, queue, subscriber, key, tail, seq_offset)
		INSERT INTO queue_job (partition_id, seq, seq_offset, subject, traceparent)
		SELECT p.id, p.tail - g.jobs + row_number() OVER (PARTITION BY p.id ORDER BY v.n), p.seq_offset, v.subject, v.traceparent
		FROM v JOIN g USING (queue, subscriber, key) JOIN p USING (queue, subscriber, key)`
	extendPartition = `ON CONFLICT (queue, subscriber, key, parked) DO UPDATE SET tail = l.tail + excluded.tail,
			since_us = CASE WHEN l.ready_us IS NULL THEN 0 ELSE l.since_us END,
			ready_us = COALESCE(l.ready_us, CASE WHEN l.blockers > 0 THEN {blocked} ELSE excluded.ready_us END)`
)

var putTypes = []string{"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT"}

func putValues(jobs []put) []any {
	values := make([]any, 0, len(putTypes)*len(jobs))
	for _, j := range jobs {
		values = append(values, j.place, j.queue.o.Name, j.Subscriber, j.Key, j.Subject, j.Traceparent, j.queue.sql.nowUS())
	}
	return values
}

// redirectAll gives jobs the keys that theirs have become one with.
func (q *Queue) redirectAll(ctx context.Context, tx *database.Tx, jobs []put) error {
	known, err := q.redirects(ctx, tx, jobs)
	if err != nil || len(known) == 0 {
		return err
	}
	for i, j := range jobs {
		jobs[i].Key = known.target(j.queue.o.Name, j.Key)
	}
	return nil
}

// extend makes room in partitions, new ones among them, and inserts the jobs there.
func (q *Queue) extend(ctx context.Context, tx *database.Tx, jobs []put) error {
	groups := map[partition][]put{}
	var values []any
	for _, j := range jobs {
		groups[j.partition()] = append(groups[j.partition()], j)
	}
	order := make([]partition, 0, len(groups))
	for p := range groups {
		order = append(order, p)
	}
	slices.SortFunc(order, partition.compare)
	for _, p := range order {
		values = append(values, p.queue, p.subscriber, p.key, len(groups[p]), groups[p][0].queue.sql.nowUS())
	}
	rows, err := database.SelectRows[extended](ctx, q.db, tx, database.Rows{
		Before: `INSERT INTO queue_partition AS l (queue, subscriber, key, tail, ready_us)
			SELECT column1, column2, column3, column4, COALESCE(NULLIF(column5, 0), ` + q.sql.text(`{seen}`) + `) FROM (`,
		After: q.sql.text(`) AS v WHERE true ` + extendPartition + ` RETURNING id, queue, subscriber, key, tail, seq_offset`),
		Types: []string{"TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT"}, Values: values,
	})
	if err != nil {
		return fmt.Errorf("extending partitions: %w", err)
	}
	values = nil
	for _, r := range rows {
		group := groups[partition{r.Queue, partitionKey{r.Subscriber, r.Key}}]
		for i, j := range group {
			values = append(values, r.ID, r.Tail-int64(len(group)-1-i), r.Offset, j.Subject, j.Traceparent)
		}
	}
	if err := q.db.Insert(ctx, tx, insertJobs, jobTypes, values); err != nil {
		return fmt.Errorf("adding jobs: %w", err)
	}
	return nil
}

// extended is a partition behind whose end there is room now.
type extended struct {
	ID, Tail int64
	Offset   int64 `db:"seq_offset"`

	Queue, Subscriber, Key string
}

const insertJobs = `INSERT INTO queue_job (partition_id, seq, seq_offset, subject, traceparent)`

var jobTypes = []string{"BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT"}

// partitionKey names a partition within a queue.
type partitionKey struct{ subscriber, key string }

func (a partitionKey) compare(b partitionKey) int {
	return cmp.Or(cmp.Compare(a.subscriber, b.subscriber), cmp.Compare(a.key, b.key))
}

// partition names a partition.
type partition struct {
	queue string
	partitionKey
}

func (p partition) compare(b partition) int {
	return cmp.Or(cmp.Compare(p.queue, b.queue), p.partitionKey.compare(b.partitionKey))
}

func (j put) partition() partition {
	return partition{j.queue.o.Name, partitionKey{j.Subscriber, j.Key}}
}
