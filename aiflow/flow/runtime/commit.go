package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// commit stores a turn with all that follows from it. Turns of other chats that come
// meanwhile share its transaction.
func (h *turnHandler) commit(ctx context.Context, t *turn) error {
	if err := h.prepareJump(ctx, t); err != nil {
		return err
	}
	row, err := t.after(h.opts.Now())
	if err != nil {
		return err
	}
	w := &work{ctx: context.WithoutCancel(ctx), h: h, t: t, after: row}
	err = h.commits.Do(ctx, w)
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
	if t.in != nil && (w.enqueued > 0 || w.row.EndedUS > 0 && !t.fresh) { // nothing can wait for a run that is new
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
