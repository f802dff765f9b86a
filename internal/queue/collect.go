package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	collectInterval = 24 * time.Hour
	idleFor         = 90 * 24 * time.Hour
	collectLimit    = 500
)

// collectAll deletes partitions that were idle for long, from time to time.
func (q *Queue) collectAll(ctx context.Context) {
	for {
		if err := q.collect(ctx); err != nil && ctx.Err() == nil {
			q.log.WarnContext(ctx, "deleting idle partitions failed", "error", err)
		}
		if !await(ctx, collectInterval) {
			return
		}
	}
}

func (q *Queue) collect(ctx context.Context) error {
	const (
		idle = `SELECT id FROM queue_partition l WHERE l.queue = $1 AND l.ready_us IS NULL AND l.since_us < {now} - $2 AND l.blockers = 0 AND l.blocking = 0
			AND NOT EXISTS (SELECT 1 FROM queue_partition d WHERE d.queue = l.queue AND d.subscriber = l.subscriber AND d.key = l.key AND d.parked > 0)
			LIMIT $3`
		// What others have locked is about to be used.
		remove = `DELETE FROM queue_partition WHERE id IN
			(SELECT id FROM queue_partition WHERE id IN (%s) AND ready_us IS NULL AND blockers = 0 AND blocking = 0 {skip})`
	)
	for {
		var ids []int64
		err := q.db.SelectContext(ctx, &ids, q.sql.text(idle), q.o.Name, idleFor.Microseconds(), collectLimit)
		if err != nil || len(ids) == 0 {
			return err
		}
		rows := make([][]int64, len(ids))
		for i, id := range ids {
			rows[i] = []int64{id}
		}
		err = q.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf(q.sql.text(remove), numbers(rows)))
			return err
		})
		if err != nil {
			return err
		}
	}
}
