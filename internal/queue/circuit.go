package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// standing are the pauses that Complete has not taken back. It may run again, so
// the runs stay as they are.
func (f *finished) standing() map[*run]time.Duration {
	pauses, end := map[*run]time.Duration{}, 0
	for _, r := range f.runs {
		end += len(r.recorded())
		if r.pause > 0 && f.outs[end-1].Result == OpenCircuit { // only the last of a run can be one
			pauses[r] = r.pause
		}
	}
	return pauses
}

// openCircuits writes which subscribers are paused, or no longer.
func (c *completer) openCircuits(ctx context.Context, tx *database.Tx, won finished) error {
	const (
		pause = `INSERT INTO queue_subscriber AS c (queue, subscriber, paused_us, probe) VALUES ($1, $2, {now} + $3, '')
			ON CONFLICT (queue, subscriber) DO UPDATE SET
				paused_us = CASE WHEN c.probe <> '' OR c.paused_us > excluded.paused_us THEN c.paused_us ELSE excluded.paused_us END`
		again = `UPDATE queue_subscriber SET paused_us = {now} + $3, probe = '', probes = probes + CASE WHEN $3 > 0 THEN 1 ELSE 0 END
			WHERE queue = $1 AND subscriber = $2`
		resume = `DELETE FROM queue_subscriber WHERE queue = $1 AND subscriber = $2`
	)
	standing := won.standing()
	changed := slices.DeleteFunc(slices.Clone(won.runs), func(r *run) bool { return standing[r] == 0 && !r.probe })
	slices.SortFunc(changed, func(a, b *run) int { return cmp.Compare(a.subscriber, b.subscriber) })
	for _, r := range changed {
		query, args := pause, []any{c.o.Name, r.subscriber, standing[r].Microseconds()}
		switch {
		case r.probe && r.worked:
			query, args = resume, args[:2]
		case r.probe: // without a pause the next job is tried at once; the row may have been resumed away
			query = again
		}
		if _, err := tx.ExecContext(ctx, c.sql.text(query), args...); err != nil {
			return err
		}
		if standing[r] > 0 {
			if err := c.rejoin(ctx, tx, r.subscriber); err != nil {
				return fmt.Errorf("taking parked jobs back: %w", err)
			}
		}
	}
	return nil
}

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
func (c *completer) rejoin(ctx context.Context, tx *database.Tx, subscriber string) error {
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
	if err := tx.SelectContext(ctx, &all, c.sql.text(parked), c.o.Name, subscriber, rejoinLimit); err != nil {
		return err
	}
	var merged []partitionKey
	for _, d := range all {
		res, err := tx.ExecContext(ctx, c.sql.text(back), d.Parked, d.Attempt, d.Since, d.Epoch, d.Left)
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
	return c.reviewTx(ctx, tx, merged)
}
