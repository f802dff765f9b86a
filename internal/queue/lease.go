package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	heartbeatInterval = 2 * time.Second // at most; see heartbeatOf
	expireMargin      = time.Second     // at most; see marginOf
	sweepTimeout      = 5 * time.Second
)

// Expiry is how long after its last heartbeat a node is dead to the others.
const Expiry = 10 * time.Second

type expiryKey struct{}

// SetExpiry changes [Expiry] for the queues on a handle that are made afterwards. All
// nodes on a database need the same. It is for tests: where no node dies, a machine
// that stands still must not make them repeat work, and where one does, the others should
// not wait for long.
func SetExpiry(ctx context.Context, db *sqlx.DB, d time.Duration) error {
	on, err := database.Of(ctx, db)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	on.Value(expiryKey{}, func() any { return new(atomic.Int64) }).(*atomic.Int64).Store(int64(d))
	return nil
}

// heartbeatOf is how often a node says that it lives.
func heartbeatOf(expiry time.Duration) time.Duration { return min(heartbeatInterval, expiry/5) }

// marginOf is how long before the others a node believes itself dead.
func marginOf(expiry time.Duration) time.Duration { return min(expireMargin, expiry/10) }

func expiryOf(db *database.DB) time.Duration {
	set := db.Value(expiryKey{}, func() any { return new(atomic.Int64) }).(*atomic.Int64)
	return orDefault(time.Duration(set.Load()), Expiry)
}

// keeper tells the other nodes that this one is alive, keeps its leases, and
// takes over what dead nodes have leased.
type keeper struct {
	*Queue
	id     string        // of the node
	expiry time.Duration // see [Expiry]
	claim  chan struct{} // wakes the claimer
	slots  *slots

	void       *time.Timer                 // fires when others may think that this node is dead
	heartbeats chan time.Time              // after each heartbeat, when it was begun
	beaten     time.Time                   // the last heartbeat; of the loop that sweeps
	silent     clockstep.Sightings[string] // nodes that seem dead; likewise
}

// silenceOf is how long a node must be seen silent, and sightings how often, before it is
// dead: nodes know each other by their heartbeats, not by the clock, which may be set. It
// is what is left of the expiry when the node is looked at first.
func silenceOf(expiry time.Duration) time.Duration { return 2 * heartbeatOf(expiry) }

const sightings = 3

// joinSoon joins as soon as the database can be written: it may be full, away, or have
// ended the connection of a process that was suspended within a transaction.
func (k *keeper) joinSoon(ctx context.Context) error {
	for {
		err := k.join(ctx)
		away := database.IsUnwritable(err) || errors.Is(err, context.DeadlineExceeded)
		if !away || !await(ctx, failedWait) {
			return err
		}
		k.log.WarnContext(ctx, "starting a queue failed and is tried again", "error", err)
	}
}

// join makes the node known, or, when it is the only one, takes over what
// others held.
func (k *keeper) join(ctx context.Context) error {
	now := time.Now()
	k.expiry = expiryOf(k.db)
	k.void = time.AfterFunc(k.expiry, k.expire)
	k.void.Stop()
	k.silent.Rounds = sightings
	if k.o.Exclusive {
		return k.write(ctx, func(ctx context.Context, tx *database.Tx) error {
			if _, err := tx.ExecContext(ctx, `DELETE FROM queue_node WHERE queue = $1`, k.o.Name); err != nil {
				return err
			}
			return k.release(ctx, tx, `holder <> $2`, "")
		})
	}
	if err := heartbeatsOf(k.db).write(ctx, k); err != nil {
		return err
	}
	k.markAlive(now)
	k.beaten = time.Now()
	return nil
}

// release makes leased partitions that match ready, and ends the probes of a node, ""
// for all, that are over with them.
func (k *keeper) release(ctx context.Context, tx *database.Tx, which, id string) error {
	const partitions = `UPDATE queue_partition SET ready_us = CASE WHEN blockers > 0 THEN {blocked} ELSE {now} END, holder = '', epoch = epoch + 1 WHERE id IN
		(SELECT id FROM queue_partition WHERE queue = $1 AND ready_us IS NOT NULL AND %s ORDER BY subscriber, key, parked {lock})`
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(k.sql.text(partitions), which), k.o.Name, id); err != nil {
		return fmt.Errorf("freeing partitions: %w", err)
	}
	return k.endProbe(ctx, tx, id)
}

// reclaim frees what this node has claimed without knowing it, because the
// answer was lost. The claiming loop calls it, so no claim is under way.
func (k *keeper) reclaim(ctx context.Context) error {
	known := [][]int64{{0}}
	for _, id := range k.slots.partitions() {
		known = append(known, []int64{id})
	}
	return k.write(context.WithoutCancel(ctx), func(ctx context.Context, tx *database.Tx) error {
		return k.release(ctx, tx, `holder = $2 AND id NOT IN (`+numbers(known)+`)`, k.id)
	})
}

// part leaves nothing behind that others would wait for.
func (k *keeper) part(ctx context.Context) {
	k.void.Stop()
	ctx, cancel := context.WithTimeout(ctx, handBackIn)
	defer cancel()
	err := k.write(ctx, func(ctx context.Context, tx *database.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM queue_node WHERE id = $1`, k.id); err != nil {
			return err
		}
		return k.release(ctx, tx, `holder = $2`, k.id)
	})
	if err != nil {
		k.log.WarnContext(ctx, "handing back failed, other nodes wait for the leases to end", "error", err)
	}
	k.Notify()
}

// maintain holds the node's leases until ctx ends.
func (k *keeper) maintain(ctx context.Context) {
	var both sync.WaitGroup
	if k.o.Now == nil {
		clockstep.Watch(ctx, k.db, k.log)
	}
	if !k.o.Exclusive {
		alive := heartbeatsOf(k.db)
		alive.add(ctx, k)
		defer alive.remove(k)
		both.Go(func() { k.sweepAll(ctx) })
	}
	both.Go(func() { k.repeat(ctx, k.o.Lease/4, "renewal of leases", k.renew) })
	both.Wait()
}

func (k *keeper) repeat(ctx context.Context, d time.Duration, task string, do func(context.Context) error) {
	for await(ctx, d) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "keeping a node alive failed", "task", task, "error", err)
		}
	}
}

// noteHeartbeat notes that a heartbeat was written.
func (k *keeper) noteHeartbeat(started time.Time) {
	k.markAlive(started)
	select {
	case k.heartbeats <- started:
	default: // it is still sweeping
	}
}

// sweepAll takes over from dead nodes until ctx ends: after heartbeats of its own while a
// node may be dead.
func (k *keeper) sweepAll(ctx context.Context) {
	late := k.db.Due(ctx, "", k.lateQuery)
	suspects := false
	for {
		select {
		case <-k.heartbeats:
		case <-late:
			suspects = true
		case <-ctx.Done():
			return
		}
		before := k.beaten
		k.beaten = time.Now()
		if !suspects {
			continue
		}
		var err error
		if suspects, err = k.sweep(ctx, before); err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "keeping a node alive failed", "task", "sweep", "error", err)
		}
	}
}

// lateQuery finds something if a node may be dead, or soon will be.
func (k *keeper) lateQuery(first int, ahead time.Duration) (text string, args []any) {
	after := k.suspectAfter()
	return fmt.Sprintf(`SELECT 1 FROM queue_node WHERE queue = $%d AND seen_us < `+k.sql.text("{seen}")+` - CAST($%d AS BIGINT)`, first, first+1),
		[]any{k.o.Name, (after - min(ahead, after/2)).Microseconds()}
}

// suspectAfter is how long after its last heartbeat a node is looked at. It is dead when
// that was [Expiry] ago, and it was silent in all looks.
func (k *keeper) suspectAfter() time.Duration { return k.expiry - silenceOf(k.expiry) }

// markAlive notes that the others know since a moment that this node is alive.
func (k *keeper) markAlive(since time.Time) {
	until := since.Add(k.expiry - marginOf(k.expiry))
	k.slots.markAlive(until)
	k.void.Reset(time.Until(until))
}

// expire ends all work: other nodes may have taken it over.
func (k *keeper) expire() {
	if n := k.slots.cancelAll(); n > 0 {
		k.log.Warn("no heartbeat was written in time, work in hand is given up", "partitions", n)
	}
}

// sweep frees what dead nodes hold. What kept this node from saying for long
// that it lives, a machine that stood still or a database that was away, may
// have kept the others from it as well: they have more beats for it. It reports whether
// there are nodes that may be dead.
func (k *keeper) sweep(ctx context.Context, before time.Time) (suspects bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	const (
		late   = `SELECT id, seen_us AS seen, seen_us < {seen} - $3 AS dead FROM queue_node WHERE queue = $1 AND seen_us < {seen} - $2`
		remove = `DELETE FROM queue_node WHERE id = $1 AND seen_us = $2`
	)
	var nodes []struct {
		ID   string
		Seen int64
		Dead bool
	}
	if err := k.db.SelectContext(ctx, &nodes, k.sql.text(late), k.o.Name, (k.suspectAfter() / 2).Microseconds(), k.expiry.Microseconds()); err != nil {
		return true, err
	}
	if time.Since(before) > k.expiry/2 {
		k.silent.Forget()
	}
	if k.silent.For, err = k.silence(ctx); err != nil {
		return true, err
	}
	seen := map[string]int64{}
	for _, n := range nodes {
		seen[n.ID] = n.Seen
	}
	still := k.silent.Look(seen)
	for _, n := range nodes {
		if !n.Dead || !still[n.ID] {
			continue
		}
		id := n.ID
		err := k.write(ctx, func(ctx context.Context, tx *database.Tx) error {
			res, err := tx.ExecContext(ctx, remove, id, n.Seen)
			if err != nil {
				return err
			}
			if gone, err := res.RowsAffected(); err != nil || gone == 0 {
				return err // another node was first, or it lives
			}
			return k.release(ctx, tx, `holder = $2`, id)
		})
		if err != nil {
			return true, fmt.Errorf("taking over from a dead node: %w", err)
		}
		k.log.InfoContext(ctx, "a node is dead, its work is taken over", "node", id)
		notify(k.claim)
	}
	return len(nodes) > 0, nil
}

// silence is how long a node must be seen silent now before it is dead. After a clock was
// set nothing else says when its last heartbeat was.
func (k *keeper) silence(ctx context.Context) (time.Duration, error) {
	if k.o.Now != nil {
		return silenceOf(k.expiry), nil
	}
	set, err := clockstep.SetWithin(ctx, k.db, k.expiry)
	if set {
		return k.expiry, err
	}
	return silenceOf(k.expiry), err
}

// renew prolongs the leases of what takes long, and ends what has lost its own.
func (k *keeper) renew(ctx context.Context) error {
	const renew = `WITH u (partition, fence) AS (%s),
		k AS MATERIALIZED (SELECT id FROM queue_partition WHERE (id, epoch) IN (SELECT partition, fence FROM u)
			ORDER BY subscriber, key, parked {lock})
		UPDATE queue_partition SET ready_us = {now} + $1 WHERE id IN (SELECT id FROM k) AND holder = $2 RETURNING id`
	started := time.Now()
	old := k.slots.aging(started)
	if len(old) == 0 {
		return nil
	}
	us := make([][]int64, len(old))
	for i, r := range old {
		us[i] = []int64{r.partition, r.epoch}
	}
	list, args := k.sql.list(3, us)
	args = append([]any{k.o.Lease.Microseconds(), k.id}, args...)
	var ids []int64
	err := k.write(ctx, func(ctx context.Context, tx *database.Tx) error {
		ids = nil
		return tx.SelectContext(ctx, &ids, fmt.Sprintf(k.sql.text(renew), list), args...)
	})
	if err != nil {
		return err
	}
	k.slots.prolong(old, ids, started)
	return nil
}

// endProbe ends the probes of a node, or of all if it is "", that hold no partition any
// more: another node may try at once. The partitions were locked before.
func (k *keeper) endProbe(ctx context.Context, tx *database.Tx, id string) error {
	const end = `UPDATE queue_subscriber SET paused_us = {now}, probe = '' WHERE queue = $1 AND probe <> '' AND ($2 = '' OR probe = $2)
		AND NOT EXISTS (SELECT 1 FROM queue_partition l WHERE l.queue = $1 AND l.subscriber = queue_subscriber.subscriber
			AND l.holder = queue_subscriber.probe)`
	if _, err := tx.ExecContext(ctx, k.sql.text(end), k.o.Name, id); err != nil {
		return fmt.Errorf("ending probes: %w", err)
	}
	return nil
}
