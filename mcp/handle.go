package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// answer is the result of a handler.
type answer struct {
	result []byte
	err    error
}

// The states of a running handler.
const (
	underWay int32 = iota
	over
	abandoned
)

// handle runs the handler in a goroutine of its own, so that the call can end
// although a handler ignores its context.
func (x *execution) handle(ctx context.Context, in any) ([]byte, *Error) {
	if x.r.stray.Load() >= MaxStray {
		x.r.opts.Logger.ErrorContext(ctx, "too many functions run past their deadlines")
		return nil, refusal(CodeUnavailable, "this is temporarily not possible: try again")
	}
	reports := &progress{to: x.req.Progress}
	defer reports.end()
	c := Call{Caller: x.caller, Only: x.only, Function: x.f.tool.Name, report: reports.report}
	done := make(chan answer, 1)
	var state atomic.Int32
	go func() {
		var a answer
		returned := false // false: the handler ended its goroutine
		defer func() {
			if v := recover(); v != nil || !returned {
				a = answer{err: newPanicked(v)}
			}
			done <- a
			if !state.CompareAndSwap(underWay, over) {
				x.r.stray.Add(-1)
				x.late(ctx, a.err)
			}
		}()
		a = x.answer(ctx, c, in)
		returned = true
	}()
	select {
	case a := <-done:
		return x.result(ctx, a)
	case <-ctx.Done():
		select { // completed in time, and not abandoned before
		case a := <-done:
			return x.result(ctx, a)
		default:
		}
	}
	x.r.stray.Add(1)
	if !state.CompareAndSwap(underWay, abandoned) {
		x.r.stray.Add(-1)
		return x.result(ctx, <-done)
	}
	return nil, x.failure(ctx, ctx.Err())
}

// late logs the panic of a handler whose caller was answered before.
func (x *execution) late(ctx context.Context, err error) {
	if broken, ok := errors.AsType[*panicked](err); ok {
		x.logPanic(ctx, broken)
	}
}

func (x *execution) result(ctx context.Context, a answer) ([]byte, *Error) {
	if a.err != nil {
		return nil, x.failure(ctx, a.err)
	}
	return a.result, nil
}

// answer calls the handler, or its plan for a dry run.
func (x *execution) answer(ctx context.Context, c Call, in any) answer {
	var out any
	var err error
	switch {
	case !x.req.DryRun:
		out, err = x.f.call(ctx, c, in)
	case x.f.plan != nil:
		out, err = x.f.plan(ctx, c, in)
		out = dryRun{true, out}
	default:
		out = dryRun{true, struct {
			Allowed bool `json:"allowed"`
		}{true}}
	}
	if err != nil {
		return answer{err: err}
	}
	result, err := encode(out)
	return answer{result, err}
}

// dryRun is the result of a dry run.
type dryRun struct {
	DryRun bool `json:"dryRun"`
	Plan   any  `json:"plan"`
}

// encode encodes a result.
func encode(out any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	result := bytes.TrimRight(b.Bytes(), "\n")
	switch {
	case jsonscan.Kind(result) != '{':
		return nil, errors.New("the result is not an object")
	case len(result) > MaxResult:
		return nil, refusal(CodeTooLarge, fmt.Sprintf("the result has more than %d bytes: request less at once", MaxResult))
	}
	return result, nil
}

// panicked is a panic of a handler. It omits the panic's value, which may hold
// arguments, unless the runtime made it.
type panicked struct {
	what, stack string
}

func newPanicked(v any) *panicked {
	p := &panicked{what: fmt.Sprintf("%T", v), stack: string(debug.Stack())}
	if err, ok := v.(runtime.Error); ok {
		p.what = err.Error()
	}
	return p
}

func (p *panicked) Error() string { return "panic: " + p.what }

// progress reports the progress of a call until it is answered.
type progress struct {
	to    func(done, total float64, text string)
	mu    sync.Mutex
	ended bool
}

func (p *progress) report(done, total float64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to != nil && !p.ended {
		p.to(done, total, text)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
