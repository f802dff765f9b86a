package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryOptions configures [Retry].
type RetryOptions struct {
	// Attempts is the maximum number of attempts. 0: 3, −1: one.
	Attempts int
	// Wait is the minimum of half of the pause before the second attempt; each
	// later pause is twice as long. If the provider returns a time to wait, that
	// applies. 0: 500 ms.
	Wait time.Duration
	// MaxWait is the maximum pause. There is no further attempt if the provider
	// requires a longer one. 0: 30 s.
	MaxWait time.Duration
}

// Retry returns a model that repeats calls after temporary errors, see
// [Error.Temporary]. It does not repeat a call after parts of an answer have been
// passed to OnText. If the pause would exceed the context's deadline it returns the
// error at once.
func Retry(m Model, o *RetryOptions) Model {
	r := retrier{model: m}
	if o != nil {
		r.RetryOptions = *o
	}
	r.Attempts = cmp.Or(r.Attempts, 3)
	if r.Wait <= 0 {
		r.Wait = 500 * time.Millisecond
	}
	if r.MaxWait <= 0 {
		r.MaxWait = 30 * time.Second
	}
	return r
}

type retrier struct {
	RetryOptions
	model Model
}

func (r retrier) Generate(ctx context.Context, req *Request) (*Response, error) {
	streamed := false
	if req.OnText != nil {
		watched, on := *req, req.OnText
		watched.OnText = func(part string) {
			streamed = true
			on(part)
		}
		req = &watched
	}
	for attempt := 1; ; attempt++ {
		res, err := r.model.Generate(ctx, req)
		var e *Error
		if err == nil || attempt >= r.Attempts || streamed || !errors.As(err, &e) || !e.Temporary() || e.Streamed {
			return res, err
		}
		pause := max(r.pause(attempt), e.After)
		if late(ctx, pause) || e.After > r.MaxWait {
			return res, err
		}
		if err := rest(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// pause returns how long to wait after an attempt. It is random, so that clients
// that failed together do not retry together.
func (r retrier) pause(attempt int) time.Duration {
	d := r.Wait << min(attempt-1, 10)
	if d <= 0 || d > r.MaxWait {
		d = r.MaxWait
	}
	return d/2 + rand.N(d/2+1) //nolint:gosec // a pause need not be unpredictable
}

// late reports whether the deadline is before the end of a pause.
func late(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) <= pause
}

func rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("llm: waiting for another attempt: %w", ctx.Err())
	}
}
