package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// The outcomes of an attempt. One that is not final is "".
const (
	delivered = "delivered"
	failed    = "failed" // the endpoint is disabled
	dead      = "dead"   // all retries are used up
)

// result is what complete records of an attempt.
type result struct {
	*job
	answer
	tries    int    // failed attempts before this one
	outcome  string // "": it continues
	paused   bool   // the endpoint is down
	disabled string // why the endpoint gets nothing more, "": it does
	unsent   bool   // nothing was sent, which says nothing of the endpoint

	first bool // set by complete: this result changed the endpoint's state
	stale bool // set by complete: the endpoint was changed since the attempt began
}

// handle makes one attempt and decides what follows.
func (d *Dispatcher) handle(ctx context.Context, it queue.Job) queue.Outcome {
	j, _ := it.Data.(*job)
	if j == nil || j.ev == nil || j.ep == nil { // erased meanwhile
		return queue.Outcome{Job: it, Result: queue.Done}
	}
	if j.ep.sealed != nil { // another process may have the secret for it
		return queue.Outcome{Job: it, Result: queue.OpenCircuit, After: d.opts.Policy.ProbeFirst}
	}
	r := &result{job: j, tries: it.Attempt}
	if j.ev.erased() {
		r.At, r.Error, r.outcome = d.now(), erased, failed
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if !j.ep.Enabled {
		r.At, r.Error, r.outcome = d.now(), "the endpoint is disabled", failed
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if j.ep.Format != OwnFormat && !d.has(j.ep.Format, j.ev.Type, []byte(j.ev.Body)) {
		r.At, r.Error, r.outcome, r.unsent = d.now(), noSuchEvent, failed, true
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if err := d.write(ctx, j); err != nil {
		return d.unwritten(ctx, it, r, err)
	}
	traced, attempt := d.begin(ctx, j, it.Attempt+1)
	r.answer = d.attempt(traced, j)
	if ctx.Err() != nil && !timedOut(ctx) && r.StatusCode == 0 {
		attempt.End(true)
		return queue.Outcome{Job: it, Result: queue.Snooze} // ours is the end, not the endpoint's fault
	}
	out := queue.Outcome{Job: it, Data: r}
	out.Result, out.After = d.decide(it, r)
	r.end(attempt)
	return out
}

// unwritten is for an event that its endpoint's format did not write.
func (d *Dispatcher) unwritten(ctx context.Context, it queue.Job, r *result, err error) queue.Outcome {
	if ctx.Err() != nil && !timedOut(ctx) {
		return queue.Outcome{Job: it, Result: queue.Snooze}
	}
	d.opts.Logger.WarnContext(ctx, "an event cannot be written in its endpoint's format", "error", err)
	if errors.Is(err, errNoFormat) { // another process may have it
		return queue.Outcome{Job: it, Result: queue.OpenCircuit, After: d.opts.Policy.ProbeFirst}
	}
	r.At, r.Error, r.unsent = d.now(), notWritten, true
	out := queue.Outcome{Job: it, Data: r}
	out.Result, out.After = d.refuse(it, r)
	return out
}

// decide chooses between the two kinds of failure.
func (d *Dispatcher) decide(it queue.Job, r *result) (queue.Result, time.Duration) {
	switch {
	case r.ok():
		d.breakers.clear(r.ep.ID)
		r.outcome = delivered
		return queue.Done, 0
	case r.StatusCode == http.StatusGone:
		r.outcome, r.disabled = failed, "answered 410 Gone"
		return queue.Done, 0
	case !isDown(r.StatusCode):
		if r.ep.Pauses > 0 { // it answers again
			d.breakers.clear(r.ep.ID)
		}
	case r.ep.Pauses > 0 || d.breakers.failed(r.ep.ID, r.ev.ID) >= d.opts.Policy.DownAfter:
		return d.pause(r)
	}
	return d.refuse(it, r)
}

// pause is for an endpoint that is down as a whole.
func (d *Dispatcher) pause(r *result) (queue.Result, time.Duration) {
	if r.ep.Down > 0 && r.At.Sub(database.Time(r.ep.Down)) >= d.opts.Policy.GiveUp {
		r.outcome, r.disabled = failed, "was down for too long, at last: "+r.Error
		return queue.Done, 0
	}
	r.paused = true
	return queue.OpenCircuit, max(d.opts.Policy.probe(r.ep.Pauses), r.retryAfter)
}

// refuse is for one event that did not pass.
func (d *Dispatcher) refuse(it queue.Job, r *result) (queue.Result, time.Duration) {
	wait, again := d.opts.Policy.retry(it.Attempt)
	if !again {
		r.outcome = dead
		return queue.Done, 0
	}
	wait = max(wait, r.retryAfter)
	since := it.Since
	if since.IsZero() {
		since = r.At
	}
	if r.At.Add(wait).Sub(since) > d.opts.Policy.BlockFor {
		return queue.Park, wait
	}
	return queue.Retry, wait
}

// breakers count, per endpoint and in this process, the different events that
// failed in a row. A restart forgets them, which costs a few attempts.
type breakers struct {
	mu     sync.Mutex
	events map[string]map[string]bool
}

// failed adds an event and returns how many there are.
func (b *breakers) failed(endpoint, event string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events == nil {
		b.events = map[string]map[string]bool{}
	}
	if b.events[endpoint] == nil {
		b.events[endpoint] = map[string]bool{}
	}
	b.events[endpoint][event] = true
	return len(b.events[endpoint])
}

func (b *breakers) clear(endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.events, endpoint)
}
