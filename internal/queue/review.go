package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

// reviewTx has it looked whether the successors of partitions may continue, or must
// wait again.
func (q *Queue) reviewTx(ctx context.Context, tx *database.Tx, keys []partitionKey) error {
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, partitionKey.compare)
	var values []any
	for _, k := range slices.Compact(keys) {
		values = append(values, q.o.Name, k.subscriber, k.key)
	}
	tx.NotifyAfter(q.topic())
	return q.db.Insert(ctx, tx, `INSERT INTO queue_review (queue, subscriber, key)`, []string{"TEXT", "TEXT", "TEXT"}, values)
}

// reviewLimit bounds the partitions of one review.
const reviewLimit = 500

// reviewAll looks at the successors of partitions that workers have emptied, or that
// have work again.
func (q *Queue) reviewAll(ctx context.Context) error {
	const (
		lock = `SELECT pg_try_advisory_xact_lock($1)`
		take = `DELETE FROM queue_review WHERE id IN (SELECT id FROM queue_review WHERE queue = $1 ORDER BY id LIMIT $2) RETURNING subscriber, key`
		find = `SELECT ` + linkColumns + ` FROM queue_partition WHERE queue = $1 AND subscriber = $2 AND key = $3 AND parked = 0`
	)
	return q.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *database.Tx) error {
		ours := true
		if q.db.Dialect == database.Postgres {
			if err := tx.GetContext(ctx, &ours, lock, q.mergesLock()); err != nil {
				return err
			}
		}
		if !ours {
			return nil // another node does it, or merges
		}
		var rows []struct{ Subscriber, Key string }
		if err := tx.SelectContext(ctx, &rows, take, q.o.Name, reviewLimit); err != nil || len(rows) == 0 {
			return err
		}
		keys := make([]partitionKey, len(rows))
		for i, r := range rows {
			keys[i] = partitionKey{r.Subscriber, r.Key}
		}
		slices.SortFunc(keys, partitionKey.compare)
		keys = slices.Compact(keys)
		if _, err := q.lockAll(ctx, tx, keys); err != nil {
			return fmt.Errorf("locking partitions: %w", err)
		}
		for _, k := range keys {
			var found []*link
			if err := tx.SelectContext(ctx, &found, find, q.o.Name, k.subscriber, k.key); err != nil {
				return err
			}
			for _, l := range found {
				if err := q.review(ctx, tx, l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
