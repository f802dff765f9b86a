package delivery

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// The outcomes of an attempt. One that is not final is "".
const (
	Delivered = "delivered"
	Failed    = "failed" // the endpoint is disabled
	Dead      = "dead"   // all retries are used up
)

// The errors of deliveries of which nothing was sent.
const (
	errorErased      = "its content was erased"                  // while the delivery was pending
	errorNoSuchEvent = "the endpoint's format has no such event" // which was changed meanwhile
	errorNotWritten  = "it cannot be written in the endpoint's format"
)

// OwnFormat is the format of endpoints that get the bytes of an event's body.
const OwnFormat = "trunkline"

// ErrNoFormat reports a format that this process does not have.
var ErrNoFormat = errors.New("webhook: the format of an endpoint is not there")

// Formats writes events in other formats than their own.
type Formats interface {
	// Has reports whether there is something like an event in a format.
	Has(format, eventType string, body []byte) bool
	// Write sets Body and Formatted of a job.
	Write(ctx context.Context, j *Job) error
}

// Sender makes attempts to deliver events, and records what came of them.
type Sender struct {
	DB       *database.DB
	Log      *slog.Logger
	Now      func() time.Time
	Timeout  time.Duration // of an attempt
	Policy   Policy
	Client   *http.Client
	Sealer   Sealer
	Formats  Formats
	Echo     func(j *Job, h http.Header, now time.Time) (status int, response string) // nil: there is no built-in receiver
	Trace    func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	Observer *Observer // nil: nothing is counted
	Breakers Breakers

	// UserAgent is that of requests, and HeaderPrefix begins the names of the headers that
	// say an event's type and sequence.
	UserAgent, HeaderPrefix string

	// Record takes part in the transaction that records results. nil: it is left out.
	Record func(ctx context.Context, tx *database.Tx, rs []*Result) error

	targets targetCache
	names   atomic.Pointer[headerNames]
}

// headerNames are what requests have in common.
type headerNames struct {
	event, sequence string // as net/http writes them
	userAgent       []string
}

func (d *Sender) headerNames() *headerNames {
	if n := d.names.Load(); n != nil {
		return n
	}
	n := &headerNames{http.CanonicalHeaderKey(d.HeaderPrefix + "Event"), http.CanonicalHeaderKey(d.HeaderPrefix + "Sequence"), []string{d.UserAgent}}
	d.names.Store(n)
	return n
}

// Result is what is recorded of an attempt.
type Result struct {
	*Job
	answer

	Tries   int    // failed attempts before this one
	Outcome string // "": it continues

	paused   bool   // the endpoint is down
	disabled string // why the endpoint gets nothing more, "": it does
	unsent   bool   // nothing was sent, which says nothing of the endpoint

	first bool // set by Complete: this result changed the endpoint's state
	stale bool // set by Complete: the endpoint was changed since the attempt began
}

// Handle makes one attempt and decides what follows.
func (d *Sender) Handle(ctx context.Context, it queue.Job) queue.Outcome {
	j, _ := it.Data.(*Job)
	if j == nil || j.Event == nil || j.Target == nil { // erased meanwhile
		return queue.Outcome{Job: it, Result: queue.Done}
	}
	if j.Target.sealed != nil { // another process may have the secret for it
		return queue.Outcome{Job: it, Result: queue.OpenCircuit, After: d.Policy.ProbeFirst}
	}
	r := &Result{Job: j, Tries: it.Attempt}
	if j.Event.Erased() {
		r.At, r.Error, r.Outcome = d.Now(), errorErased, Failed
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if !j.Target.Enabled {
		r.At, r.Error, r.Outcome = d.Now(), "the endpoint is disabled", Failed
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if j.Target.Format != OwnFormat && !d.Formats.Has(j.Target.Format, j.Event.Type, []byte(j.Event.Body)) {
		r.At, r.Error, r.Outcome, r.unsent = d.Now(), errorNoSuchEvent, Failed, true
		return queue.Outcome{Job: it, Result: queue.Done, Data: r}
	}
	if err := d.Formats.Write(ctx, j); err != nil {
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
func (d *Sender) unwritten(ctx context.Context, it queue.Job, r *Result, err error) queue.Outcome {
	if ctx.Err() != nil && !timedOut(ctx) {
		return queue.Outcome{Job: it, Result: queue.Snooze}
	}
	d.Log.WarnContext(ctx, "an event cannot be written in its endpoint's format", "error", err)
	if errors.Is(err, ErrNoFormat) { // another process may have it
		return queue.Outcome{Job: it, Result: queue.OpenCircuit, After: d.Policy.ProbeFirst}
	}
	r.At, r.Error, r.unsent = d.Now(), errorNotWritten, true
	out := queue.Outcome{Job: it, Data: r}
	out.Result, out.After = d.refuse(it, r)
	return out
}

// decide chooses between the two kinds of failure.
func (d *Sender) decide(it queue.Job, r *Result) (queue.Result, time.Duration) {
	switch {
	case r.ok():
		d.Breakers.Clear(r.Target.ID)
		r.Outcome = Delivered
		return queue.Done, 0
	case r.StatusCode == http.StatusGone:
		r.Outcome, r.disabled = Failed, "answered 410 Gone"
		return queue.Done, 0
	case !isDown(r.StatusCode):
		if r.Target.Pauses > 0 { // it answers again
			d.Breakers.Clear(r.Target.ID)
		}
	case r.Target.Pauses > 0 || d.Breakers.failed(r.Target.ID, r.Event.ID) >= d.Policy.DownAfter:
		return d.pause(r)
	}
	return d.refuse(it, r)
}

// pause is for an endpoint that is down as a whole.
func (d *Sender) pause(r *Result) (queue.Result, time.Duration) {
	if r.Target.Down > 0 && r.At.Sub(database.Time(r.Target.Down)) >= d.Policy.GiveUp {
		r.Outcome, r.disabled = Failed, "failed for too long, finally with: "+r.Error
		return queue.Done, 0
	}
	r.paused = true
	return queue.OpenCircuit, max(d.Policy.probe(r.Target.Pauses), r.retryAfter)
}

// refuse is for one event that did not pass.
func (d *Sender) refuse(it queue.Job, r *Result) (queue.Result, time.Duration) {
	wait, again := d.Policy.retry(it.Attempt)
	if !again {
		r.Outcome = Dead
		return queue.Done, 0
	}
	wait = max(wait, r.retryAfter)
	since := it.Since
	if since.IsZero() {
		since = r.At
	}
	if r.At.Add(wait).Sub(since) > d.Policy.BlockFor {
		return queue.Park, wait
	}
	return queue.Retry, wait
}
