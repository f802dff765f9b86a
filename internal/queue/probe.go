package lane

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// oldestOnly is how many trials fail with the oldest item before others are
// made, too: every other one with the lane that has waited longest for a trial.
// The oldest item may be the one that the consumer fails on.
const oldestOnly = 12

// tryPaused claims the lane of one item of a consumer whose pause has passed.
// Only one node gets to try.
func (c *claimer) tryPaused(ctx context.Context, x candidate) (runs []*run, err error) {
	const (
		try = `UPDATE lane_consumer SET paused_us = {now} + $1, trial = $2
			WHERE queue = $3 AND consumer = $4 AND paused_us <= {now}`
		none  = `UPDATE lane_consumer SET paused_us = {now}, trial = '' WHERE queue = $1 AND consumer = $2`
		claim = `UPDATE lane_lane SET ready_us = {now} + $1, epoch = epoch + 1, holder = $2
			WHERE id IN (SELECT id FROM lane_lane WHERE id = $3 AND ready_us <= {now} AND blockers = 0 {skip}) RETURNING ` + leasedColumns
	)
	id, err := c.probe(ctx, x.Consumer)
	if err != nil || id == 0 {
		return nil, err
	}
	err = c.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		runs = nil
		res, err := tx.ExecContext(ctx, c.sql.text(try), c.o.Lease.Microseconds(), c.id, c.o.Name, x.Consumer)
		if err != nil {
			return err
		}
		if won, err := res.RowsAffected(); err != nil || won == 0 {
			return err
		}
		runs, err = leased(tx.QueryContext(ctx, c.sql.text(claim), c.o.Lease.Microseconds(), c.id, id))
		if err != nil || len(runs) > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, c.sql.text(none), c.o.Name, x.Consumer)
		return err
	})
	for _, r := range runs {
		r.trial = true
	}
	return runs, err
}

// probe is the lane to try, 0 if none is ready.
func (c *claimer) probe(ctx context.Context, consumer string) (int64, error) {
	const (
		failed  = `SELECT trials FROM lane_consumer WHERE queue = $1 AND consumer = $2`
		longest = `SELECT id FROM lane_lane WHERE queue = $1 AND consumer = $2 AND ready_us <= {now} AND blockers = 0
			ORDER BY ready_us, id LIMIT 1`
	)
	var trials, id int64
	err := c.db.GetContext(ctx, &trials, failed, c.o.Name, consumer)
	if err == nil && (trials < oldestOnly || trials%2 != 0) {
		return c.oldest(ctx, consumer)
	}
	if err == nil {
		err = c.db.GetContext(ctx, &id, c.sql.text(longest), c.o.Name, consumer)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // it was resumed, or others were faster
		return 0, fmt.Errorf("looking for a lane to try: %w", err)
	}
	return id, nil
}

// oldest is the ready lane whose head has the lowest subject, 0 if none is
// ready. It looks at all lanes of the consumer, and so stays outside of the
// transaction that claims.
func (c *claimer) oldest(ctx context.Context, consumer string) (int64, error) {
	const oldest = `SELECT id FROM (SELECT id, (SELECT i.subject FROM lane_item i WHERE i.lane_id = l.id AND i.seq = l.head + 1) AS subject
			FROM lane_lane l WHERE l.queue = $1 AND l.consumer = $2 AND l.ready_us <= {now} AND l.blockers = 0) r
		ORDER BY subject NULLS LAST LIMIT 1`
	var id int64
	err := c.db.GetContext(ctx, &id, c.sql.text(oldest), c.o.Name, consumer)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("looking for the oldest item: %w", err)
	}
	return id, nil
}

// untry ends the trials of a node, or of all if it is "", that hold no lane any
// more: another node may try at once. The lanes were locked before.
func (n *node) untry(ctx context.Context, tx *sqlx.Tx, id string) error {
	const untry = `UPDATE lane_consumer SET paused_us = {now}, trial = '' WHERE queue = $1 AND trial <> '' AND ($2 = '' OR trial = $2)
		AND NOT EXISTS (SELECT 1 FROM lane_lane l WHERE l.queue = $1 AND l.consumer = lane_consumer.consumer
			AND l.holder = lane_consumer.trial AND l.ready_us > {now})`
	if _, err := tx.ExecContext(ctx, n.sql.text(untry), n.o.Name, id); err != nil {
		return fmt.Errorf("ending trials: %w", err)
	}
	return nil
}
