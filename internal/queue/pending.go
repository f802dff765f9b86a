package lane

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Pending is an item that is not finished.
type Pending struct {
	Item
	Next time.Time // when it is to be tried; zero while it is tried, or waits behind another
}

// Pending lists items of consumers that are in lanes, by falling subject and
// consumer, from what is before the pair of before; its zero value begins the
// list. It reads all that waits for these consumers: it is for people.
func (q *Queue) Pending(ctx context.Context, consumers []string, before Entry, limit int) ([]Pending, error) {
	const pending = `SELECT l.consumer, l.key, i.subject, i.seq + i.seq_offset,
			CASE WHEN i.seq = l.head + 1 THEN l.attempt ELSE 0 END AS attempt,
			CASE WHEN i.seq = l.head + 1 THEN l.since_us ELSE 0 END AS since,
			CASE WHEN i.seq > l.head + 1 OR l.holder <> '' OR l.blockers > 0 THEN 0
				WHEN c.paused_us > l.ready_us THEN c.paused_us ELSE COALESCE(l.ready_us, 0) END AS next
		FROM lane_lane l JOIN lane_item i ON i.lane_id = l.id
		LEFT JOIN lane_consumer c ON c.queue = l.queue AND c.consumer = l.consumer
		WHERE l.queue = $1 AND ($2 = '' OR (i.subject, l.consumer) < ($2, $3)) AND l.ready_us IS NOT NULL AND l.consumer IN `
	if len(consumers) == 0 || limit <= 0 {
		return nil, nil
	}
	args := []any{q.o.Name, before.Subject, before.Consumer}
	for _, c := range consumers {
		args = append(args, c)
	}
	list := q.db.Dialect.Values(1, len(consumers), 4)
	order := fmt.Sprintf(` ORDER BY i.subject DESC, l.consumer DESC LIMIT %d`, limit)
	rows, err := q.db.QueryContext(ctx, pending+list+order, args...)
	if err != nil {
		return nil, fmt.Errorf("listing queue %s: %w", q.o.Name, err)
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var out []Pending
	for rows.Next() {
		var p Pending
		var since, next int64
		if err := rows.Scan(&p.Consumer, &p.Key, &p.Subject, &p.Seq, &p.Attempt, &since, &next); err != nil {
			return nil, fmt.Errorf("listing queue %s: %w", q.o.Name, err)
		}
		p.Since, p.Next = database.Time(since), database.Time(next)
		out = append(out, p)
	}
	return out, rows.Err()
}
