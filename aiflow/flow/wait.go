package flow

import (
	"strconv"
	"time"
)

// accepts reports whether the run waits for an input. Nodes may refuse one
// that passes here.
func (s *State) accepts(in Input) bool {
	if s.Ended != nil {
		again, is := in.(Retry)
		return is && s.retries(again)
	}
	switch in := in.(type) {
	case Cancel:
		return true
	case Continue:
		return s.Wait == nil && s.Next != ""
	case Timer:
		if s.frameOf(in.ID) >= 0 {
			return true
		}
	}
	return s.Wait != nil && s.Wait.accepts(in)
}

func (w *Wait) accepts(in Input) bool {
	switch in := in.(type) {
	case Timer:
		return in.ID != "" && in.ID == w.Timer
	case Reply:
		return w.Kind == WaitReply || w.Reply
	case Event:
		return w.Kind == WaitEvent && in.Name == w.Event
	case EffectDone:
		return w.Kind == WaitEffect && in.ID != "" && in.ID == w.ID
	case Approval:
		return w.Kind == WaitApproval && in.ID != "" && in.ID == w.ID
	case Assigned, HandoffClosed:
		return w.Kind == WaitHandoff
	}
	return false
}

// nextID numbers an effect, a timer or a wait.
func (t *Turn) nextID() string {
	t.State.Serial++
	return strconv.Itoa(t.State.Serial)
}

// Wait makes the run wait at the node that takes its step. The node goes on
// in its Resume.
func (t *Turn) Wait(w Wait) Exit {
	w.Node = t.Node.Id
	t.State.Wait = &w
	return Exit{Kind: exitWait}
}

// Waited is the wait that the input of this turn ended, for a node's Resume.
func (t *Turn) Waited() Wait { return *t.WaitedFor }

// SetTimer asks for a [Timer] and returns its id.
func (t *Turn) SetTimer(at time.Time) string {
	id := t.nextID()
	t.EmitNow(SetTimer{ID: id, At: at})
	return id
}

// dropTimer takes back the timer of the wait that ended, unless it has come
// or the node waits on with it.
func (t *Turn) dropTimer(in Input) {
	id := t.WaitedFor.Timer
	if came, ok := in.(Timer); id == "" || ok && came.ID == id {
		return
	}
	if w := t.State.Wait; w == nil || w.Timer != id {
		t.EmitNow(CancelTimer{ID: id})
	}
}

// setCallTimers asks for the timers of calls that wait for the first time. A
// function that never waits needs none.
func (t *Turn) setCallTimers() {
	for i := range t.State.Frames {
		f := &t.State.Frames[i]
		if f.Timer == "" && !f.Deadline.IsZero() {
			f.Timer = t.SetTimer(f.Deadline)
		}
	}
}

// release ends what a wait holds in the world.
func (t *Turn) release(w *Wait) {
	if w.Timer != "" {
		t.EmitNow(CancelTimer{ID: w.Timer})
	}
	if w.Kind == WaitHandoff {
		t.EmitNow(EndHandoff{ID: w.ID})
	}
}

// end ends the run.
func (t *Turn) end(e Ending) {
	t.PopTo(0)
	t.State.Next, t.State.Said = "", nil
	t.State.Ended = &e
}

// End ends the run.
func (t *Turn) End(e Ending) Exit {
	t.end(e)
	return Exit{Kind: exitEnded}
}

// fail ends the run with an error.
func (t *Turn) fail(e *Error) {
	if w := t.State.Wait; w != nil {
		t.State.Wait = nil
		t.release(w)
	}
	t.end(Ending{Status: StatusFailed, Error: hideError(e, t.Secrets())})
	t.keepFailure()
}

// cancel ends the run because somebody wants it.
func (t *Turn) cancel(in Cancel) {
	if w := t.State.Wait; w != nil {
		t.State.Wait = nil
		t.release(w)
	}
	e := Ending{Status: StatusCancelled}
	if in.Reason != "" {
		e.Output = in.Reason
	}
	t.end(e)
}
