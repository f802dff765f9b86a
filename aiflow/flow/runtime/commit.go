package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// jump is the run that takes over from one that ends.
type jump struct {
	start Start
	l     *loaded
}

// commit stores a turn with all that follows from it, in one transaction.
func (h *turnHandler) commit(ctx context.Context, t *turn) error {
	if err := h.prepareJump(ctx, t); err != nil {
		return err
	}
	row, err := t.after(h.opts.Now())
	if err != nil {
		return err
	}
	var w *work
	err = h.db.Write(ctx, func(tx *database.Tx) error {
		copied := row
		w = &work{h: h, tx: tx, t: t, row: &copied}
		return w.do(context.WithoutCancel(ctx))
	})
	if t.fresh {
		t.loaded.stored.Store(err == nil)
	}
	if errors.Is(err, ErrNotFound) {
		err = errTaken // the flow that begins was deleted
	}
	if err != nil {
		return err
	}
	h.opts.AfterCommit("turn")
	if t.in != nil && (w.enqueued > 0 || w.row.EndedUS > 0) {
		t.in.more = true
	}
	h.committed(t, w)
	return nil
}

// prepareJump finds the flow that takes over. One that cannot be found is
// refused: the node takes its error.
func (h *turnHandler) prepareJump(ctx context.Context, t *turn) error {
	t.jump = nil
	end := t.out.State.Ended
	if end == nil || end.Jump == nil {
		return nil
	}
	s, err := h.find(ctx, t.row.view(), *end.Jump)
	if err == nil {
		s.Chat = t.row.chat()
		var l *loaded
		if l, err = h.programs.compile(s.Source); err == nil {
			t.jump = &jump{s, l}
			return nil
		}
	}
	if database.Failed(err) || ctx.Err() != nil {
		return fmt.Errorf("finding flow %s: %w", end.Jump.Flow, err)
	}
	h.opts.Logger.WarnContext(ctx, "a run jumps to a flow that cannot be begun", "run", t.row.ID, "flow", end.Jump.Flow, "error", err)
	return &refusal{end.Jump.ID, &flow.Error{Code: "flow.not_found", Message: "There is no flow " + end.Jump.Flow + " that is published and can be started."}}
}

// find is how the flow begins to which a run jumps.
func (h *turnHandler) find(ctx context.Context, from Run, to flow.Jump) (Start, error) {
	host, is := h.chats.(JumpService)
	if !is {
		return Start{}, ErrNotFound
	}
	return host.Jump(ctx, from, to)
}

// after is the row of the run after the turn.
func (t *turn) after(now time.Time) (runRow, error) {
	row, s := t.row, t.out.State
	row.Turn++
	row.Waits, row.Event, row.Status = "", "", Running
	if s.Ended != nil {
		return row, row.end(s, now)
	}
	raw, err := s.MarshalJSON()
	if err != nil {
		return row, fmt.Errorf("writing the state of a run: %w", err)
	}
	row.State = string(raw)
	if s.Wait != nil && !t.out.More {
		row.Waits, row.Event = string(s.Wait.Kind), text.Sanitize(s.Wait.Event)
		if s.Wait.Kind != flow.WaitEffect {
			row.Status = Waiting
		}
	}
	return row, nil
}

// end is the row of a run that has ended. Of its state the variables stay,
// for people to look at; of one that can be retried, all.
func (r *runRow) end(s *flow.State, now time.Time) error {
	e := s.Ended
	r.Status, r.EndedUS, r.State = Status(e.Status), database.Micros(now), ""
	last := flow.State{Hash: s.Hash, Turns: s.Turns, Steps: s.Steps}
	switch {
	case s.Failed != nil:
		last = *s
	case len(s.Frames) > 0:
		last.Frames = []flow.Frame{{Vars: s.Frames[0].Vars}}
	}
	for _, part := range []struct {
		to    *string
		value any
		is    bool
	}{{&r.State, &last, true}, {&r.Output, e.Output, e.Output != nil}, {&r.Error, e.Error, e.Error != nil}} {
		if !part.is {
			continue
		}
		raw, err := json.Marshal(part.value)
		if err != nil {
			return fmt.Errorf("writing the end of a run: %w", err)
		}
		*part.to = string(raw)
	}
	return nil
}

// work is the transaction of a turn.
type work struct {
	h   *turnHandler
	tx  *database.Tx
	t   *turn
	row *runRow

	messages []string // that the host has queued
	enqueued int
}

// do writes everything. The host's share comes first: it locks the chat, as
// all do who write to chats and runs; then comes the input, then the run, and
// then what belongs to the run, as who erases them locks them.
func (w *work) do(ctx context.Context) error {
	t := w.t
	run := w.row.view()
	for _, e := range t.out.Effects {
		if err := w.publish(ctx, run, e); err != nil {
			return err
		}
	}
	if watcher, is := w.h.chats.(Watcher); is && (t.fresh || w.row.Status != t.row.Status || w.row.Waits != t.row.Waits) {
		if err := watcher.RunTx(ctx, w.tx, w.row.view()); err != nil {
			return fmt.Errorf("telling of a run: %w", err)
		}
	}
	if t.in != nil {
		t.in.inTurn(w.row.Turn)
		if err := w.h.inbox.dequeueTx(ctx, w.tx, t.in); err != nil {
			return err
		}
	}
	if err := w.store(ctx); err != nil {
		return err
	}
	if err := w.h.inbox.markSeenTx(ctx, w.tx, w.row.Seq, t.in); err != nil {
		return err
	}
	if err := w.h.inbox.historyTx(ctx, w.tx, w.row.Seq, t.in, t.input); err != nil {
		return err
	}
	if err := w.journal(ctx); err != nil {
		return err
	}
	return w.follow(ctx)
}

// store writes the run.
func (w *work) store(ctx context.Context) error {
	if w.t.fresh {
		return w.h.runs.insertRun(ctx, w.tx, w.row, w.t.loaded)
	}
	return w.update(ctx)
}

// update writes the run, unless it has gone on, or moved to another chat, since
// it was read.
func (w *work) update(ctx context.Context) error {
	row := w.row
	res, err := w.tx.ExecContext(ctx, `UPDATE flow_run SET status = $1, waits = $2, event = $3, state = $4, turn = $5, output = $6, error = $7,
		ended_us = $8 WHERE seq = $9 AND turn = $10 AND ended_us = 0 AND inbox = $11`,
		row.Status, row.Waits, row.Event, row.State, row.Turn, row.Output, row.Error, row.EndedUS, row.Seq, w.t.row.Turn, row.Inbox)
	if err != nil {
		return fmt.Errorf("storing the state of a run: %w", err)
	}
	return one(res)
}

// journal writes what belongs to the run.
func (w *work) journal(ctx context.Context) error {
	for _, message := range w.messages {
		if err := w.sent(ctx, message); err != nil {
			return err
		}
	}
	for _, e := range w.t.out.Effects {
		if err := w.note(ctx, e); err != nil {
			return err
		}
	}
	return w.trace(ctx)
}

// trace writes the steps.
func (w *work) trace(ctx context.Context) error {
	var values []any
	for _, s := range w.t.out.Trace {
		raw, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("writing a step: %w", err)
		}
		values = append(values, w.row.Seq, string(raw))
	}
	if len(values) == 0 {
		return nil
	}
	err := w.h.db.Insert(ctx, w.tx, `INSERT INTO flow_step (run, body)`, []string{"BIGINT", "TEXT"}, values)
	if before := w.t.out.State.Rows - len(w.t.out.Trace); err == nil && w.t.out.State.Rows/forgetInterval > max(before, 2*maxSteps)/forgetInterval {
		err = w.forget(ctx)
	}
	if err != nil {
		return fmt.Errorf("storing the trace of a run: %w", err)
	}
	return nil
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

// committed wakes those who wait for what a turn has made.
func (h *turnHandler) committed(t *turn, w *work) {
	kind := "more"
	if t.in != nil {
		kind = t.in.Kind
	}
	h.opts.Observer.turned(w.row.Engine, kind, h.opts.Now().Sub(t.startedAt))
	if w.row.EndedUS > 0 {
		h.opts.Observer.ended(w.row.Engine, string(w.row.Status), database.Time(w.row.EndedUS).Sub(database.Time(w.row.StartedUS)))
	}
	h.waits.notify(w.row.Seq)
	t.describe(w.row)
}
