package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Problems finds the problem with which an error is answered.
type Problems struct {
	Known   Translators
	Log     *slog.Logger
	Refused func() // called when the store could not be written
}

// Of returns the problem that clients are told of err. An error that has no
// problem of its own is logged, and the client is told code internal.
func (p *Problems) Of(ctx context.Context, err error) *Problem {
	if found := p.Find(ctx, err); found != nil {
		return found
	}
	if ctx.Err() != nil {
		return NewProblem(CodeUnavailable, "the request was ended before it was answered")
	}
	p.Log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	return NewProblem(CodeInternal, "")
}

// storeRetry is when to try again after the store could not be written.
const storeRetry = 2 * time.Second

// Find returns the problem that err is or means, also when the store cannot be
// written for now; nil: there is none. The operator must act on the latter, so
// it is logged.
func (p *Problems) Find(ctx context.Context, err error) *Problem {
	if found := p.Known.Problem(err); found != nil {
		return found
	}
	if ctx.Err() != nil || !database.IsUnwritable(err) && !IsOpenFiles(err) {
		return nil
	}
	p.Refused()
	p.Log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", err))
	return StoreProblem(err)
}

// StoreProblem returns the problem of a store that cannot be written.
func StoreProblem(err error) *Problem {
	switch {
	case IsOpenFiles(err):
		return NewProblem(CodeUnavailable, "the server has too many open files: raise their limit (LimitNOFILE, ulimit -n), or close connections").RetryAfter(storeRetry)
	case database.IsFull(err):
		return NewProblem(CodeUnavailable, "the disk is full, so that the store cannot be written: free some space, and try again").RetryAfter(storeRetry)
	}
	return NewProblem(CodeUnavailable, "the store cannot be written for now: try again later").RetryAfter(storeRetry)
}

// IsOpenFiles reports whether an error means that the process or the system has too
// many open files.
func IsOpenFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
