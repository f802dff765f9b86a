package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/text"
)

// EchoURL is the address of the built-in receiver.
const EchoURL = "trunkline://echo"

const (
	storedResponse = 1 << 10  // bytes of a response that the log shows
	drainResponse  = 64 << 10 // bytes read so that the connection can be used again
)

// Attempt is one try to deliver an event.
type Attempt struct {
	At         time.Time
	StatusCode int // 0: there was no response
	Duration   time.Duration
	Error      string // "" after a 2xx
	Response   string // its first KiB
	Fence      int64  // the claim under which it was made: it rises with each, until a replay; 0: a test
}

// answer is an attempt with what only the retry needs.
type answer struct {
	Attempt
	retryAfter time.Duration
}

func (a *answer) ok() bool { return a.StatusCode >= 200 && a.StatusCode < 300 }

// attempt makes one request. ctx ends with Options.Timeout.
func (d *Sender) attempt(ctx context.Context, j *Job) answer {
	started, a := time.Now(), answer{Attempt: Attempt{At: d.Now()}}
	h := j.header(a.At)
	var err error
	if j.Target.URL == EchoURL {
		err = d.echo(j, h.Header, &a)
	} else {
		err = d.post(ctx, j, h.Header, &a)
	}
	if err == nil && j.Formatted == nil { // else the transport may still read them, or they are not for others
		j.Target.sets.Put(h)
	}
	if timedOut(ctx) && err != nil {
		err = context.DeadlineExceeded
	}
	a.Duration = time.Since(started)
	switch {
	case err != nil:
		a.Error = d.explain(err)
	case a.ok():
	case a.StatusCode >= 300 && a.StatusCode < 400:
		a.Error = fmt.Sprintf("answered %d: redirects are not followed", a.StatusCode)
	default:
		a.Error = fmt.Sprintf("answered %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	}
	return a
}

// timedOut says whether it was the attempt that took too long.
func timedOut(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

// headerSet is the header of a delivery, to be used again for the endpoint.
type headerSet struct {
	http.Header
	extra  string    // the event's own that are in it
	traced bool      // a traceparent is in it
	values [6]string // what is of each delivery
}

// header is the header of a delivery.
func (j *Job) header(now time.Time) *headerSet {
	s, _ := j.Target.sets.Get().(*headerSet)
	if s == nil || j.Formatted != nil || s.extra != j.Event.Headers || s.traced != (j.Traceparent != "") {
		s = newHeaderSet(j)
	}
	at := strconv.FormatInt(now.Unix(), 10)
	s.values = [...]string{j.Event.Type, strconv.FormatInt(j.Seq, 10), j.Event.ID, at, sign(j.Event.ID, at, j.Body, j.Target.signers(now)...), j.Traceparent}
	return s
}

// newHeaderSet has the endpoint's headers, then ours, which win. Names are
// written as net/http would; the values of endpoint and event are shared, and
// must not be changed.
func newHeaderSet(j *Job) *headerSet {
	s := &headerSet{Header: make(http.Header, 8), extra: j.Event.Headers, traced: j.Traceparent != ""}
	h := s.Header
	h["User-Agent"] = j.Target.names.userAgent
	maps.Copy(h, j.Target.sent)
	maps.Copy(h, j.Formatted)
	h["Content-Type"] = contentType
	maps.Copy(h, j.Event.Extra)
	for i, name := range [...]string{j.Target.names.event, j.Target.names.sequence, HeaderID, HeaderTimestamp, HeaderSignature} {
		if i > 1 || j.Event.Extra[name] == nil { // what the event brings wins over what says the same
			h[name] = s.values[i : i+1 : i+1]
		}
	}
	if s.traced {
		h[headerTraceparent] = s.values[5:6:6]
	}
	if h[idempotencyKey] == nil {
		// The webhook-id makes a repeat harmless, so the transport may retry
		// when it met a connection that the server had just closed. A key
		// without values tells it so, and is not sent.
		h[idempotencyKey] = nil
	}
	return s
}

var contentType = []string{"application/json"}

const (
	idempotencyKey    = "Idempotency-Key"
	headerTraceparent = "Traceparent" // https://www.w3.org/TR/trace-context/
)

// post sends a delivery over HTTP.
func (d *Sender) post(ctx context.Context, j *Job, h http.Header, a *answer) error {
	if j.Target.url == nil {
		return errors.New("the URL is malformed")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", strings.NewReader(j.Body))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	req.URL, req.Host, req.Header = j.Target.url, j.Target.url.Host, h
	res, err := d.Client.Transport.RoundTrip(req) // as it is: nothing is to be followed, or remembered
	if err != nil {
		return err
	}
	defer res.Body.Close()
	a.StatusCode = res.StatusCode
	a.retryAfter = retryAfter(res.StatusCode, res.Header, a.At)
	if res.ContentLength == 0 {
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(res.Body, storedResponse)) // the status counts, whatever follows it
	a.Response = j.Target.masked(text.Sanitize(string(head)))
	_, _ = io.CopyN(io.Discard, res.Body, drainResponse)
	return nil
}

var errNoEcho = errors.New("the built-in receiver is not available")

// echo hands a delivery to the receiver in this process.
func (d *Sender) echo(j *Job, h http.Header, a *answer) error {
	if d.Echo == nil {
		return errNoEcho
	}
	a.StatusCode, a.Response = d.Echo(j, h, a.At)
	return nil
}

// explain says what kept a request from being answered, without the URL,
// which may hold a token, and without addresses of the server's own network.
func (d *Sender) explain(err error) string {
	switch {
	case errors.Is(err, errNoEcho):
		return err.Error()
	case errors.Is(err, guard.ErrRefused):
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", d.Timeout)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return guard.Reason(err)
}
