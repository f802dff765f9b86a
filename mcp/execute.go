package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Execute executes a call and returns its outcome. It returns by the deadline of
// the function, or a little later if the database does not answer. It never panics.
func (r *Registry) Execute(ctx context.Context, c Caller, req Request) Outcome {
	began := time.Now()
	x := &execution{r: r, f: r.catalogue.Load().byName[req.Function], caller: c, req: req}
	x.name = shown(text.Sanitize(req.Function))
	x.args, x.problem = object(req.Arguments)
	result, failed := x.run(ctx)
	out := r.outcome(x.name, result, failed, time.Since(began))
	x.audit(ctx, &out, time.Since(began))
	x.observe(&out, time.Since(began))
	return out
}

// execution is a call in progress.
type execution struct {
	r      *Registry
	f      *function // nil: unknown
	caller Caller
	only   []int64 // references on which the call is allowed; nil: all
	req    Request
	name   string // of the function, sanitized

	args    []byte // a JSON object; nil if they are not valid
	problem string // why they are not valid
}

func (x *execution) observe(out *Outcome, duration time.Duration) {
	if o := x.r.opts.Observer; o != nil && o.Called != nil {
		name := ""
		if x.f != nil {
			name = x.f.tool.Name
		}
		o.Called(name, out.code(), duration)
	}
}

// run passes the call along the chain. It recovers from panics outside of the
// handler, which come from the caller's May and On or from a type's own
// unmarshaler.
func (x *execution) run(ctx context.Context) (result []byte, failed *Error) {
	timeout := x.r.opts.Timeout
	if x.f != nil {
		timeout = x.f.timeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			failed = x.failure(ctx, newPanicked(v))
		}
	}()
	if failed := x.forbidden(); failed != nil {
		return nil, failed
	}
	if failed := x.limited(ctx); failed != nil {
		return nil, failed
	}
	if x.f == nil {
		return nil, refusal(CodeUnknownFunction, "there is no function with this name: list the functions")
	}
	if x.problem != "" {
		return nil, invalid([]Detail{{all, x.problem}})
	}
	in, details := x.f.decode(x.args)
	if len(details) > 0 {
		return nil, invalid(details)
	}
	x.f.narrow(in, x.only)
	return x.handle(ctx, in)
}

func invalid(details []Detail) *Error {
	failed := refusal(CodeInvalidArguments, "the arguments are not valid")
	failed.Details = details
	return failed
}

func refusal(code, message string) *Error {
	return &Error{Code: code, Message: message, Details: []Detail{}}
}

func (x *execution) forbidden() *Error {
	if !x.caller.may(PermissionExecute) {
		return refusal(CodeForbidden, "this needs the permission "+PermissionExecute)
	}
	if x.f == nil {
		return nil
	}
	allowed, only := x.f.allowed(x.caller)
	x.only = only
	switch {
	case allowed:
		return nil
	case len(only) > 0:
		return refusal(CodeForbidden, "this needs the permission "+x.f.tool.Permission+" for every reference")
	}
	return refusal(CodeForbidden, "this needs the permission "+x.f.tool.Permission)
}

// limited counts the call against the limits. It refuses a call that cannot be
// counted.
func (x *execution) limited(ctx context.Context) *Error {
	t := x.charge()
	if t == nil {
		return nil
	}
	if err := x.r.db.Wait(ctx, func(ctx context.Context) error { return x.r.charges.Do(ctx, t) }); err != nil {
		return x.failure(ctx, &uncounted{err})
	}
	if t.wait == 0 {
		return nil
	}
	seconds := int(math.Ceil(t.wait.Seconds()))
	failed := refusal(CodeRateLimited, fmt.Sprintf("%s; try again in %d s", t.over, seconds))
	failed.RetryAfter = t.wait
	return failed
}

// uncounted is an error that kept a call from being counted.
type uncounted struct{ error }

func (e *uncounted) Unwrap() error { return e.error }

// failure returns the error that the caller sees.
func (x *execution) failure(ctx context.Context, err error) *Error {
	var (
		ours   *Error
		no     *uncounted
		broken *panicked
	)
	log := x.r.opts.Logger
	switch {
	case errors.As(err, &ours):
		return x.chosen(ctx, ours)
	case errors.As(err, &broken):
		x.logPanic(ctx, broken)
		return internal()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return refusal(CodeTimeout, "the function did not answer in time; it may still take effect")
	case errors.As(err, &no) && ctx.Err() == nil, database.IsUnwritable(err):
		log.ErrorContext(ctx, "a function call could not reach the database", slog.String("function", x.name), slog.Any("error", err))
		return refusal(CodeUnavailable, "this is temporarily not possible: try again")
	}
	if t := x.r.opts.Translate; t != nil {
		if ours = t(err); ours != nil {
			return x.chosen(ctx, ours)
		}
	}
	if ctx.Err() != nil {
		return refusal(CodeUnavailable, "the call was cancelled before it was answered")
	}
	log.ErrorContext(ctx, "a function failed", slog.String("function", x.name), slog.Any("error", err))
	return internal()
}

func (x *execution) logPanic(ctx context.Context, p *panicked) {
	x.r.opts.Logger.ErrorContext(ctx, "a function panicked",
		slog.String("function", x.name), slog.String("panic", p.what), slog.String("stack", p.stack))
}

// chosen returns an error that a handler meant for its caller.
func (x *execution) chosen(ctx context.Context, e *Error) *Error {
	if e.Code == "" || e.Code == CodeInternal {
		x.r.opts.Logger.ErrorContext(ctx, "a function failed", slog.String("function", x.name), slog.Any("error", e))
		return internal()
	}
	out := *e
	out.Details = append([]Detail{}, e.Details...)
	return &out
}

func internal() *Error {
	return refusal(CodeInternal, "the function failed; the server's log has the cause")
}
