package queue

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Two keys become one by a job with Merged, in the transaction that puts it, whose
// caller holds the locks of both keys. The jobs that were put before are in the two
// partitions then. Later ones go to the partition of the job's key, the successor.
// The successor is not claimed before the other partition is empty. So neither an
// attempt in hand nor a wait of the other partition is touched: it continues as it
// is, on whichever node, under the key that it has.
//
// Only mergers change which partition waits for which, one at a time. A worker that
// empties a partition with a successor writes a row of queue_review, in the
// transaction that finishes the last job: no worker locks a partition that it does
// not hold. See review.go.

// blockedUntil is the ready_us of a partition that waits for others to be empty.
const blockedUntil = int64(1) << 52 // in the year 2112

// lockMergesSQL makes a transaction the only one that changes which partitions of a
// queue wait for which.
const lockMergesSQL = `SELECT pg_advisory_xact_lock($1)`

// mergesLock is the number of that lock.
func (q *Queue) mergesLock() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(q.topic()))
	return int64(h.Sum64())
}

// mergeTx puts jobs of the queue, some of which merge keys, in order. It locks all
// partitions first, in the order in which everybody does.
func (q *Queue) mergeTx(ctx context.Context, tx *database.Tx, jobs []put) error {
	if q.db.Dialect == database.Postgres {
		if _, err := tx.ExecContext(ctx, lockMergesSQL, q.mergesLock()); err != nil {
			return err
		}
	}
	known, err := q.redirects(ctx, tx, jobs)
	if err != nil {
		return err
	}
	if jobs, err = q.redirect(ctx, tx, jobs, known); err != nil {
		return fmt.Errorf("redirecting jobs: %w", err)
	}
	there, err := q.lockAll(ctx, tx, partitionsOf(jobs))
	if err != nil {
		return fmt.Errorf("locking partitions to merge: %w", err)
	}
	for len(jobs) > 0 {
		end := slices.IndexFunc(jobs, func(j put) bool { return j.Merged != "" })
		if end < 0 {
			end = len(jobs)
		}
		if end > 0 {
			for _, j := range jobs[:end] {
				there[partitionKey{j.Subscriber, j.Key}] = true
			}
			if err := q.extend(ctx, tx, jobs[:end]); err != nil {
				return err
			}
			jobs = jobs[end:]
			continue
		}
		if j := jobs[0]; there[partitionKey{j.Subscriber, j.Merged}] {
			there[partitionKey{j.Subscriber, j.Key}] = true
			if err := q.merge(ctx, tx, j.JobArgs); err != nil {
				return fmt.Errorf("merging partitions: %w", err)
			}
		}
		jobs = jobs[1:]
	}
	return nil
}

// redirects are the keys that have become one with others, in each queue.
type redirects map[redirect]string

type redirect struct{ queue, key string }

// target is the key under which a key is found now.
func (r redirects) target(queue, key string) string {
	for {
		next, merged := r[redirect{queue, key}]
		if !merged {
			return key
		}
		key = next
	}
}

// redirects reads those of the keys of jobs.
func (q *Queue) redirects(ctx context.Context, tx *database.Tx, jobs []put) (redirects, error) {
	values := make([]any, 0, 2*len(jobs))
	for _, j := range jobs {
		values = append(values, j.queue.o.Name, j.Key)
	}
	rows, err := database.SelectRows[struct{ Queue, Key, Target string }](ctx, q.db, tx, database.Rows{
		Before: `SELECT queue, key, target FROM queue_redirect WHERE (queue, key) IN (`, After: `)`,
		Types: []string{"TEXT", "TEXT"}, Values: values, Set: true,
	})
	if err != nil {
		return nil, fmt.Errorf("reading merged keys: %w", err)
	}
	known := redirects{}
	for _, r := range rows {
		known[redirect{r.Queue, r.Key}] = r.Target
	}
	return known, nil
}

// redirect gives jobs the keys that theirs have become one with before, and
// remembers the merges among them. A merge that has no effect is left out.
func (q *Queue) redirect(ctx context.Context, tx *database.Tx, jobs []put, known redirects) ([]put, error) {
	const (
		follow = `UPDATE queue_redirect SET target = $1 WHERE queue = $2 AND target = $3`
		insert = `INSERT INTO queue_redirect (queue, key, target, at_us) VALUES ($1, $2, $3, {now})
			ON CONFLICT (queue, key) DO UPDATE SET target = excluded.target`
	)
	out := jobs[:0]
	for _, j := range jobs {
		j.Key = known.target(q.o.Name, j.Key)
		if j.Merged != "" {
			if j.Key == j.Merged {
				continue // they are one already, the other way round
			}
			if _, err := tx.ExecContext(ctx, follow, j.Key, q.o.Name, j.Merged); err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, q.sql.text(insert), q.o.Name, j.Merged, j.Key); err != nil {
				return nil, err
			}
			known[redirect{q.o.Name, j.Merged}] = j.Key
		}
		out = append(out, j)
	}
	return out, nil
}

// partitionsOf are the partitions that jobs name.
func partitionsOf(jobs []put) []partitionKey {
	keys := make([]partitionKey, 0, len(jobs))
	for _, j := range jobs {
		keys = append(keys, partitionKey{j.Subscriber, j.Key})
		if j.Merged != "" {
			keys = append(keys, partitionKey{j.Subscriber, j.Merged})
		}
	}
	return keys
}

// lockAll locks partitions and all that wait for them, directly or not, and returns
// which there are.
func (q *Queue) lockAll(ctx context.Context, tx *database.Tx, keys []partitionKey) (map[partitionKey]bool, error) {
	const lock = `WITH RECURSIVE s (id, successor) AS (
			SELECT l.id, l.successor FROM (%s) AS v JOIN queue_partition l ON l.queue = $%d AND l.subscriber = v.column1 AND l.key = v.column2 AND l.parked = 0
			UNION SELECT l.id, l.successor FROM s JOIN queue_partition l ON l.id = s.successor WHERE s.successor > 0)
		SELECT subscriber, key FROM queue_partition WHERE id IN (SELECT id FROM s) ORDER BY subscriber, key, parked {lock}`
	there := map[partitionKey]bool{}
	for _, k := range keys {
		there[k] = false
	}
	if len(there) == 0 {
		return there, nil
	}
	values := make([]any, 0, 2*len(there))
	for k := range there {
		values = append(values, k.subscriber, k.key)
	}
	list, args := q.db.Dialect.List(1, []string{"TEXT", "TEXT"}, values)
	rows, err := tx.QueryContext(ctx, fmt.Sprintf(q.sql.text(lock), list, len(args)+1), append(args, q.o.Name)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	for rows.Next() {
		var k partitionKey
		if err := rows.Scan(&k.subscriber, &k.key); err != nil {
			return nil, err
		}
		there[k] = true
	}
	return there, rows.Err()
}

// link is a partition as far as it waits for others, and others for it.
type link struct {
	ID           int64  `db:"id"`
	Key          string `db:"key"`
	Head         int64  `db:"head"`
	Tail         int64  `db:"tail"`
	Offset       int64  `db:"seq_offset"`
	Busy         bool   `db:"busy"`
	Blockers     int64  `db:"blockers"`
	Successor    int64  `db:"successor"`
	SuccessorSeq int64  `db:"successor_seq"`
	Blocking     int64  `db:"blocking"`
}

const linkColumns = `id, key, head, tail, seq_offset, ready_us IS NOT NULL AS busy, blockers, successor, successor_seq, blocking`

// merge makes a partition wait for another, whose key has become one with its own.
func (q *Queue) merge(ctx context.Context, tx *database.Tx, e JobArgs) error {
	const (
		pair = `SELECT ` + linkColumns + ` FROM queue_partition WHERE queue = $1 AND subscriber = $2 AND parked = 0 AND (key = $3 OR key = $4)`
		open = `INSERT INTO queue_partition (queue, subscriber, key, since_us) VALUES ($1, $2, $3, {now}) RETURNING ` + linkColumns
		set  = `UPDATE queue_partition SET successor = $1, successor_seq = $2 WHERE id = $3`
		skip = `UPDATE queue_partition SET seq_offset = $1 WHERE id = $2`
	)
	var both []*link
	if err := tx.SelectContext(ctx, &both, pair, q.o.Name, e.Subscriber, e.Key, e.Merged); err != nil {
		return err
	}
	var keep, gone *link
	for _, l := range both {
		if l.Key == e.Merged {
			gone = l
		} else {
			keep = l
		}
	}
	if gone == nil {
		return nil
	}
	if gone.Successor != 0 {
		return nil // it was merged before
	}
	if keep == nil {
		keep = &link{}
		if err := tx.GetContext(ctx, keep, q.sql.text(open), q.o.Name, e.Subscriber, e.Key); err != nil {
			return err
		}
	}
	if shown := gone.Tail + gone.Offset; shown > keep.Tail+keep.Offset {
		keep.Offset = shown - keep.Tail
		if _, err := tx.ExecContext(ctx, skip, keep.Offset, keep.ID); err != nil {
			return err
		}
	}
	gone.Successor, gone.SuccessorSeq = keep.ID, keep.Tail
	if _, err := tx.ExecContext(ctx, set, gone.Successor, gone.SuccessorSeq, gone.ID); err != nil {
		return err
	}
	return q.review(ctx, tx, gone)
}

// review has the successor of a partition wait for it while there is anything in it,
// or in those for which it waits itself. What of the successor is in hand, was
// there before. Parked jobs hold back no other; but if they are taken back, and
// the successor has finished nothing that came after the merge, it waits again.
func (q *Queue) review(ctx context.Context, tx *database.Tx, l *link) error {
	const (
		next   = `SELECT ` + linkColumns + ` FROM queue_partition WHERE id = $1`
		block  = `UPDATE queue_partition SET blocking = $1 WHERE id = $2`
		count  = `UPDATE queue_partition SET blockers = $1 WHERE id = $2`
		stop   = `UPDATE queue_partition SET ready_us = $1 WHERE id = $2 AND ready_us IS NOT NULL AND holder = ''`
		resume = `UPDATE queue_partition SET ready_us = {now} WHERE id = $1 AND ready_us IS NOT NULL AND holder = ''`
	)
	if l.Successor == 0 {
		return nil
	}
	var chain []*link
	if err := tx.SelectContext(ctx, &chain, next, l.Successor); err != nil || len(chain) == 0 {
		return err
	}
	s, wants := chain[0], l.Busy || l.Blockers > 0
	switch {
	case wants == (l.Blocking > 0):
		return nil
	case wants && s.Head > l.SuccessorSeq:
		return nil // it is too late
	case wants:
		l.Blocking = 1
	default:
		l.Blocking = 0
	}
	before := s.Blockers
	s.Blockers += 2*l.Blocking - 1
	if _, err := tx.ExecContext(ctx, block, l.Blocking, l.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, count, s.Blockers, s.ID); err != nil {
		return err
	}
	var err error
	switch {
	case before > 0 && s.Blockers > 0:
		return nil
	case s.Blockers > 0:
		_, err = tx.ExecContext(ctx, stop, blockedUntil, s.ID)
	default:
		_, err = tx.ExecContext(ctx, q.sql.text(resume), s.ID)
	}
	if err != nil {
		return err
	}
	return q.review(ctx, tx, s)
}
