package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

// registerClock has what waits in the queues of a database move with its clock.
func registerClock(db *database.DB, name string) {
	clockstep.RegisterAlone(db, "node", moveNodes(db.Dialect))
	clockstep.Register(db, "queue", movePartitions(db.Dialect))
	clockstep.Register(db, "queue:"+name, func(_ context.Context, tx *database.Tx, _ clockstep.Step) error {
		tx.NotifyAfter("queue:" + name)
		return nil
	})
}

// moveNodes has nodes be seen now that were seen later than now, because the clock of
// the database was set back: those that are dead must become known.
func moveNodes(dialect database.Dialect) clockstep.Mend {
	return func(ctx context.Context, tx *database.Tx, s clockstep.Step) error {
		var n int
		if err := tx.GetContext(ctx, &n, `SELECT count(*) FROM (SELECT id FROM queue_node ORDER BY id`+dialect.ForUpdate()+`) l`); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, s.Update("queue_node", "seen_us", ""))
		return err
	}
}

// movePartitions moves the times until which partitions and subscribers wait.
func movePartitions(dialect database.Dialect) clockstep.Mend {
	const waits = `ready_us > %d AND ready_us < %d`
	return func(ctx context.Context, tx *database.Tx, s clockstep.Step) error {
		partitions := s.Update("queue_partition", "ready_us", fmt.Sprintf("ready_us < %d", blockedUntil))
		if dialect == database.Postgres { // it locks the partitions in the order in which all do
			partitions = `WITH l AS MATERIALIZED (SELECT id FROM queue_partition WHERE ` + fmt.Sprintf(waits, s.To, blockedUntil) + `
				ORDER BY queue, subscriber, key, parked FOR UPDATE) ` + s.Update("queue_partition", "ready_us", "id IN (SELECT id FROM l)")
		}
		for _, text := range []string{partitions, s.Update("queue_subscriber", "paused_us", "")} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}
}

// orphanLooks is how many looks in a row, a quarter of [Options].Lease apart, must see
// that a lease has ended before its partition is free: a node that has it in hand renews
// it in less.
const orphanLooks = 5

// freeOrphans frees partitions whose leases have ended although the node that has them
// lives: it has lost them. There are none unless the answer to a commit was lost. The
// clock of the database alone does not say that a lease has ended, since it may have
// been set forward.
func (c *claimer) freeOrphans(ctx context.Context, all []candidate) error {
	late := func(x candidate) bool { return x.Due > 0 && x.Now-x.Due > c.o.Lease.Microseconds()/4 }
	if !slices.ContainsFunc(all, late) || time.Since(c.looked) < c.o.Lease/4 {
		return nil
	}
	c.looked = time.Now()
	var rows []struct {
		ID, Ready int64
		Node      bool // the holder is a node that lives, or may
	}
	if err := c.db.SelectContext(ctx, &rows, c.orphansText(), c.o.Name, c.o.Exclusive, c.id); err != nil {
		return fmt.Errorf("looking for leases that have ended: %w", err)
	}
	seen, ended := map[int64]int64{}, [][]int64{}
	for _, r := range rows {
		if r.Node {
			seen[r.ID] = r.Ready
		} else {
			ended = append(ended, []int64{r.ID, r.Ready})
		}
	}
	for id := range c.orphans.Look(seen) {
		ended = append(ended, []int64{id, seen[id]})
	}
	if len(ended) == 0 {
		return nil
	}
	return c.write(ctx, func(ctx context.Context, tx *database.Tx) error {
		return c.keeper.release(ctx, tx, `holder <> $2 AND (id, ready_us) IN (VALUES `+numbers(ended)+`)`, "")
	})
}

// orphansText finds, of each subscriber, those of the partitions that have been ready for
// longest that are leased. Those behind them follow when they are free.
func (q *Queue) orphansText() string {
	const (
		leased = `
		SELECT l.id AS id, l.ready_us AS ready, (CASE WHEN $2 THEN l.holder = $3 ELSE l.holder IN (SELECT n.id FROM queue_node n) END) AS node FROM c `
		first = `SELECT p.id FROM queue_partition p WHERE p.queue = $1 AND p.subscriber = c.subscriber AND p.ready_us <= {now}
			ORDER BY p.ready_us LIMIT 256`
	)
	begin := readySubscribers("$1", "") + leased
	if q.db.Dialect == database.Postgres {
		return q.sql.text(begin + `CROSS JOIN LATERAL (` + first + `) f JOIN queue_partition l ON l.id = f.id WHERE l.holder <> ''`)
	}
	return q.sql.text(begin + `CROSS JOIN queue_partition l ON l.id IN (` + first + `) WHERE l.holder <> ''`)
}
