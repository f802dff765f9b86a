package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	heartbeatInterval = 2 * time.Second
	expireAfter       = 10 * time.Second
	expireMargin      = time.Second // a node believes itself dead before the others do
	collectInterval   = 24 * time.Hour
	idleFor           = 90 * 24 * time.Hour
	collectLimit      = 500
)

// joinTries is how often a node tries to begin.
const joinTries = 3

// joinSoon joins, again if the database was out of reach: PostgreSQL ends the
// connection of a process that stands still in a transaction, as it does to one
// that is frozen.
func (n *node) joinSoon(ctx context.Context) error {
	for try := 1; ; try++ {
		err := n.join(ctx)
		if try == joinTries || !database.IsUnwritable(err) || !await(ctx, nil, failedWait) {
			return err
		}
		n.log.WarnContext(ctx, "starting a queue failed and is tried again", "error", err)
	}
}

// join makes the node known, or, when it is the only one, takes over what
// others held.
func (n *node) join(ctx context.Context) error {
	now := time.Now()
	n.void = time.AfterFunc(expireAfter, n.expire)
	n.void.Stop()
	if n.o.Exclusive {
		return n.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, `DELETE FROM queue_node WHERE queue = $1`, n.o.Name); err != nil {
				return err
			}
			return n.release(ctx, tx, `holder <> $2`, "")
		})
	}
	if err := n.heartbeat(ctx); err != nil {
		return err
	}
	n.markAlive(now)
	n.beaten = time.Now()
	return nil
}

// release makes leased partitions that match ready, and ends the probes of a node, ""
// for all, that are over with them.
func (n *node) release(ctx context.Context, tx *sqlx.Tx, which, id string) error {
	const partitions = `UPDATE queue_partition SET ready_us = CASE WHEN blockers > 0 THEN {blocked} ELSE {now} END, holder = '', epoch = epoch + 1 WHERE id IN
		(SELECT id FROM queue_partition WHERE queue = $1 AND ready_us IS NOT NULL AND %s ORDER BY subscriber, key, parked {lock})`
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(n.sql.text(partitions), which), n.o.Name, id); err != nil {
		return fmt.Errorf("freeing partitions: %w", err)
	}
	return n.endProbe(ctx, tx, id)
}

// reclaim frees what this node has claimed without knowing it, because the
// answer was lost. The claiming loop calls it, so no claim is under way.
func (n *node) reclaim(ctx context.Context) error {
	n.mu.Lock()
	known := [][]int64{{0}}
	for id := range n.leased {
		known = append(known, []int64{id})
	}
	n.mu.Unlock()
	return n.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sqlx.Tx) error {
		return n.release(ctx, tx, `holder = $2 AND id NOT IN (`+numbers(known)+`)`, n.id)
	})
}

// part leaves nothing behind that others would wait for.
func (n *node) part(ctx context.Context) {
	n.void.Stop()
	ctx, cancel := context.WithTimeout(ctx, handBackIn)
	defer cancel()
	err := n.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM queue_node WHERE id = $1`, n.id); err != nil {
			return err
		}
		return n.release(ctx, tx, `holder = $2`, n.id)
	})
	if err != nil {
		n.log.WarnContext(ctx, "handing back failed, other nodes wait for the leases to end", "error", err)
	}
	n.Notify()
}

// maintain holds the node's leases until ctx ends.
func (n *node) maintain(ctx context.Context) {
	var both sync.WaitGroup
	defer both.Wait()
	if !n.o.Exclusive {
		both.Go(func() { n.repeat(ctx, heartbeatInterval, "heartbeat", n.heartbeatAndSweep) })
	}
	both.Go(func() { n.repeat(ctx, n.o.Lease/4, "renewal of leases", n.renew) })
}

func (n *node) repeat(ctx context.Context, d time.Duration, task string, do func(context.Context) error) {
	for await(ctx, nil, d) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "keeping a node alive failed", "task", task, "error", err)
		}
	}
}

func (n *node) heartbeatAndSweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, expireAfter/2)
	defer cancel()
	started := time.Now()
	if err := n.heartbeat(ctx); err != nil {
		return err
	}
	n.markAlive(started)
	before := n.beaten
	n.beaten = time.Now()
	return n.sweep(ctx, before)
}

// heartbeat says that this node is alive.
func (n *node) heartbeat(ctx context.Context) error {
	const heartbeat = `INSERT INTO queue_node (id, queue, seen_us) VALUES ($1, $2, {seen})
		ON CONFLICT (id) DO UPDATE SET seen_us = excluded.seen_us`
	return n.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, n.sql.text(heartbeat), n.id, n.o.Name)
		return err
	})
}

// markAlive notes that the others know of this node since a moment.
func (n *node) markAlive(since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.alive = since.Add(expireAfter - expireMargin)
	n.void.Reset(time.Until(n.alive))
}

// living reports that the others do not take this node for dead. mu is held.
func (n *node) living(now time.Time) bool { return n.o.Exclusive || now.Before(n.alive) }

// expire ends all work: the others may have taken it over.
func (n *node) expire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.leased) > 0 {
		n.log.Warn("no heartbeat was written in time, work in hand is given up", "partitions", len(n.leased))
	}
	for _, r := range n.leased {
		r.cancel(errLeaseLost)
	}
}

// sweep frees what dead nodes hold. What kept this node from saying for long
// that it lives, a machine that stood still or a database that was away, may
// have kept the others from it as well: they have one more beat for it.
func (n *node) sweep(ctx context.Context, before time.Time) error {
	const (
		dead   = `SELECT id FROM queue_node WHERE queue = $1 AND seen_us < {seen} - $2`
		remove = `DELETE FROM queue_node WHERE id = $1 AND seen_us < {seen} - $2`
	)
	var ids []string
	if err := n.db.SelectContext(ctx, &ids, n.sql.text(dead), n.o.Name, expireAfter.Microseconds()); err != nil {
		return err
	}
	n.spared = !n.spared && len(ids) > 0 && time.Since(before) > expireAfter/2
	if n.spared {
		return nil
	}
	for _, id := range ids {
		err := n.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
			res, err := tx.ExecContext(ctx, n.sql.text(remove), id, expireAfter.Microseconds())
			if err != nil {
				return err
			}
			if gone, err := res.RowsAffected(); err != nil || gone == 0 {
				return err // another node was first, or it lives
			}
			return n.release(ctx, tx, `holder = $2`, id)
		})
		if err != nil {
			return fmt.Errorf("taking over from a dead node: %w", err)
		}
		n.log.InfoContext(ctx, "a node is dead, its work is taken over", "node", id)
		notify(n.claim)
	}
	return nil
}

// renew prolongs the leases of what takes long, and ends what has lost its own.
func (n *node) renew(ctx context.Context) error {
	const renew = `WITH u (partition, fence) AS (%s),
		k AS MATERIALIZED (SELECT id FROM queue_partition WHERE (id, epoch) IN (SELECT partition, fence FROM u)
			ORDER BY subscriber, key, parked {lock})
		UPDATE queue_partition SET ready_us = {now} + $1 WHERE id IN (SELECT id FROM k) AND holder = $2 RETURNING id`
	started := time.Now()
	old := n.aging(started)
	if len(old) == 0 {
		return nil
	}
	us := make([][]int64, len(old))
	for i, r := range old {
		us[i] = []int64{r.partition, r.epoch}
	}
	list, args := n.sql.list(3, us)
	args = append([]any{n.o.Lease.Microseconds(), n.id}, args...)
	var ids []int64
	err := n.write(ctx, func(ctx context.Context, tx *sqlx.Tx) error {
		ids = nil
		return tx.SelectContext(ctx, &ids, fmt.Sprintf(n.sql.text(renew), list), args...)
	})
	if err != nil {
		return err
	}
	n.prolong(old, ids, started)
	return nil
}

// aging are the runs whose lease is not quite new.
func (n *node) aging(now time.Time) (old []*run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.leased {
		if now.Sub(r.renewed) > n.o.Lease/8 {
			old = append(old, r)
		}
	}
	return old
}

func (n *node) prolong(old []*run, ids []int64, started time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	renewed := make(map[int64]bool, len(ids))
	for _, id := range ids {
		renewed[id] = true
	}
	for _, r := range old {
		switch {
		case renewed[r.partition]:
			r.renewed, r.until = started, started.Add(n.o.Lease-n.margin())
			r.expire.Reset(time.Until(r.until))
		default: // lost, or finished in the meantime
			r.cancel(errLeaseLost)
		}
	}
}

// collectAll deletes partitions that were idle for long, from time to time.
func (n *node) collectAll(ctx context.Context) {
	for {
		if err := n.collect(ctx); err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "deleting idle partitions failed", "error", err)
		}
		if !await(ctx, nil, collectInterval) {
			return
		}
	}
}

func (n *node) collect(ctx context.Context) error {
	const (
		idle = `SELECT id FROM queue_partition l WHERE l.queue = $1 AND l.ready_us IS NULL AND l.since_us < {now} - $2 AND l.blockers = 0 AND l.blocking = 0
			AND NOT EXISTS (SELECT 1 FROM queue_partition d WHERE d.queue = l.queue AND d.subscriber = l.subscriber AND d.key = l.key AND d.parked > 0)
			LIMIT $3`
		remove = `DELETE FROM queue_partition WHERE id IN (%s) AND ready_us IS NULL AND blockers = 0 AND blocking = 0`
	)
	for {
		var ids []int64
		err := n.db.SelectContext(ctx, &ids, n.sql.text(idle), n.o.Name, idleFor.Microseconds(), collectLimit)
		if err != nil || len(ids) == 0 {
			return err
		}
		rows := make([][]int64, len(ids))
		for i, id := range ids {
			rows[i] = []int64{id}
		}
		err = n.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *sqlx.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf(remove, numbers(rows)))
			return err
		})
		if err != nil {
			return err
		}
	}
}
