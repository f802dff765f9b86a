package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// work is what a transaction stores of one turn. Its ctx has the span of the turn.
type work struct {
	ctx   context.Context
	h     *turnHandler
	t     *turn
	after runRow // the run as the turn leaves it

	// These are of the transaction, and set again when it is repeated.
	tx       *database.Tx
	chats    ChatService
	row      *runRow
	messages []string // that the chat service has queued
	enqueued int
}

// publish has the chat service do its share of the effects, and tells it of the run.
func (w *work) publish() error {
	return protected(func() error {
		run := w.row.view()
		for _, e := range w.t.out.Effects {
			if err := w.effect(w.ctx, run, e); err != nil {
				return err
			}
		}
		watcher, is := w.chats.(Watcher)
		if !is || !w.t.fresh && w.row.Status == w.t.row.Status && w.row.Waits == w.t.row.Waits {
			return nil
		}
		if err := watcher.RunTx(w.ctx, w.tx, run); err != nil {
			return fmt.Errorf("telling of a run: %w", err)
		}
		return nil
	})
}

// note writes what is due of a run: its calls and timers.
func (w *work) note() error {
	for _, e := range w.t.out.Effects {
		if err := w.noteEffect(w.ctx, e); err != nil {
			return err
		}
	}
	before, after := w.t.out.State.Rows-len(w.t.out.Trace), w.t.out.State.Rows
	if len(w.t.out.Trace) == 0 || after/forgetInterval <= max(before, 2*maxSteps)/forgetInterval {
		return nil
	}
	if err := w.forget(w.ctx); err != nil {
		return fmt.Errorf("forgetting the trace of a run: %w", err)
	}
	return nil
}

// trace returns the rows of the steps.
func (w *work) trace() ([]any, error) {
	var values []any
	for _, s := range w.t.out.Trace {
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("writing a step: %w", err)
		}
		values = append(values, w.row.Seq, string(raw))
	}
	return values, nil
}

// forgetInterval is after how many rows of a trace the older ones are dropped.
const forgetInterval = 500

// forget drops the steps that are not shown: a flow that goes round and
// round would fill the disk.
func (w *work) forget(ctx context.Context) error {
	_, err := w.tx.ExecContext(ctx, `DELETE FROM flow_step WHERE run = $1 AND id <
		(SELECT min(s.id) FROM (SELECT id FROM flow_step WHERE run = $1 ORDER BY id DESC LIMIT $2) s)`, w.row.Seq, 2*maxSteps)
	return err
}

// follow writes what comes after the turn: the rest of a long one, or what
// takes over from a run that has ended.
func (w *work) follow(ctx context.Context) error {
	row := w.row
	if w.t.out.More && row.EndedUS == 0 {
		w.enqueued++
		_, err := w.h.inbox.enqueueTx(ctx, w.tx, row.job(flow.Continue{}))
		return err
	}
	if row.EndedUS == 0 {
		return nil
	}
	if err := w.clear(ctx); err != nil {
		return err
	}
	if j := w.t.jump; j != nil {
		w.enqueued++
		_, _, err := w.h.runs.startTx(ctx, w.tx, j.start, j.l)
		return err
	}
	return nil
}

// clear forgets what waits for a run that has ended.
func (w *work) clear(ctx context.Context) error {
	if w.t.fresh && !slices.ContainsFunc(w.t.out.Effects, func(e flow.Effect) bool { _, is := e.(flow.Send); return !is }) {
		return nil // it has only sent messages: nothing can wait for it
	}
	if _, err := w.tx.ExecContext(ctx, `DELETE FROM flow_timer WHERE run = $1`, w.row.Seq); err != nil {
		return fmt.Errorf("forgetting the timers of a run: %w", err)
	}
	if _, err := w.tx.ExecContext(ctx, `DELETE FROM flow_input WHERE inbox = $1 AND run = $2`, w.row.Inbox, w.row.Seq); err != nil {
		return fmt.Errorf("forgetting the inputs of a run: %w", err)
	}
	return w.cancelCalled(ctx)
}
