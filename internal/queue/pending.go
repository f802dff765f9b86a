package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Pending is a job that is not finished.
type Pending struct {
	Job
	Next time.Time // when it is to be tried; zero while it is tried, or waits behind another
}

// Pending lists jobs of subscribers that are in partitions, by falling subject and
// subscriber, from what is before the pair of before; its zero value begins the
// list. It reads all that waits for these subscribers: it is for people.
func (q *Queue) Pending(ctx context.Context, subscribers []string, before JobArgs, limit int) ([]Pending, error) {
	const pending = `SELECT l.subscriber, l.key, i.subject, i.seq + i.seq_offset,
			CASE WHEN i.seq = l.head + 1 THEN l.attempt ELSE 0 END AS attempt,
			CASE WHEN i.seq = l.head + 1 THEN l.since_us ELSE 0 END AS since,
			CASE WHEN i.seq > l.head + 1 OR l.holder <> '' OR l.blockers > 0 THEN 0
				WHEN c.paused_us > l.ready_us THEN c.paused_us ELSE COALESCE(l.ready_us, 0) END AS next
		FROM queue_partition l JOIN queue_job i ON i.partition_id = l.id
		LEFT JOIN queue_subscriber c ON c.queue = l.queue AND c.subscriber = l.subscriber
		WHERE l.queue = $1 AND ($2 = '' OR (i.subject, l.subscriber) < ($2, $3)) AND l.ready_us IS NOT NULL AND l.subscriber IN `
	if len(subscribers) == 0 || limit <= 0 {
		return nil, nil
	}
	args := []any{q.o.Name, before.Subject, before.Subscriber}
	for _, c := range subscribers {
		args = append(args, c)
	}
	list := q.db.Dialect.Values(1, len(subscribers), 4)
	order := fmt.Sprintf(` ORDER BY i.subject DESC, l.subscriber DESC LIMIT %d`, limit)
	rows, err := q.db.QueryContext(ctx, pending+list+order, args...)
	if err != nil {
		return nil, fmt.Errorf("listing queue %s: %w", q.o.Name, err)
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var out []Pending
	for rows.Next() {
		var p Pending
		var since, next int64
		if err := rows.Scan(&p.Subscriber, &p.Key, &p.Subject, &p.Seq, &p.Attempt, &since, &next); err != nil {
			return nil, fmt.Errorf("listing queue %s: %w", q.o.Name, err)
		}
		p.Since, p.Next = database.Time(since), database.Time(next)
		out = append(out, p)
	}
	return out, rows.Err()
}
