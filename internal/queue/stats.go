package queue

import (
	"context"
	"fmt"
	"time"
)

// Stats is the state of a queue, for metrics.
type Stats struct {
	Ready   int64         // jobs of partitions that may be claimed
	Leased  int64         // jobs of partitions that nodes work on
	Waiting int64         // jobs of partitions whose head waits for its next attempt
	Paused  int           // subscribers that are paused, or on probe after a pause
	Oldest  time.Duration // how long the longest has waited that nothing keeps from being worked on
	Fenced  int64         // partitions whose work outlived its lease, since this process began
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
		pause = `SELECT COUNT(*) FROM queue_subscriber WHERE queue = $1`
	)
	var l struct{ Held, Ready, Waiting, Oldest int64 }
	s := Stats{Fenced: q.fenced.Load()}
	for _, get := range []struct {
		dest any
		text string
	}{{&l, partitions}, {&s.Paused, pause}} {
		if err := q.db.GetContext(ctx, get.dest, q.sql.text(get.text), q.o.Name); err != nil {
			return Stats{}, fmt.Errorf("counting queue %s: %w", q.o.Name, err)
		}
	}
	s.Leased, s.Ready, s.Waiting = l.Held, l.Ready, l.Waiting
	s.Oldest = time.Duration(l.Oldest) * time.Microsecond
	return s, nil
}

// First is the least subject among those that are next in their partitions; "" when
// all work is done. Of subjects that rise with time it is
// the oldest. It reads the head of every partition that is not idle.
func (q *Queue) First(ctx context.Context) (string, error) {
	const first = `SELECT COALESCE(MIN(i.subject), '') FROM queue_partition l JOIN queue_job i ON i.partition_id = l.id AND i.seq = l.head + 1
		WHERE l.queue = $1 AND l.ready_us IS NOT NULL`
	var subject string
	if err := q.db.GetContext(ctx, &subject, first, q.o.Name); err != nil {
		return "", fmt.Errorf("reading the heads of queue %s: %w", q.o.Name, err)
	}
	return subject, nil
}

// Fenced is [Stats].Fenced, which needs no database.
func (q *Queue) Fenced() int64 { return q.fenced.Load() }
