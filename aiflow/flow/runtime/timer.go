package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

// Timers are rows with a time, looked at by a loop that puts those that are
// due into the inboxes of their chats. They are not jobs of partitions that wait:
// a job at the head of a chat's partition would hold the chat's messages back, and
// a partition for each timer would leave a row for each.

const (
	// timersInterval is how often each node looks for timers that are due. Those
	// that a turn of its own has set sooner it finds at once.
	timersInterval = time.Second
	// timersChunk is how many go into inboxes with one commit.
	timersChunk = 200
	// postponement is how long a timer waits whose chat is silent for an
	// unknown time.
	postponement = time.Minute
)

// dueTimer is a timer whose time has come.
type dueTimer struct {
	runRow
	Timer       string `db:"timer"`
	Traceparent string `db:"traceparent"`
}

// notifyTimers has timers looked at now.
func (r *Runtime) notifyTimers() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

// watchTimers gives runs their timers until ctx ends.
func (r *Runtime) watchTimers(ctx context.Context) error {
	for {
		n, next, err := r.ring(ctx)
		if err != nil && ctx.Err() == nil {
			r.opts.Logger.WarnContext(ctx, "looking for timers failed", "error", err)
		}
		if n == timersChunk {
			continue
		}
		wait := time.NewTimer(min(timersInterval, max(next, time.Millisecond)))
		select {
		case <-wait.C:
		case <-r.due:
			wait.Stop()
		case <-ctx.Done():
			wait.Stop()
			return nil
		}
	}
}

// ring puts the timers that are due into inboxes, and moves some ended runs of
// merged chats. It returns how many timers they were, and how long it is to the
// next one.
func (r *Runtime) ring(ctx context.Context) (n int, next time.Duration, err error) {
	var due struct {
		First int64 `db:"first"`
		Merge bool  `db:"merge"`
	}
	err = r.db.GetContext(ctx, &due, `SELECT COALESCE(min(at_us), 0) AS first, EXISTS (SELECT 1 FROM flow_merge) AS merge FROM flow_timer`)
	if err != nil {
		return 0, timersInterval, err
	}
	idle := timersInterval
	if due.Merge {
		if idle, err = 0, moveMerged(ctx, r.db); err != nil {
			return 0, timersInterval, err
		}
		r.opts.AfterCommit("merge")
	}
	now := r.now()
	if due.First == 0 {
		return 0, idle, nil
	}
	if wait := database.Time(due.First).Sub(now); wait > 0 {
		return 0, min(idle, wait), nil
	}
	err = r.db.Write(ctx, func(tx *sqlx.Tx) error {
		n, err = r.ringTx(context.WithoutCancel(ctx), tx, database.Micros(now))
		return err
	})
	if err != nil || n == 0 {
		return 0, timersInterval, err
	}
	r.opts.AfterCommit("timers")
	r.turns.Notify()
	return n, 0, nil
}

func (r *Runtime) ringTx(ctx context.Context, tx *sqlx.Tx, nowUS int64) (int, error) {
	lock := ""
	if r.db.Dialect == database.Postgres {
		lock = ` FOR UPDATE OF t SKIP LOCKED`
	}
	var due []dueTimer
	err := tx.SelectContext(ctx, &due, `SELECT t.timer, t.traceparent, `+inputColumns+` FROM flow_timer t JOIN flow_run r ON r.seq = t.run
		WHERE t.at_us <= $1 ORDER BY t.at_us LIMIT $2`+lock, nowUS, timersChunk)
	if err != nil {
		return 0, fmt.Errorf("reading timers: %w", err)
	}
	for _, d := range due {
		if _, err := tx.ExecContext(ctx, `DELETE FROM flow_timer WHERE run = $1 AND timer = $2`, d.Seq, d.Timer); err != nil {
			return 0, fmt.Errorf("taking a timer: %w", err)
		}
		if _, err := r.inbox.enqueueTx(span.With(ctx, d.Traceparent), tx, d.job(flow.Timer{ID: d.Timer})); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// postpone sets a timer again that came while no bot may speak in its chat.
func (r *Runtime) postpone(ctx context.Context, run *runRow, in *inputRow, t flow.Timer, until time.Time) error {
	if until.IsZero() {
		until = r.now().Add(postponement)
	}
	return r.db.Write(ctx, func(tx *sqlx.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := r.inbox.dequeueTx(ctx, tx, in); err != nil {
			return err
		}
		return r.setTimerTx(ctx, tx, run.Seq, t.ID, database.Micros(until), new(bool))
	})
}
