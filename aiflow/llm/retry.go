package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryOptions are how often a model is asked again.
type RetryOptions struct {
	// Attempts is how often it is asked in all. 0: 3, −1: once.
	Attempts int
	// Wait is how long at least half of the pause before the second attempt
	// is; each later pause is twice as long. A provider that says how long to
	// wait is believed. 0: 500 ms.
	Wait time.Duration
	// MaxWait is the longest pause. A provider that wants a longer one is not
	// asked again. 0: 30 s.
	MaxWait time.Duration
}

// Retry asks a model again when it fails in a way that may pass, see
// [Error.Temporary]: never after parts of an answer have been given to OnText,
// and never beyond the context's deadline. When the pause would end behind
// that, the error comes at once.
func Retry(m Model, o *RetryOptions) Model {
	r := retrier{model: m}
	if o != nil {
		r.RetryOptions = *o
	}
	if r.Attempts == 0 {
		r.Attempts = 3
	}
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

// pause is how long to wait after an attempt. It is not the same for all, so
// that those who failed together do not come back together.
func (r retrier) pause(attempt int) time.Duration {
	d := r.Wait << min(attempt-1, 10)
	if d <= 0 || d > r.MaxWait {
		d = r.MaxWait
	}
	return d/2 + rand.N(d/2+1) //nolint:gosec // a pause is no secret
}

// late reports whether the caller will have gone after a pause.
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
