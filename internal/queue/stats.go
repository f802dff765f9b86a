package lane

import (
	"context"
	"fmt"
	"time"
)

// Stats is the state of a queue, for metrics.
type Stats struct {
	Unrouted int64         // entries that are not in lanes yet
	Ready    int64         // items of lanes that may be claimed
	Held     int64         // items of lanes that nodes work on
	Waiting  int64         // items of lanes whose head waits for its next attempt
	Paused   int           // consumers that are paused, or on trial after a pause
	Oldest   time.Duration // how long the longest has waited that nothing keeps from being worked on
	Fenced   int64         // lanes whose work outlived its lease, since this process began
}

// Stats counts what is queued. It reads all lanes that are not idle.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	const (
		lanes = `SELECT
				COALESCE(SUM(CASE WHEN holder <> '' THEN tail - head END), 0) AS held,
				COALESCE(SUM(CASE WHEN holder = '' AND ready_us <= {now} THEN tail - head END), 0) AS ready,
				COALESCE(SUM(CASE WHEN holder = '' AND ready_us > {now} THEN tail - head END), 0) AS waiting,
				COALESCE({now} - MIN(CASE WHEN holder = '' AND ready_us <= {now} AND NOT EXISTS
					(SELECT 1 FROM lane_consumer c WHERE c.queue = l.queue AND c.consumer = l.consumer) THEN ready_us END), 0) AS oldest
			FROM lane_lane l WHERE queue = $1 AND ready_us IS NOT NULL`
		boxed = `SELECT COUNT(*) AS unrouted, COALESCE({now} - MIN(at_us), 0) AS oldest FROM lane_outbox WHERE queue = $1`
		pause = `SELECT COUNT(*) FROM lane_consumer WHERE queue = $1`
	)
	var l struct{ Held, Ready, Waiting, Oldest int64 }
	var b struct{ Unrouted, Oldest int64 }
	s := Stats{Fenced: q.fenced.Load()}
	for _, get := range []struct {
		dest any
		text string
	}{{&b, boxed}, {&l, lanes}, {&s.Paused, pause}} { // the outbox first: what leaves it is in a lane
		if err := q.db.GetContext(ctx, get.dest, q.sql.text(get.text), q.o.Name); err != nil {
			return Stats{}, fmt.Errorf("counting queue %s: %w", q.o.Name, err)
		}
	}
	s.Unrouted, s.Held, s.Ready, s.Waiting = b.Unrouted, l.Held, l.Ready, l.Waiting
	s.Oldest = time.Duration(max(l.Oldest, b.Oldest)) * time.Microsecond
	return s, nil
}

// First is the least subject among those that are next in their lanes, or not
// in lanes yet; "" when all work is done. Of subjects that rise with time it is
// the oldest. It reads the head of every lane that is not idle.
func (q *Queue) First(ctx context.Context) (string, error) {
	const first = `SELECT COALESCE(MIN(subject), '') FROM (
		SELECT subject FROM lane_outbox WHERE queue = $1
		UNION ALL SELECT i.subject FROM lane_lane l JOIN lane_item i ON i.lane_id = l.id AND i.seq = l.head + 1
			WHERE l.queue = $1 AND l.ready_us IS NOT NULL) s`
	var subject string
	if err := q.db.GetContext(ctx, &subject, first, q.o.Name); err != nil {
		return "", fmt.Errorf("reading the heads of queue %s: %w", q.o.Name, err)
	}
	return subject, nil
}

// Fenced is [Stats].Fenced, which needs no database.
func (q *Queue) Fenced() int64 { return q.fenced.Load() }
