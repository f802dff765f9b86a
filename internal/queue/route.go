package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// router moves jobs from the outbox to partitions, and merges partitions whose
// keys have become one. It alone gives sequence numbers and changes which
// partition waits for which.
type router struct {
	*Queue
	claim chan struct{} // wakes the claimer
}

// routeLimit bounds the jobs that one transaction routes. A backlog goes in
// larger steps, which write each partition fewer times: on SQLite all other
// writers wait, on PostgreSQL only writers of the same partitions.
const routeLimit = 2000

// routable is how many jobs to take when the batch before had so many.
func (r *router) routable(before int) int {
	switch {
	case before < routeLimit:
		return routeLimit
	case r.db.Dialect == database.Postgres:
		return 4 * routeLimit
	}
	return 2 * routeLimit
}

// errRouting says that another node routes at the moment.
var errRouting = errors.New("another node routes")

// routeAll moves what was put into partitions until ctx ends.
func (r *router) routeAll(ctx context.Context) {
	woken := r.db.Listen(ctx, r.topic())
	busy, routed := routePause, 0
	for {
		started := time.Now()
		var err error
		routed, err = r.routeBatch(ctx, r.routable(routed))
		wait := pollInterval
		switch {
		case errors.Is(err, errRouting):
			// It may have looked before our jobs were committed.
			busy = min(2*busy, pollInterval)
			wait = busy
		case err != nil && ctx.Err() == nil:
			r.log.WarnContext(ctx, "routing failed", "error", err)
			wait = failedWait
		case routed > 0:
			wait = 0
		}
		if err == nil {
			busy = routePause
		}
		notify(r.claim)
		if wait > 0 && !await(ctx, woken, wait) {
			return
		}
		if !await(ctx, nil, routePause-time.Since(started)) {
			return
		}
	}
}

type outboxRow struct {
	ID int64
	JobArgs
}

// routeBatch moves the oldest jobs, at most limit, and returns how many they were.
func (r *router) routeBatch(ctx context.Context, limit int) (routed int, err error) {
	const exists = `SELECT EXISTS (SELECT 1 FROM queue_outbox WHERE queue = $1)`
	var waiting bool
	if err := r.db.GetContext(ctx, &waiting, exists, r.o.Name); err != nil || !waiting {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx)
	err = r.db.WriteLazy(ctx, func(tx *database.Tx) error {
		if err := r.lockRouter(ctx, tx); err != nil {
			return err
		}
		es, known, err := r.take(ctx, tx, limit)
		if err != nil {
			return fmt.Errorf("taking jobs: %w", err)
		}
		routed = len(es)
		if es, err = r.redirect(ctx, tx, es, known); err != nil {
			return fmt.Errorf("redirecting jobs: %w", err)
		}
		if es, err = r.expand(ctx, tx, es); err != nil {
			return fmt.Errorf("finding subscribers: %w", err)
		}
		return r.appendAll(ctx, tx, es)
	})
	return routed, err
}

// lockRouterSQL is [guardSQL] and [database.LazySQL] in one row, and whether the
// lock was had.
const lockRouterSQL = `SELECT g.ours FROM (` + guardSQL + `, ` + database.LazySQL + `, pg_try_advisory_xact_lock($1)) AS g (a, b, c, ours)`

// lockRouter makes this node the one that routes until the end of tx: two
// would race for the sequence numbers of a key. It guards tx as well.
func (r *router) lockRouter(ctx context.Context, tx *database.Tx) error {
	if r.db.Dialect != database.Postgres {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.topic()))
	var ours bool
	if err := tx.GetContext(ctx, &ours, lockRouterSQL, int64(h.Sum64())); err != nil {
		return err
	}
	if !ours {
		return errRouting
	}
	return nil
}

// take removes the oldest jobs from the outbox. There is no cursor: a
// transaction that commits late has an older id than what is routed already.
// It returns the keys with which those of the jobs have become one, too.
func (r *router) take(ctx context.Context, tx *database.Tx, limit int) ([]JobArgs, redirects, error) {
	const take = `DELETE FROM queue_outbox WHERE id IN (SELECT id FROM queue_outbox WHERE queue = $1 ORDER BY id LIMIT $2)
		RETURNING id, subscriber, key, subject, metadata, merged, traceparent,
			COALESCE((SELECT r.target FROM queue_redirect r WHERE r.queue = queue_outbox.queue AND r.key = queue_outbox.key), '')`
	rows, err := tx.QueryContext(ctx, take, r.o.Name, limit)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var bs []outboxRow
	known := redirects{}
	for rows.Next() {
		var b outboxRow
		var target string
		if err := rows.Scan(&b.ID, &b.Subscriber, &b.Key, &b.Subject, &b.Metadata, &b.Merged, &b.Traceparent, &target); err != nil {
			return nil, nil, err
		}
		if target != "" {
			known[b.Key] = target
		}
		bs = append(bs, b)
	}
	slices.SortFunc(bs, func(a, b outboxRow) int { return cmp.Compare(a.ID, b.ID) })
	es := make([]JobArgs, len(bs))
	for i, b := range bs {
		es[i] = b.JobArgs
	}
	return es, known, rows.Err()
}

// expand asks Route for the subscribers of the jobs that name none, in runs,
// so that the order among all jobs stays.
func (r *router) expand(ctx context.Context, tx *database.Tx, es []JobArgs) ([]JobArgs, error) {
	if !slices.ContainsFunc(es, func(e JobArgs) bool { return e.Subscriber == "" }) {
		return es, nil
	}
	if r.o.Route == nil {
		return nil, errors.New("jobs without a subscriber, and the queue has no Route")
	}
	var out []JobArgs
	for len(es) > 0 {
		open := es[0].Subscriber == ""
		end := slices.IndexFunc(es, func(e JobArgs) bool { return (e.Subscriber == "") != open })
		if end < 0 {
			end = len(es)
		}
		part := es[:end]
		if open {
			var err error
			if part, err = r.o.Route(ctx, tx, part); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(part, func(e JobArgs) bool { return e.Subscriber == "" }) {
				return nil, errors.New("the queue's Route returned a job without a subscriber")
			}
		}
		out, es = append(out, part...), es[end:]
	}
	return out, nil
}

// partitionKey names a partition within a queue.
type partitionKey struct{ subscriber, key string }

func (a partitionKey) compare(b partitionKey) int {
	return cmp.Or(cmp.Compare(a.subscriber, b.subscriber), cmp.Compare(a.key, b.key))
}

// appendLimit bounds the rows of one statement.
const appendLimit = 2000

// The jobs of partitions, to be inserted.
const insertItems = `INSERT INTO queue_job (partition_id, seq, seq_offset, subject, traceparent)`

var itemTypes = []string{"BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT"}

// append puts jobs at the ends of their partitions.
func (r *router) append(ctx context.Context, tx *database.Tx, es []JobArgs) error {
	groups := map[partitionKey][]JobArgs{}
	var keys []partitionKey
	for _, e := range es {
		k := partitionKey{e.Subscriber, e.Key}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], e)
	}
	slices.SortFunc(keys, partitionKey.compare) // the order in which everybody locks partitions
	var jobs []any
	for part := range slices.Chunk(keys, appendLimit) {
		more, err := r.extend(ctx, tx, part, groups)
		if err != nil {
			return fmt.Errorf("extending partitions: %w", err)
		}
		jobs = append(jobs, more...)
	}
	if err := r.db.Insert(ctx, tx, insertItems, itemTypes, jobs); err != nil {
		return fmt.Errorf("adding jobs: %w", err)
	}
	return nil
}

// extend makes room in partitions, new ones among them, and returns the columns of
// the jobs that go there.
func (r *router) extend(ctx context.Context, tx *database.Tx, keys []partitionKey, groups map[partitionKey][]JobArgs) ([]any, error) {
	const upsert = `INSERT INTO queue_partition AS l (queue, subscriber, key, tail, ready_us)
		SELECT $1, column1, column2, column3, {now} FROM (%s) AS v WHERE true
		ON CONFLICT (queue, subscriber, key, parked) DO UPDATE SET tail = l.tail + excluded.tail,
			since_us = CASE WHEN l.ready_us IS NULL THEN 0 ELSE l.since_us END,
			ready_us = COALESCE(l.ready_us, CASE WHEN l.blockers > 0 THEN {blocked} ELSE excluded.ready_us END)
		RETURNING id, subscriber, key, tail, seq_offset`
	values := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		values = append(values, k.subscriber, k.key, len(groups[k]))
	}
	list, args := r.db.Dialect.List(2, []string{"TEXT", "TEXT", "BIGINT"}, values)
	rows, err := tx.QueryContext(ctx, fmt.Sprintf(r.sql.text(upsert), list), append([]any{r.o.Name}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var jobs []any
	for rows.Next() {
		var id, tail, offset int64
		var k partitionKey
		if err := rows.Scan(&id, &k.subscriber, &k.key, &tail, &offset); err != nil {
			return nil, err
		}
		es := groups[k]
		for i, e := range es {
			jobs = append(jobs, id, tail-int64(len(es)-1-i), offset, e.Subject, e.Traceparent)
		}
	}
	return jobs, rows.Err()
}
