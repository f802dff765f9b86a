package lane

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// rejoinLimit bounds the lanes that one pause takes back; the next takes more.
const rejoinLimit = 100

// apart is the lane of a detached item, and the lane that it left.
type apart struct {
	ID, Detached   int64
	Attempt, Epoch int64
	Since          int64 `db:"since_us"`
	Left           int64
	Key            string
	Successor      int64 // of the lane that it left
}

// rejoin takes detached items of a paused consumer back to the heads of their
// lanes if nothing that came after them was finished: they were not refused
// while others passed, the consumer was down all the while. What others have
// locked or hold is left alone: it pauses, too, or is not down.
func (n *node) rejoin(ctx context.Context, tx *sqlx.Tx, consumer string) error {
	const (
		detached = `SELECT d.id, d.detached, d.attempt, d.epoch, d.since_us, l.id AS "left", l.key, l.successor FROM lane_lane d
			JOIN lane_lane l ON l.queue = d.queue AND l.consumer = d.consumer AND l.key = d.key AND l.detached = 0
			WHERE d.queue = $1 AND d.consumer = $2 AND d.detached > 0 AND d.holder = '' AND l.holder = ''
			ORDER BY d.key, d.detached DESC LIMIT $3 {skip}`
		back = `UPDATE lane_lane SET head = CAST($1 AS BIGINT) - 1, attempt = $2, since_us = $3,
			ready_us = CASE WHEN blockers > 0 THEN {blocked} ELSE {now} END,
			epoch = CASE WHEN epoch < $4 THEN $4 ELSE epoch END WHERE id = $5 AND head = $1`
		item = `UPDATE lane_item SET lane_id = $1 WHERE lane_id = $2 AND seq = $3`
		lane = `DELETE FROM lane_lane WHERE id = $1`
	)
	var all []apart
	if err := tx.SelectContext(ctx, &all, n.sql.text(detached), n.o.Name, consumer, rejoinLimit); err != nil {
		return err
	}
	var merged []laneKey
	for _, d := range all {
		res, err := tx.ExecContext(ctx, n.sql.text(back), d.Detached, d.Attempt, d.Since, d.Epoch, d.Left)
		if err != nil {
			return err
		}
		if rows, err := res.RowsAffected(); err != nil {
			return err
		} else if rows == 0 {
			continue // something after it was finished
		}
		if _, err := tx.ExecContext(ctx, item, d.Left, d.ID, d.Detached); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, lane, d.ID); err != nil {
			return err
		}
		if d.Successor != 0 {
			merged = append(merged, laneKey{consumer, d.Key})
		}
	}
	return n.reviewTx(ctx, tx, merged)
}
