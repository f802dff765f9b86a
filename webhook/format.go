package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// OwnFormat is the format of endpoints that get the bytes of [Event.Body].
const OwnFormat = delivery.OwnFormat // "trunkline"

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
	Headers http.Header // in addition to ours, which win
}

// formats are the formats of this process, for [delivery.Sender] and
// [delivery.Router].
type formats struct {
	byName map[string]Format
	log    *slog.Logger
	now    func() time.Time
}

// check refuses a format that there is not.
func (d *formats) check(name string) error {
	if name == OwnFormat || d.byName[name] != nil {
		return nil
	}
	return invalid("format", "must be one of %s", strings.Join(append([]string{OwnFormat}, slices.Sorted(maps.Keys(d.byName))...), ", "))
}

// Has reports whether an endpoint's format has an event. A format that is not
// there, or not any more, may have it: another process may know.
func (d *formats) Has(format, eventType string, body []byte) (has bool) {
	f := d.byName[format]
	if f == nil {
		return true
	}
	defer func() {
		if v := recover(); v != nil { // events of others are routed with it
			d.log.Error("a webhook format panicked", "format", format, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			has = true
		}
	}()
	return f.Has(eventType, body)
}

// Write makes what a job sends.
func (d *formats) Write(ctx context.Context, j *delivery.Job) error {
	j.Body, j.Formatted = j.Event.Body, nil
	if j.Target.Format == OwnFormat {
		return nil
	}
	f := d.byName[j.Target.Format]
	if f == nil {
		return fmt.Errorf("%w: %q of endpoint %s", delivery.ErrNoFormat, j.Target.Format, j.Target.ID)
	}
	out, err := d.request(ctx, f, j)
	if err != nil {
		return fmt.Errorf("writing an event for endpoint %s: %w", j.Target.ID, err)
	}
	j.Body, j.Formatted = string(out.Body), make(http.Header, len(out.Headers))
	for name, values := range out.Headers {
		for _, value := range values {
			if !isToken(name) || !isHeaderValue(value) {
				return fmt.Errorf("writing an event for endpoint %s: its header %q cannot be sent", j.Target.ID, name)
			}
			j.Formatted.Add(name, value)
		}
	}
	return nil
}

// request asks a format for the request of a job.
func (d *formats) request(ctx context.Context, f Format, j *delivery.Job) (out Formatted, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.ErrorContext(ctx, "a webhook format panicked", "format", j.Target.Format, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("the format panicked")
		}
	}()
	return f.Write(ctx, Draft{Event: eventOf(j), URL: j.Target.URL, Now: d.now(), Key: j.Target.Key})
}

// eventOf is the event of a job, as it was published.
func eventOf(j *delivery.Job) Event {
	ev := Event{
		ID: j.Event.ID, Account: j.Target.Account, Scope: j.Target.Scope, Type: j.Event.Type, At: database.Time(j.Event.At),
		ChatID: j.Event.ChatID, MessageID: j.Event.MessageID, Body: []byte(j.Event.Body),
	}
	for name, values := range j.Event.Extra {
		if ev.Headers == nil {
			ev.Headers = map[string]string{}
		}
		ev.Headers[name] = values[0]
	}
	return ev
}
