package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// OwnFormat is the format of endpoints that get the bytes of [Event.Body].
const OwnFormat = "trunkline"

// Format writes events in another form than their own, for endpoints whose
// [Settings.Format] names it: a receiver that was written for another sender
// then continues without a change. Ids, order, retries, replays and our own
// signature are the same in every format. It is asked by several goroutines at
// once.
type Format interface {
	// Has says whether there is something like this event in the format: an
	// endpoint does not hear of others. It looks at nothing but the type and the
	// body, is quick, and always says the same. Without a body it says whether
	// there is any event of the type.
	Has(eventType string, body []byte) bool
	// Write makes the request of an event that the format has. It is called
	// before every attempt. An error, or a header that cannot be sent, is an
	// attempt that failed: the event is tried again as one that the endpoint
	// refused, without being the endpoint's fault.
	Write(ctx context.Context, d Draft) (Formatted, error)
}

// Draft is a delivery that is to be written.
type Draft struct {
	Event
	URL string    // of the endpoint
	Now time.Time // of the attempt
	Key []byte    // of the endpoint's signing secret, for a signature of the format's own
}

// Formatted is a delivery as it is sent.
type Formatted struct {
	Body    []byte      // our signature is of these bytes
	Headers http.Header // beside ours, which win
}

// The errors of deliveries of which nothing was sent.
const (
	noSuchEvent = "there is no such event in the endpoint's format" // which was changed meanwhile
	notWritten  = "it cannot be written in the endpoint's format"
)

// errNoFormat reports a format that this process does not have.
var errNoFormat = errors.New("webhook: the format of an endpoint is not there")

// checkFormat refuses a format that there is not.
func (d *Dispatcher) checkFormat(name string) error {
	if name == OwnFormat || d.opts.Formats[name] != nil {
		return nil
	}
	return invalid("format", "must be one of %s", strings.Join(append([]string{OwnFormat}, slices.Sorted(maps.Keys(d.opts.Formats))...), ", "))
}

// has says whether an endpoint's format has an event. A format that is not
// there, or not any more, may have it: another process may know.
func (d *Dispatcher) has(format, eventType string, body []byte) (has bool) {
	f := d.opts.Formats[format]
	if f == nil {
		return true
	}
	defer func() {
		if v := recover(); v != nil { // events of others are routed with it
			d.opts.Logger.Error("a webhook format panicked", "format", format, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			has = true
		}
	}()
	return f.Has(eventType, body)
}

// write makes what a job sends.
func (d *Dispatcher) write(ctx context.Context, j *job) error {
	j.body, j.formatted = j.ev.Body, nil
	if j.ep.Format == OwnFormat {
		return nil
	}
	f := d.opts.Formats[j.ep.Format]
	if f == nil {
		return fmt.Errorf("%w: %q of endpoint %s", errNoFormat, j.ep.Format, j.ep.ID)
	}
	out, err := d.request(ctx, f, j)
	if err != nil {
		return fmt.Errorf("writing an event for endpoint %s: %w", j.ep.ID, err)
	}
	j.body, j.formatted = string(out.Body), make(http.Header, len(out.Headers))
	for name, values := range out.Headers {
		for _, value := range values {
			if !isToken(name) || !isHeaderValue(value) {
				return fmt.Errorf("writing an event for endpoint %s: its header %q cannot be sent", j.ep.ID, name)
			}
			j.formatted.Add(name, value)
		}
	}
	return nil
}

// request asks a format for the request of a job.
func (d *Dispatcher) request(ctx context.Context, f Format, j *job) (out Formatted, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.opts.Logger.ErrorContext(ctx, "a webhook format panicked", "format", j.ep.Format, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("the format panicked")
		}
	}()
	return f.Write(ctx, Draft{Event: j.event(), URL: j.ep.URL, Now: d.now(), Key: j.ep.key})
}

// event is the event of a job, as it was published.
func (j *job) event() Event {
	ev := Event{
		ID: j.ev.ID, Account: j.ep.Account, Scope: j.ep.Scope, Type: j.ev.Type, At: database.Time(j.ev.At),
		ChatID: j.ev.ChatID, MessageID: j.ev.MessageID, Body: []byte(j.ev.Body),
	}
	for name, values := range j.ev.extra {
		if ev.Headers == nil {
			ev.Headers = map[string]string{}
		}
		ev.Headers[name] = values[0]
	}
	return ev
}

// bodiesTx reads the bodies of events, by their numbers.
func (d *Dispatcher) bodiesTx(ctx context.Context, tx *sqlx.Tx, numbers []int64) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	var rows []struct {
		Number int64
		Body   []byte
	}
	in, args := d.db.Dialect.InNumbers("number", 1, numbers)
	if err := tx.SelectContext(ctx, &rows, `SELECT number, body FROM webhook_event WHERE `+in, args...); err != nil {
		return nil, fmt.Errorf("reading events to route: %w", err)
	}
	for _, r := range rows {
		out[r.Number] = r.Body
	}
	return out, nil
}
