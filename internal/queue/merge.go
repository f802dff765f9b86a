package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Two keys become one by a job with Merged. The router, which alone orders
// the jobs of a key, reads it at its place in the outbox. The jobs that were put
// before are in the two partitions then. Later ones go to the partition of the
// job's key, the successor. The successor is not claimed before the other partition
// is empty. So neither an attempt in hand nor a wait of the other partition is
// touched: it continues as it is, on whichever node, under the key that it has.
//
// Only the router changes which partition waits for which. A worker that empties a partition with
// a successor says so by a job of the outbox, in the transaction that
// finishes the last job: no worker locks a partition that it does not hold.

// blockedUntil is the ready_us of a partition that waits for others to be empty.
const blockedUntil = int64(1) << 52 // in the year 2112

// merging is what a job of the outbox says of partitions instead of bringing work.
func (e *JobArgs) merging() bool { return e.Merged != "" }

// reviews says that it is to be looked whether the successor of the job's partition
// may continue.
func (e *JobArgs) reviews() bool { return e.Merged == e.Key }

// redirects are the keys that have become one with others.
type redirects map[string]string

// target is the key under which a key is found now.
func (r redirects) target(key string) string {
	for {
		next, merged := r[key]
		if !merged {
			return key
		}
		key = next
	}
}

// redirect gives jobs the keys that theirs have become one with before, and
// remembers the merges among them. known are those of the keys of es that the
// database knows. A merge that has no effect is left out.
func (r *router) redirect(ctx context.Context, tx *database.Tx, es []JobArgs, known redirects) ([]JobArgs, error) {
	const (
		follow = `UPDATE queue_redirect SET target = $1 WHERE queue = $2 AND target = $3`
		insert = `INSERT INTO queue_redirect (queue, key, target, at_us) VALUES ($1, $2, $3, {now})
			ON CONFLICT (queue, key) DO UPDATE SET target = excluded.target`
	)
	out := es[:0]
	for _, e := range es {
		if e.merging() && e.reviews() {
			out = append(out, e) // it names a partition, wherever its key leads
			continue
		}
		e.Key = known.target(e.Key)
		if e.merging() {
			if e.Key == e.Merged {
				continue // they are one already, the other way round
			}
			if _, err := tx.ExecContext(ctx, follow, e.Key, r.o.Name, e.Merged); err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, r.sql.text(insert), r.o.Name, e.Merged, e.Key); err != nil {
				return nil, err
			}
			known[e.Merged] = e.Key
		}
		out = append(out, e)
	}
	return out, nil
}

// appendAll puts jobs into their partitions, in order, and merges partitions where
// a job says so. It locks all partitions first, in the order in which everybody
// does.
func (r *router) appendAll(ctx context.Context, tx *database.Tx, es []JobArgs) error {
	if !slices.ContainsFunc(es, func(e JobArgs) bool { return e.merging() }) {
		return r.append(ctx, tx, es)
	}
	there, err := r.lockAll(ctx, tx, es)
	if err != nil {
		return fmt.Errorf("locking partitions to merge: %w", err)
	}
	for len(es) > 0 {
		end := slices.IndexFunc(es, func(e JobArgs) bool { return e.merging() })
		if end < 0 {
			end = len(es)
		}
		if end > 0 {
			for _, e := range es[:end] {
				there[partitionKey{e.Subscriber, e.Key}] = true
			}
			if err := r.append(ctx, tx, es[:end]); err != nil {
				return err
			}
			es = es[end:]
			continue
		}
		if e := es[0]; there[partitionKey{e.Subscriber, e.Merged}] {
			there[partitionKey{e.Subscriber, e.Key}] = true
			if err := r.merge(ctx, tx, e); err != nil {
				return fmt.Errorf("merging partitions: %w", err)
			}
		}
		es = es[1:]
	}
	return nil
}

// lockAll locks the partitions of jobs and all that wait for them, directly or
// not, and returns which there are.
func (r *router) lockAll(ctx context.Context, tx *database.Tx, es []JobArgs) (map[partitionKey]bool, error) {
	const lock = `WITH RECURSIVE s (id, successor) AS (
			SELECT l.id, l.successor FROM (%s) AS v JOIN queue_partition l ON l.queue = $%d AND l.subscriber = v.column1 AND l.key = v.column2 AND l.parked = 0
			UNION SELECT l.id, l.successor FROM s JOIN queue_partition l ON l.id = s.successor WHERE s.successor > 0)
		SELECT subscriber, key FROM queue_partition WHERE id IN (SELECT id FROM s) ORDER BY subscriber, key, parked {lock}`
	there := map[partitionKey]bool{}
	for _, e := range es {
		there[partitionKey{e.Subscriber, e.Key}] = false
		if e.merging() {
			there[partitionKey{e.Subscriber, e.Merged}] = false
		}
	}
	values := make([]any, 0, 2*len(there))
	for k := range there {
		values = append(values, k.subscriber, k.key)
	}
	list, args := r.db.Dialect.List(1, []string{"TEXT", "TEXT"}, values)
	rows, err := tx.QueryContext(ctx, fmt.Sprintf(r.sql.text(lock), list, len(args)+1), append(args, r.o.Name)...)
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
func (r *router) merge(ctx context.Context, tx *database.Tx, e JobArgs) error {
	const (
		pair = `SELECT ` + linkColumns + ` FROM queue_partition WHERE queue = $1 AND subscriber = $2 AND parked = 0 AND (key = $3 OR key = $4)`
		open = `INSERT INTO queue_partition (queue, subscriber, key, since_us) VALUES ($1, $2, $3, {now}) RETURNING ` + linkColumns
		set  = `UPDATE queue_partition SET successor = $1, successor_seq = $2 WHERE id = $3`
		skip = `UPDATE queue_partition SET seq_offset = $1 WHERE id = $2`
	)
	var both []*link
	if err := tx.SelectContext(ctx, &both, pair, r.o.Name, e.Subscriber, e.Key, e.Merged); err != nil {
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
	if e.reviews() {
		return r.review(ctx, tx, gone)
	}
	if gone.Successor != 0 {
		return nil // it was merged before
	}
	if keep == nil {
		keep = &link{}
		if err := tx.GetContext(ctx, keep, r.sql.text(open), r.o.Name, e.Subscriber, e.Key); err != nil {
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
	return r.review(ctx, tx, gone)
}

// review has the successor of a partition wait for it while there is anything in it,
// or in those for which it waits itself. What of the successor is in hand, was
// there before. Parked jobs hold back no other; but if they are taken back, and
// the successor has finished nothing that came after the merge, it waits again.
func (r *router) review(ctx context.Context, tx *database.Tx, l *link) error {
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
		_, err = tx.ExecContext(ctx, r.sql.text(resume), s.ID)
	}
	if err != nil {
		return err
	}
	return r.review(ctx, tx, s)
}

// reviewTx asks the router to look again whether the successors of partitions
// may continue, or must wait.
func (q *Queue) reviewTx(ctx context.Context, tx *database.Tx, partitions []partitionKey) error {
	slices.SortFunc(partitions, partitionKey.compare)
	es := make([]JobArgs, 0, len(partitions))
	for _, k := range slices.Compact(partitions) {
		es = append(es, JobArgs{Subscriber: k.subscriber, Key: k.key, Merged: k.key})
	}
	return q.PutTx(ctx, tx, es...)
}
