package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// oldestOnly is how many probes fail with the oldest job before others are
// made, too: every other one with the partition that has waited longest for a probe.
// The oldest job may be the one that the subscriber fails on.
const oldestOnly = 12

// probeOpen claims the partition of one job of a subscriber whose pause has passed.
// Only one node gets to try.
func (c *claimer) probeOpen(ctx context.Context, x candidate) (runs []*run, err error) {
	const (
		try = `UPDATE queue_subscriber SET paused_us = {now} + $1, probe = $2
			WHERE queue = $3 AND subscriber = $4 AND paused_us <= {now}`
		none  = `UPDATE queue_subscriber SET paused_us = {now}, probe = '' WHERE queue = $1 AND subscriber = $2`
		claim = `UPDATE queue_partition SET ready_us = {now} + $1, epoch = epoch + 1, holder = $2
			WHERE id IN (SELECT id FROM queue_partition WHERE id = $3 AND ready_us <= {now} AND blockers = 0 AND holder = '' {skip}) RETURNING ` + leasedColumns
	)
	id, err := c.probe(ctx, x.Subscriber)
	if err != nil || id == 0 {
		return nil, err
	}
	err = c.write(ctx, func(ctx context.Context, tx *database.Tx) error {
		runs = nil
		res, err := tx.ExecContext(ctx, c.sql.text(try), c.o.Lease.Microseconds(), c.id, c.o.Name, x.Subscriber)
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
		_, err = tx.ExecContext(ctx, c.sql.text(none), c.o.Name, x.Subscriber)
		return err
	})
	for _, r := range runs {
		r.probe = true
	}
	return runs, err
}

// probe is the partition to try, 0 if none is ready.
func (c *claimer) probe(ctx context.Context, subscriber string) (int64, error) {
	const (
		failed = `SELECT probes FROM queue_subscriber WHERE queue = $1 AND subscriber = $2`
		oldest = `SELECT id FROM queue_partition WHERE queue = $1 AND subscriber = $2 AND ready_us <= {now} AND blockers = 0 AND holder = ''
			ORDER BY ready_us, id LIMIT 1`
	)
	var probes, id int64
	err := c.db.GetContext(ctx, &probes, failed, c.o.Name, subscriber)
	if err == nil && (probes < oldestOnly || probes%2 != 0) {
		return c.oldest(ctx, subscriber)
	}
	if err == nil {
		err = c.db.GetContext(ctx, &id, c.sql.text(oldest), c.o.Name, subscriber)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // it was resumed, or others were faster
		return 0, fmt.Errorf("looking for a partition to try: %w", err)
	}
	return id, nil
}

// oldest is the ready partition whose head has the lowest subject, 0 if none is
// ready. It looks at all partitions of the subscriber, and so stays outside of the
// transaction that claims.
func (c *claimer) oldest(ctx context.Context, subscriber string) (int64, error) {
	const oldest = `SELECT id FROM (SELECT id, (SELECT i.subject FROM queue_job i WHERE i.partition_id = l.id AND i.seq = l.head + 1) AS subject
			FROM queue_partition l WHERE l.queue = $1 AND l.subscriber = $2 AND l.ready_us <= {now} AND l.blockers = 0 AND l.holder = '') r
		ORDER BY subject NULLS LAST LIMIT 1`
	var id int64
	err := c.db.GetContext(ctx, &id, c.sql.text(oldest), c.o.Name, subscriber)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("looking for the oldest job: %w", err)
	}
	return id, nil
}
