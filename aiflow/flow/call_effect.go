package flow

import (
	"math"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// call makes one attempt of a call and waits for its result. What of the
// call differs by attempt is filled in.
func (t *Turn) Call(c Call) (Exit, error) {
	c.ID, c.Node, c.Attempt = t.nextID(), t.Node.Id, 1
	c.Key = t.World.Run.ID + "." + c.ID
	if w := t.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == t.Node.Id {
		c.Attempt = w.Tries + 1
		if key := values.TextOf(w.Data); key != "" {
			c.Key = key
		}
	}
	if refused := t.World.Refused[c.ID]; refused != nil {
		return Exit{}, refused
	}
	t.EmitNow(c)
	return t.Wait(Wait{Kind: WaitEffect, ID: c.ID, Tries: c.Attempt, Data: c.Key, Once: c.Once}), nil
}

// again waits to repeat a call that failed, or returns its error. once says
// that only what did not reach the other side is repeated.
func (t *Turn) Again(r RetryConfig, e *Error, once bool) (Exit, error) {
	tries := t.WaitedFor.Tries
	if tries > r.Max || !repeatable(e, once) {
		failed := *e
		failed.Attempt = tries
		return Exit{}, &failed
	}
	delay := time.Duration(float64(r.Delay) * math.Pow(r.Factor, float64(tries-1)))
	until := t.World.Now.Add(max(delay, 0))
	t.Row.Error = e
	return t.Wait(Wait{Kind: WaitEffect, Timer: t.SetTimer(until), Until: until, Tries: tries, Data: t.WaitedFor.Data}), nil
}

// repeatable reports whether another attempt may go better.
func repeatable(e *Error, once bool) bool {
	switch e.Code {
	case CodeHTTPConnect, CodeMCPConnect, CodeLLMLimited, CodeNodeUnavailable:
		return true
	case CodeHTTPTimeout, CodeHTTPStatus, CodeMCPTimeout, CodeLLMTimeout, CodeLLMUnavailable, CodeNodeTimeout, CodeNodeFailed:
		return !once
	}
	return false
}
