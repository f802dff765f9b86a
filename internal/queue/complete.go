package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// errComplete wraps what Complete returned.
var errComplete = errors.New("recording outcomes")

// completer finishes runs: it writes what became of their jobs, and of the
// circuits of their subscribers, in transactions that many runs share.
type completer struct {
	*Queue
	id    string        // of the node
	claim chan struct{} // wakes the claimer
	slots *slots

	finished  chan *run       // runs that wait to be finished
	gathering sync.Mutex      // held by the finisher that gathers a batch
	ended     <-chan struct{} // closed when no finisher works any more
}

// finishLimit bounds the runs that one transaction finishes.
const finishLimit = 256

// complete hands a run over to be finished. After the last finisher has ended,
// a handler that outlived the node's time finishes by itself.
func (c *completer) complete(r *run) {
	select {
	case c.finished <- r:
	case <-c.ended:
		c.finishBatch(context.WithoutCancel(r.ctx), []*run{r})
	}
}

// finishAll finishes runs in batches until ctx ends: while one commits the
// next gathers.
func (c *completer) finishAll(ctx context.Context) {
	for {
		select {
		case r := <-c.finished:
			c.finishBatch(context.WithoutCancel(ctx), c.gather(r))
		case <-ctx.Done():
			return
		}
	}
}

// finishLinger is how long a batch gathers on a busy node. What is written
// together costs less: the rows of many partitions share pages and index jobs.
const finishLinger = 50 * time.Millisecond

// gather collects the runs that wait with the first one. On a busy node it also
// collects those that end within finishLinger.
func (c *completer) gather(first *run) []*run {
	c.gathering.Lock()
	defer c.gathering.Unlock()
	runs := []*run{first}
	var enough <-chan time.Time
	if c.slots.busy() {
		enough = time.After(finishLinger)
	}
	for len(runs) < finishLimit {
		if enough == nil {
			select {
			case r := <-c.finished:
				runs = append(runs, r)
				continue
			default:
				return runs
			}
		}
		select {
		case r := <-c.finished:
			runs = append(runs, r)
		case <-enough:
			enough = nil
		case <-c.ended:
			enough = nil
		}
	}
	return runs
}

// finishBatch finishes runs in one transaction, or, when Complete refuses one of
// them, each in its own. What the database refuses is tried again while the
// lease is held; what is not finished then will be handled again.
func (c *completer) finishBatch(ctx context.Context, runs []*run) {
	runs, err := c.finish(ctx, runs)
	switch {
	case err == nil:
		c.slots.drop(runs...)
	case errors.Is(err, errComplete) && len(runs) > 1:
		for _, r := range runs {
			c.finishBatch(ctx, []*run{r})
		}
	case errors.Is(err, errComplete):
		c.repeat(ctx, runs[0], err)
	default:
		c.log.WarnContext(ctx, "finishing failed", "error", err)
		for _, r := range runs {
			c.finishLater(r)
		}
	}
}

// repeat has a run handled again whose outcomes Complete has refused.
func (c *completer) repeat(ctx context.Context, r *run, refused error) {
	r.outs, r.completion = nil, r.untouched(backoff(r.attempt))
	r.fail()
	kept, err := c.finish(ctx, []*run{r})
	if len(kept) == 0 {
		return // another node has it
	}
	c.log.ErrorContext(ctx, "outcomes were not recorded and will be repeated", "error", refused)
	if err == nil {
		c.slots.drop(r)
	} else {
		c.finishLater(r)
	}
}

func (c *completer) finishLater(r *run) {
	if c.slots.expired(r) {
		c.fenced.Add(1)
		c.slots.drop(r)
		c.slots.lose()
		return
	}
	r.again = min(max(2*r.again, finishAgain), 20*finishAgain)
	time.AfterFunc(r.again, func() { c.complete(r) })
}

// finish finishes the runs whose lease holds, and drops the others.
func (c *completer) finish(ctx context.Context, runs []*run) ([]*run, error) {
	var won finished
	for len(runs) > 0 {
		err := c.write(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
			won, err = c.finishTx(ctx, tx, runs)
			return err
		})
		var lost *lostLeases
		if !errors.As(err, &lost) {
			if err == nil {
				c.announce(won)
			}
			return runs, err
		}
		runs = c.dropLost(ctx, runs, lost.kept)
	}
	return nil, nil
}

// lostLeases is the error of a transaction that was to finish runs of which some have
// lost their leases.
type lostLeases struct{ kept []*run }

func (*lostLeases) Error() string { return "leases were lost" }

// dropLost forgets the runs that are not kept, and returns the others.
func (c *completer) dropLost(ctx context.Context, runs, kept []*run) []*run {
	lost := len(runs) - len(kept)
	c.fenced.Add(int64(lost))
	c.log.WarnContext(ctx, "work outlived its lease and was not recorded", "partitions", lost)
	for _, r := range runs {
		if !slices.Contains(kept, r) {
			c.slots.drop(r)
		}
	}
	return kept
}

// announce tells the caller and the claimer what is finished.
func (c *completer) announce(won finished) {
	if len(won.outs) > 0 && c.o.OnComplete != nil {
		c.o.OnComplete(won.outs)
	}
	if won.more {
		notify(c.claim)
	}
}

// finished is what a transaction has finished.
type finished struct {
	runs []*run
	outs []Outcome
	more bool // partitions are ready again

	emptied []partitionKey // partitions that others wait for, perhaps
}

// finishTx records the outcomes of runs, and then advances their partitions, which
// are locked last. It returns [lostLeases] if some leases do not hold.
func (c *completer) finishTx(ctx context.Context, tx *database.Tx, runs []*run) (won finished, err error) {
	won.runs = runs
	outs := 0
	for _, r := range runs {
		outs += len(r.outs)
	}
	won.outs = make([]Outcome, 0, outs)
	for _, r := range runs {
		won.outs = append(won.outs, r.recorded()...)
		won.more = won.more || r.probe
	}
	if c.o.Complete != nil && len(won.outs) > 0 {
		err := c.o.Complete(ctx, tx, won.outs)
		if database.IsUnwritable(err) { // the outcomes are sound, and are recorded when it can be written
			return won, err
		}
		if err != nil {
			return won, fmt.Errorf("%w: %w", errComplete, err)
		}
	}
	if err := putsOf(tx).storeUntil(ctx, tx, c.o.Name); err != nil {
		return won, err
	}
	if err = c.advancePartitions(ctx, tx, &won); err != nil {
		return won, fmt.Errorf("advancing partitions: %w", err)
	}
	for _, r := range runs {
		if err := c.park(ctx, tx, r); err != nil {
			return won, fmt.Errorf("parking a job: %w", err)
		}
	}
	if err := c.openCircuits(ctx, tx, won); err != nil {
		return won, fmt.Errorf("pausing subscribers: %w", err)
	}
	if err := c.reviewTx(ctx, tx, won.emptied); err != nil {
		return won, fmt.Errorf("reviewing emptied partitions: %w", err)
	}
	return won, nil
}

// lease is one claim of a partition. A batch may hold two runs of a partition: one
// that has lost its lease, and one that the same node began after that.
type lease struct {
	ID    int64
	Epoch int64
}

// advancePartitions writes what became of the partitions of runs, and removes their
// finished jobs. The holder is compared, too: after a commit whose answer was lost
// there is none.
func (c *completer) advancePartitions(ctx context.Context, tx *database.Tx, won *finished) error {
	us := make([][]int64, len(won.runs))
	byLease := make(map[lease]*run, len(won.runs))
	for i, r := range won.runs {
		us[i] = []int64{r.partition, r.epoch, r.upTo, int64(r.tries), r.first, r.wait.Microseconds(), r.passed()}
		byLease[lease{r.partition, r.epoch}] = r
	}
	var rows []struct {
		lease

		More      bool
		Successor int64
	}
	text, args := c.advanceText(us)
	if err := tx.SelectContext(ctx, &rows, text, append([]any{c.id}, args...)...); err != nil {
		return err
	}
	if len(rows) < len(won.runs) {
		lost := &lostLeases{}
		for _, row := range rows {
			lost.kept = append(lost.kept, byLease[row.lease])
		}
		return lost
	}
	for _, row := range rows {
		r := byLease[row.lease]
		won.more = won.more || row.More
		if row.Successor != 0 && !row.More && r.parked == 0 {
			won.emptied = append(won.emptied, partitionKey{r.subscriber, r.key})
		}
	}
	return c.remove(ctx, tx, won.runs)
}

// passed is the last job of the run's partition that is finished. A job that parks
// leaves for a partition of its own.
func (r *run) passed() int64 {
	if r.parks {
		return r.upTo - 1
	}
	return r.upTo
}

// park gives the job at the head of a run that parks a partition of its own, in which
// it keeps its sequence number.
func (c *completer) park(ctx context.Context, tx *database.Tx, r *run) error {
	const (
		insert = `INSERT INTO queue_partition (queue, subscriber, key, parked, tail, head, attempt, since_us, ready_us, epoch)
			VALUES ($1, $2, $3, $4, $4, $5, $6, CASE WHEN CAST($7 AS BIGINT) < 0 THEN {now} ELSE CAST($7 AS BIGINT) END, {now} + $8, $9)
			RETURNING id`
		move = `UPDATE queue_job SET partition_id = $1 WHERE partition_id = $2 AND seq = $3`
	)
	if !r.parks {
		return nil
	}
	var id int64
	if err := tx.GetContext(ctx, &id, c.sql.text(insert), c.o.Name, r.subscriber, r.key, r.upTo, r.upTo-1,
		r.failed, r.firstFailed, r.pending.Microseconds(), r.epoch); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, move, id, r.partition, r.upTo)
	return err
}

// remove deletes the partitions of parked jobs that are finished. On SQLite it deletes
// finished jobs, as [Queue.advanceText] does on PostgreSQL.
func (c *completer) remove(ctx context.Context, tx *database.Tx, runs []*run) error {
	const partition = `DELETE FROM queue_partition WHERE id = $1`
	for _, r := range runs {
		if last := r.passed(); last > r.head && c.db.Dialect == database.SQLite {
			if _, err := tx.ExecContext(ctx, removeOne, r.partition, r.head, last); err != nil {
				return err
			}
		}
		if r.parked > 0 && r.upTo == r.parked {
			if _, err := tx.ExecContext(ctx, partition, r.partition); err != nil {
				return err
			}
		}
	}
	return nil
}
