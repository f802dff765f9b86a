package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// errComplete wraps what Complete returned.
var errComplete = errors.New("recording outcomes")

// finishLimit bounds the runs that one transaction finishes.
const finishLimit = 256

// complete hands a run over to be finished. After the last finisher has ended,
// a handler that outlived the node's time finishes by itself.
func (n *node) complete(r *run) {
	select {
	case n.finished <- r:
	case <-n.ended:
		n.finishBatch(context.WithoutCancel(r.ctx), []*run{r})
	}
}

// finishAll finishes runs in batches until ctx ends: while one commits the
// next gathers.
func (n *node) finishAll(ctx context.Context) {
	for {
		select {
		case r := <-n.finished:
			n.finishBatch(context.WithoutCancel(ctx), n.gather(r))
		case <-ctx.Done():
			return
		}
	}
}

// finishLinger is how long a batch gathers on a busy node. What is written
// together costs less: the rows of many partitions share pages and index jobs.
const finishLinger = 50 * time.Millisecond

// gather collects what waits beside the first run, and, on a busy node, what it
// finishes in the next moment.
func (n *node) gather(first *run) []*run {
	n.gathering.Lock()
	defer n.gathering.Unlock()
	runs := []*run{first}
	var enough <-chan time.Time
	if n.busy() {
		enough = time.After(finishLinger)
	}
	for len(runs) < finishLimit {
		if enough == nil {
			select {
			case r := <-n.finished:
				runs = append(runs, r)
				continue
			default:
				return runs
			}
		}
		select {
		case r := <-n.finished:
			runs = append(runs, r)
		case <-enough:
			enough = nil
		case <-n.ended:
			enough = nil
		}
	}
	return runs
}

// finishBatch finishes runs in one transaction, or, when Complete refuses one of
// them, each in its own. What the database refuses is tried again while the
// lease is held; what is not finished then will be handled again.
func (n *node) finishBatch(ctx context.Context, runs []*run) {
	err := n.finish(ctx, runs)
	switch {
	case err == nil:
		n.drop(runs...)
	case errors.Is(err, errComplete) && len(runs) > 1:
		for _, r := range runs {
			n.finishBatch(ctx, []*run{r})
		}
	case errors.Is(err, errComplete):
		n.log.ErrorContext(ctx, "outcomes were not recorded and will be repeated", "error", err)
		r := runs[0]
		r.outs, r.completion = nil, r.untouched(backoff(r.attempt))
		r.fail()
		n.finishBatch(ctx, runs)
	default:
		n.log.WarnContext(ctx, "finishing failed", "error", err)
		for _, r := range runs {
			n.finishLater(r)
		}
	}
}

func (n *node) finishLater(r *run) {
	if n.expired(r) {
		n.fenced.Add(1)
		n.drop(r)
		return
	}
	r.again = min(max(2*r.again, finishAgain), 20*finishAgain)
	time.AfterFunc(r.again, func() { n.complete(r) })
}

func (n *node) expired(r *run) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(r.renewed) > n.o.Lease
}

// drop forgets runs that are finished or lost.
func (n *node) drop(runs ...*run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range runs {
		if n.leased[r.partition] == r { // the partition may be claimed again already
			delete(n.leased, r.partition)
		}
		c := n.subscribers[r.subscriber]
		if r.counted {
			c.pausing--
			notify(n.claim) // who knows of the pause now, and waits for its end
		}
		if c.runs--; c.runs == 0 {
			delete(n.subscribers, r.subscriber)
		}
		n.working.Done()
	}
	if n.short {
		n.short = false
		notify(n.claim)
	}
}

func (n *node) finish(ctx context.Context, runs []*run) error {
	var won finished
	err := n.write(ctx, func(ctx context.Context, tx *sqlx.Tx) (err error) {
		won, err = n.finishTx(ctx, tx, runs)
		return err
	})
	if err != nil {
		return err
	}
	if lost := len(runs) - len(won.runs); lost > 0 {
		n.fenced.Add(int64(lost))
		n.log.WarnContext(ctx, "work outlived its lease and was not recorded", "partitions", lost)
	}
	if len(won.outs) > 0 && n.o.OnComplete != nil {
		n.o.OnComplete(won.outs)
	}
	if won.more {
		notify(n.claim)
	}
	if len(won.emptied) > 0 {
		n.Notify()
	}
	return nil
}

// finished is what a transaction has finished.
type finished struct {
	runs []*run
	outs []Outcome
	more bool // partitions are ready again

	emptied []partitionKey // partitions that others wait for, perhaps
}

func (n *node) finishTx(ctx context.Context, tx *sqlx.Tx, runs []*run) (won finished, err error) {
	if won, err = n.advancePartitions(ctx, tx, runs); err != nil {
		return won, fmt.Errorf("advancing partitions: %w", err)
	}
	passed, outs := make([][]int64, 0, len(won.runs)), 0
	for _, r := range won.runs {
		outs += len(r.outs)
	}
	won.outs = make([]Outcome, 0, outs)
	for _, r := range won.runs {
		won.outs = append(won.outs, r.recorded()...)
		won.more = won.more || r.probe
		last := r.upTo
		if r.parks {
			last--
			if err := n.park(ctx, tx, r); err != nil {
				return won, fmt.Errorf("parking a job: %w", err)
			}
		}
		if last > r.head {
			passed = append(passed, []int64{r.partition, r.head, last})
		}
	}
	if err := n.remove(ctx, tx, passed, won.runs); err != nil {
		return won, fmt.Errorf("removing jobs: %w", err)
	}
	if n.o.Complete != nil && len(won.outs) > 0 {
		if err := n.o.Complete(ctx, tx, won.outs); err != nil {
			return won, fmt.Errorf("%w: %w", errComplete, err)
		}
	}
	if err := n.openCircuits(ctx, tx, won); err != nil {
		return won, fmt.Errorf("pausing subscribers: %w", err)
	}
	if err := n.reviewTx(ctx, tx, won.emptied); err != nil {
		return won, fmt.Errorf("telling who waits for emptied partitions: %w", err)
	}
	return won, nil
}

// lease is one claim of a partition. A batch may hold two runs of a partition: one
// that has lost its lease, and one that the same node began after that.
type lease struct {
	ID    int64
	Epoch int64
}

// advancePartitions writes what became of the partitions whose lease still holds. The holder
// is compared too: after a commit whose answer was lost there is none.
func (n *node) advancePartitions(ctx context.Context, tx *sqlx.Tx, runs []*run) (won finished, err error) {
	us := make([][]int64, len(runs))
	byLease := make(map[lease]*run, len(runs))
	for i, r := range runs {
		us[i] = []int64{r.partition, r.epoch, r.upTo, int64(r.tries), r.first, r.wait.Microseconds()}
		byLease[lease{r.partition, r.epoch}] = r
	}
	var rows []struct {
		lease

		More      bool
		Successor int64
	}
	text, args := n.advanceText(us)
	if err := n.db.SelectTx(ctx, tx, &rows, text, append([]any{n.id}, args...)...); err != nil {
		return won, err
	}
	for _, row := range rows {
		r := byLease[row.lease]
		won.runs = append(won.runs, r)
		won.more = won.more || row.More
		if row.Successor != 0 && !row.More && r.parked == 0 {
			won.emptied = append(won.emptied, partitionKey{r.subscriber, r.key})
		}
	}
	return won, nil
}

// park gives the job at the head a partition of its own, in which it keeps
// its sequence number.
func (n *node) park(ctx context.Context, tx *sqlx.Tx, r *run) error {
	const (
		insert = `INSERT INTO queue_partition (queue, subscriber, key, parked, tail, head, attempt, since_us, ready_us, epoch)
			VALUES ($1, $2, $3, $4, $4, $5, $6, CASE WHEN CAST($7 AS BIGINT) < 0 THEN {now} ELSE CAST($7 AS BIGINT) END, {now} + $8, $9)
			RETURNING id`
		move = `UPDATE queue_job SET partition_id = $1 WHERE partition_id = $2 AND seq = $3`
	)
	var id int64
	if err := tx.GetContext(ctx, &id, n.sql.text(insert), n.o.Name, r.subscriber, r.key, r.upTo, r.upTo-1,
		r.failed, r.firstFailed, r.pending.Microseconds(), r.epoch); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, move, id, r.partition, r.upTo)
	return err
}

// remove deletes finished jobs, and the partitions of parked ones.
func (n *node) remove(ctx context.Context, tx *sqlx.Tx, passed [][]int64, runs []*run) error {
	if len(passed) == 0 {
		return nil
	}
	if err := n.removeItems(ctx, tx, passed); err != nil {
		return err
	}
	const partition = `DELETE FROM queue_partition WHERE id = $1`
	for _, r := range runs {
		if r.parked > 0 && r.upTo == r.parked {
			if _, err := tx.ExecContext(ctx, partition, r.partition); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *node) removeItems(ctx context.Context, tx *sqlx.Tx, passed [][]int64) error {
	if n.db.Dialect == database.Postgres {
		text, args := n.removeText(passed)
		_, err := n.db.ExecTx(ctx, tx, text, args...)
		return err
	}
	for _, p := range passed {
		if _, err := n.db.ExecTx(ctx, tx, removeOne, p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	return nil
}

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
func (n *node) openCircuits(ctx context.Context, tx *sqlx.Tx, won finished) error {
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
		query, args := pause, []any{n.o.Name, r.subscriber, standing[r].Microseconds()}
		switch {
		case r.probe && r.worked:
			query, args = resume, args[:2]
		case r.probe: // without a pause the next job is tried at once; the row may have been resumed away
			query = again
		}
		if _, err := tx.ExecContext(ctx, n.sql.text(query), args...); err != nil {
			return err
		}
		if standing[r] > 0 {
			if err := n.rejoin(ctx, tx, r.subscriber); err != nil {
				return fmt.Errorf("taking parked jobs back: %w", err)
			}
		}
	}
	return nil
}
