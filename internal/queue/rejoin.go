package queue

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// rejoinLimit bounds the partitions that one pause takes back; the next takes more.
const rejoinLimit = 100

// parkedJob is the partition of a parked job, and the partition that it left.
type parkedJob struct {
	ID, Parked     int64
	Attempt, Epoch int64
	Since          int64 `db:"since_us"`
	Left           int64
	Key            string
	Successor      int64 // of the partition that it left
}

// rejoin takes parked jobs of a paused subscriber back to the heads of their
// partitions if nothing that came after them was finished: they were not refused
// while others passed, the subscriber was down all the while. What others have
// locked or hold is left alone: it pauses, too, or is not down.
func (n *node) rejoin(ctx context.Context, tx *sqlx.Tx, subscriber string) error {
	const (
		parked = `SELECT d.id, d.parked, d.attempt, d.epoch, d.since_us, l.id AS "left", l.key, l.successor FROM queue_partition d
			JOIN queue_partition l ON l.queue = d.queue AND l.subscriber = d.subscriber AND l.key = d.key AND l.parked = 0
			WHERE d.queue = $1 AND d.subscriber = $2 AND d.parked > 0 AND d.holder = '' AND l.holder = ''
			ORDER BY d.key, d.parked DESC LIMIT $3 {skip}`
		back = `UPDATE queue_partition SET head = CAST($1 AS BIGINT) - 1, attempt = $2, since_us = $3,
			ready_us = CASE WHEN blockers > 0 THEN {blocked} ELSE {now} END,
			epoch = CASE WHEN epoch < $4 THEN $4 ELSE epoch END WHERE id = $5 AND head = $1`
		job       = `UPDATE queue_job SET partition_id = $1 WHERE partition_id = $2 AND seq = $3`
		partition = `DELETE FROM queue_partition WHERE id = $1`
	)
	var all []parkedJob
	if err := tx.SelectContext(ctx, &all, n.sql.text(parked), n.o.Name, subscriber, rejoinLimit); err != nil {
		return err
	}
	var merged []partitionKey
	for _, d := range all {
		res, err := tx.ExecContext(ctx, n.sql.text(back), d.Parked, d.Attempt, d.Since, d.Epoch, d.Left)
		if err != nil {
			return err
		}
		if rows, err := res.RowsAffected(); err != nil {
			return err
		} else if rows == 0 {
			continue // something after it was finished
		}
		if _, err := tx.ExecContext(ctx, job, d.Left, d.ID, d.Parked); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, partition, d.ID); err != nil {
			return err
		}
		if d.Successor != 0 {
			merged = append(merged, partitionKey{subscriber, d.Key})
		}
	}
	return n.reviewTx(ctx, tx, merged)
}
