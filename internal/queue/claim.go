package queue

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

// claimer claims partitions that are ready, as far as there are slots for them,
// and gives them to the worker. It is the state of one claiming loop.
type claimer struct {
	*Queue
	id     string        // of the node
	claim  chan struct{} // wakes the loop
	slots  *slots
	worker *worker
	keeper *keeper

	after     string        // subscribers up to this one were looked at
	turn      int           // which subscriber is served first
	cut       bool          // some subscribers were not chosen
	uncertain bool          // a claim may have been made whose answer was lost
	backoff   time.Duration // how long to wait for partitions that other nodes have locked

	looked  time.Time                  // when leases that have ended were looked for last
	orphans clockstep.Sightings[int64] // partitions with such leases

	last      time.Time // when there was something to claim
	contended bool      // and so soon again
}

// claimAll claims partitions and starts to work on them until ctx ends. handling is
// the context of the handlers.
func (c *claimer) claimAll(ctx, handling context.Context) {
	woken := c.db.Due(ctx, c.topic(), c.dueQuery)
	for {
		started := time.Now()
		wait, err := c.claimOnce(ctx, handling)
		if err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "claiming failed", "error", err)
			wait = failedWait
		}
		elapsed := time.Since(started)
		pause := elapsed
		if c.contended { // claims grow then, instead of becoming many
			pause += min(max(claimPause, elapsed/2), maxClaim)
		}
		if wait > pause-elapsed && !awaitAny(ctx, c.claim, woken, wait) {
			return
		}
		if !await(ctx, pause-time.Since(started)) {
			return
		}
	}
}

// claimOnce claims what is ready and fits, and returns how long to wait for
// something to become ready; 0: there is more.
func (c *claimer) claimOnce(ctx, handling context.Context) (time.Duration, error) {
	now, ok := c.slots.available()
	c.worker.start(now)
	if !ok {
		return slowAfter, nil
	}
	if c.slots.takeLost() {
		c.uncertain = true
	}
	if c.uncertain {
		if err := c.keeper.reclaim(ctx); err != nil {
			return 0, fmt.Errorf("after a failed claim: %w", err)
		}
		c.uncertain = false
	}
	all, err := c.scan(ctx)
	if err != nil {
		return 0, fmt.Errorf("looking for subscribers: %w", err)
	}
	if slices.ContainsFunc(all, func(x candidate) bool { return x.Review }) {
		if err := c.reviewAll(ctx); err != nil {
			return 0, fmt.Errorf("reviewing successors: %w", err)
		}
	}
	if err := c.freeOrphans(ctx, all); err != nil {
		return 0, err
	}
	chosen, wait := c.choose(all)
	at := time.Now()
	c.contended = len(chosen) > 0 && at.Sub(c.last) < 2*claimPause
	if len(chosen) == 0 {
		return wait, nil
	}
	c.last = at
	deadline := time.Now().Add(c.o.Lease)
	runs, err := c.claimPartitions(ctx, chosen)
	if err != nil {
		c.uncertain = true
		return 0, fmt.Errorf("claiming partitions: %w", err)
	}
	if len(runs) == 0 { // others were faster, or are writing to them
		c.backoff = min(max(2*c.backoff, 5*time.Millisecond), pollInterval)
		return min(wait, c.backoff), nil
	}
	c.backoff = 0
	c.worker.begin(ctx, handling, runs, deadline)
	if c.exhausted(chosen, runs) {
		return wait, nil
	}
	return 0, nil
}

// exhausted reports whether a claim has taken all that was ready: less than it asked for,
// of every subscriber. What becomes ready later wakes the claimer.
func (c *claimer) exhausted(chosen []candidate, runs []*run) bool {
	got := map[string]int{}
	for _, r := range runs {
		got[r.subscriber]++
	}
	return !c.cut && !slices.ContainsFunc(chosen, func(x candidate) bool { return got[x.Subscriber] >= x.partitions })
}

// claimPartitions takes the leases and returns them with their jobs.
func (c *claimer) claimPartitions(ctx context.Context, chosen []candidate) ([]*run, error) {
	ctx = context.WithoutCancel(ctx) // a lease that is taken must become known
	var open, paused []candidate
	for _, x := range chosen {
		if x.Paused > 0 {
			paused = append(paused, x)
		} else {
			open = append(open, x)
		}
	}
	runs, err := c.lease(ctx, open)
	if err != nil {
		return nil, err
	}
	for _, x := range paused {
		probe, err := c.probeOpen(ctx, x)
		if err != nil {
			c.uncertain = true
			c.log.WarnContext(ctx, "trying a paused subscriber failed", "error", err)
			continue
		}
		runs = append(runs, probe...)
	}
	if err := c.jobs(ctx, runs); err != nil {
		return nil, fmt.Errorf("reading jobs: %w", err)
	}
	return runs, nil
}

// lease takes the leases of subscribers that are not paused. On PostgreSQL it reads
// their jobs with the same statement.
func (c *claimer) lease(ctx context.Context, chosen []candidate) (runs []*run, err error) {
	if len(chosen) == 0 {
		return nil, nil
	}
	text, args := c.claimText(chosen)
	if c.db.Dialect == database.Postgres { // one statement needs no transaction
		return loaded(c.db.QueryContext(ctx, text, args...))
	}
	err = c.db.WriteLazy(ctx, func(tx *database.Tx) error {
		runs, err = leased(tx.QueryContext(ctx, text, args...))
		return err
	})
	return runs, err
}

// leasedColumns are what leased reads of a claimed partition.
const leasedColumns = `id, epoch, subscriber, key, parked, head, tail, attempt, since_us`

func (r *run) leasedFields() []any {
	return []any{&r.partition, &r.epoch, &r.subscriber, &r.key, &r.parked, &r.head, &r.tail, &r.attempt, &r.since}
}

// leased reads partitions that were claimed just now.
func leased(rows *sql.Rows, err error) ([]*run, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var runs []*run
	for rows.Next() {
		r := &run{}
		if err := rows.Scan(r.leasedFields()...); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}

// loaded reads partitions that were claimed just now, each with its jobs.
func loaded(rows *sql.Rows, err error) ([]*run, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var runs []*run
	byPartition := map[int64]*run{}
	for rows.Next() {
		r := &run{}
		var seq, offset *int64
		var subject, parent *string
		if err := rows.Scan(append(r.leasedFields(), &seq, &offset, &subject, &parent)...); err != nil {
			return nil, err
		}
		if known := byPartition[r.partition]; known != nil {
			r = known
		} else {
			byPartition[r.partition] = r
			runs = append(runs, r)
		}
		if seq != nil {
			r.add(*seq+*offset, *subject, *parent)
		}
	}
	return runs, rows.Err()
}

// jobs reads what the claimed partitions are to do, of those whose jobs were not read
// with the claim.
func (c *claimer) jobs(ctx context.Context, runs []*run) error {
	byPartition := map[int64]*run{}
	var heads [][]int64
	for _, r := range runs {
		if len(r.jobs) > 0 {
			continue
		}
		// What was added since is left: it may have to wait for other partitions.
		limit := min(int64(c.o.Run), r.tail-r.head)
		if r.probe {
			limit = min(limit, 1)
		}
		heads = append(heads, []int64{r.partition, r.head, limit})
		byPartition[r.partition] = r
	}
	if len(heads) > 0 {
		if err := c.readJobs(ctx, heads, byPartition); err != nil {
			return err
		}
	}
	for _, r := range runs {
		r.inOrder()
	}
	return nil
}

func (c *claimer) readJobs(ctx context.Context, heads [][]int64, byPartition map[int64]*run) error {
	text, args := c.jobsText(heads)
	rows, err := c.db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	for rows.Next() {
		var partition, seq, offset int64
		var subject, parent string
		if err := rows.Scan(&partition, &seq, &offset, &subject, &parent); err != nil {
			return err
		}
		byPartition[partition].add(seq+offset, subject, parent)
	}
	return rows.Err()
}
