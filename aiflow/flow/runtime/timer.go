package runtime

import (
	"context"
	"fmt"
	"time"

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
	// timersIdle is the longest wait while no timer is due.
	timersIdle = 10 * time.Minute
	// timersChunk is how many go into inboxes with one commit.
	timersChunk = 200
	// postponement is how long a timer waits whose chat is silent for an
	// unknown time.
	postponement = time.Minute
)

// timers gives runs their timers.
type timers struct {
	db    *database.DB
	inbox *inbox
	due   chan struct{} // has the timers looked at now
	opts  *Options
}

// dueTimer is a timer whose time has come.
type dueTimer struct {
	runRow
	Timer       string `db:"timer"`
	Traceparent string `db:"traceparent"`
}

// notify has timers looked at now.
func (t *timers) notify() {
	select {
	case t.due <- struct{}{}:
	default:
	}
}

// watch gives runs their timers until ctx ends.
func (t *timers) watch(ctx context.Context) error {
	due := t.db.Due(ctx, "", func(first int, ahead time.Duration) (string, []any) {
		return fmt.Sprintf(`SELECT 1 FROM flow_timer WHERE at_us <= $%d UNION ALL SELECT 1 FROM flow_merge`, first), []any{database.Micros(t.opts.Now().Add(timersInterval + ahead))}
	})
	for {
		n, next, err := t.ring(ctx)
		if err != nil && ctx.Err() == nil {
			t.opts.Logger.WarnContext(ctx, "looking for timers failed", "error", err)
		}
		if n == timersChunk {
			continue
		}
		wait := time.NewTimer(max(next, time.Millisecond))
		select {
		case <-wait.C:
		case <-due:
			wait.Stop()
		case <-t.due:
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
func (t *timers) ring(ctx context.Context) (n int, next time.Duration, err error) {
	var due struct {
		First int64 `db:"first"`
		Merge bool  `db:"merge"`
	}
	err = t.db.GetContext(ctx, &due, `SELECT COALESCE(min(at_us), 0) AS first, EXISTS (SELECT 1 FROM flow_merge) AS merge FROM flow_timer`)
	if err != nil {
		return 0, timersInterval, err
	}
	idle := timersIdle
	if due.Merge {
		if idle, err = 0, moveMerged(ctx, t.db); err != nil {
			return 0, timersInterval, err
		}
		t.opts.AfterCommit("merge")
	}
	now := t.opts.Now()
	if due.First == 0 {
		return 0, idle, nil
	}
	if wait := database.Time(due.First).Sub(now); wait > 0 {
		return 0, min(idle, wait), nil
	}
	err = t.db.Write(ctx, func(tx *database.Tx) error {
		n, err = t.ringTx(context.WithoutCancel(ctx), tx, database.Micros(now))
		return err
	})
	if err != nil || n == 0 {
		return 0, timersInterval, err
	}
	t.opts.AfterCommit("timers")
	return n, 0, nil
}

func (t *timers) ringTx(ctx context.Context, tx *database.Tx, nowUS int64) (int, error) {
	lock := ""
	if t.db.Dialect == database.Postgres {
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
		if _, err := t.inbox.enqueueTx(span.With(ctx, d.Traceparent), tx, d.job(flow.Timer{ID: d.Timer})); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// postpone sets a timer again that came while no bot may speak in its chat.
func (t *timers) postpone(ctx context.Context, run *runRow, in *inputRow, timer flow.Timer, until time.Time) error {
	if until.IsZero() {
		until = t.opts.Now().Add(postponement)
	}
	return t.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := t.inbox.dequeueTx(ctx, tx, in); err != nil {
			return err
		}
		return t.setTx(ctx, tx, run.Seq, flow.SetTimer{ID: timer.ID, At: until})
	})
}

// setTx sets a timer of a run, or moves it.
func (t *timers) setTx(ctx context.Context, tx *database.Tx, run int64, timer flow.SetTimer) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO flow_timer (run, timer, at_us, fixed, traceparent) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run, timer) DO UPDATE SET at_us = excluded.at_us, fixed = excluded.fixed, traceparent = excluded.traceparent`,
		run, timer.ID, database.Micros(timer.At), timer.Fixed, span.Of(ctx))
	if err != nil {
		return fmt.Errorf("setting a timer: %w", err)
	}
	if timer.At.Before(t.opts.Now().Add(timersInterval)) {
		tx.AfterCommit(t.notify)
	}
	return nil
}
