package queue

import (
	"context"
	"fmt"
	"time"
)

// Stats is the state of a queue, for metrics.
type Stats struct {
	Unrouted int64         // jobs that are not in partitions yet
	Ready    int64         // jobs of partitions that may be claimed
	Leased   int64         // jobs of partitions that nodes work on
	Waiting  int64         // jobs of partitions whose head waits for its next attempt
	Paused   int           // subscribers that are paused, or on probe after a pause
	Oldest   time.Duration // how long the longest has waited that nothing keeps from being worked on
	Fenced   int64         // partitions whose work outlived its lease, since this process began
}

// Stats counts what is queued. It reads all partitions that are not idle.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	const (
		partitions = `SELECT
				COALESCE(SUM(CASE WHEN holder <> '' THEN tail - head END), 0) AS held,
				COALESCE(SUM(CASE WHEN holder = '' AND ready_us <= {now} THEN tail - head END), 0) AS ready,
				COALESCE(SUM(CASE WHEN holder = '' AND ready_us > {now} THEN tail - head END), 0) AS waiting,
				COALESCE({now} - MIN(CASE WHEN holder = '' AND ready_us <= {now} AND NOT EXISTS
					(SELECT 1 FROM queue_subscriber c WHERE c.queue = l.queue AND c.subscriber = l.subscriber) THEN ready_us END), 0) AS oldest
			FROM queue_partition l WHERE queue = $1 AND ready_us IS NOT NULL`
		boxed = `SELECT COUNT(*) AS unrouted, COALESCE({now} - MIN(at_us), 0) AS oldest FROM queue_outbox WHERE queue = $1`
		pause = `SELECT COUNT(*) FROM queue_subscriber WHERE queue = $1`
	)
	var l struct{ Held, Ready, Waiting, Oldest int64 }
	var b struct{ Unrouted, Oldest int64 }
	s := Stats{Fenced: q.fenced.Load()}
	for _, get := range []struct {
		dest any
		text string
	}{{&b, boxed}, {&l, partitions}, {&s.Paused, pause}} { // the outbox first: what leaves it is in a partition
		if err := q.db.GetContext(ctx, get.dest, q.sql.text(get.text), q.o.Name); err != nil {
			return Stats{}, fmt.Errorf("counting queue %s: %w", q.o.Name, err)
		}
	}
	s.Unrouted, s.Leased, s.Ready, s.Waiting = b.Unrouted, l.Held, l.Ready, l.Waiting
	s.Oldest = time.Duration(max(l.Oldest, b.Oldest)) * time.Microsecond
	return s, nil
}

// First is the least subject among those that are next in their partitions, or not
// in partitions yet; "" when all work is done. Of subjects that rise with time it is
// the oldest. It reads the head of every partition that is not idle.
func (q *Queue) First(ctx context.Context) (string, error) {
	const first = `SELECT COALESCE(MIN(subject), '') FROM (
		SELECT subject FROM queue_outbox WHERE queue = $1
		UNION ALL SELECT i.subject FROM queue_partition l JOIN queue_job i ON i.partition_id = l.id AND i.seq = l.head + 1
			WHERE l.queue = $1 AND l.ready_us IS NOT NULL) s`
	var subject string
	if err := q.db.GetContext(ctx, &subject, first, q.o.Name); err != nil {
		return "", fmt.Errorf("reading the heads of queue %s: %w", q.o.Name, err)
	}
	return subject, nil
}

// Fenced is [Stats].Fenced, which needs no database.
func (q *Queue) Fenced() int64 { return q.fenced.Load() }
