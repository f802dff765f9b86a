package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
)

const (
	// atOnce is how many calls are made at the same time, of tools that change
	// nothing.
	atOnce = 4
	// maxSame is how often a tool is called with the same arguments.
	maxSame = 2
	// maxFailed is after how many failures in a row no more calls are made.
	maxFailed = 3
	// maxInvalid is how often the arguments of a tool may be wrong, until it is
	// called with right ones.
	maxInvalid = 3
)

// Codes of what a model is told instead of a result.
const (
	codeNoTool    = "tool.unknown"
	codeArguments = "tool.bad_arguments"
	codeSame      = "tool.repeated"
	codeMaxCalls  = "tool.too_many_calls"
	codeChanged   = "tool.changed"
	codeDenied    = "tool.denied"
)

// calls makes the calls of a turn that are not made yet. It returns a result
// when the leg ends with one that waits for consent.
func (w *worker) calls(ctx context.Context, turn int) (*flow.ModelResult, error) {
	for ctx.Err() == nil && w.journal.failures() == "" {
		due := w.journal.pending(turn)
		if len(due) == 0 {
			return nil, nil
		}
		if !w.tools.onlyReads(w.journal.entries[turn].answer.Message.Calls) {
			due = due[:1]
		}
		run, wait, err := w.started(ctx, turn, due)
		if err != nil {
			return nil, err
		}
		if err := w.make(ctx, run); err != nil {
			return nil, err
		}
		if wait != nil {
			return w.askFor(wait)
		}
	}
	return nil, nil
}

// started writes down that calls begin, up to one that needs consent. What is
// refused is done with that.
func (w *worker) started(ctx context.Context, turn int, due []int) (run []*entry, wait *entry, err error) {
	for _, i := range due {
		e := w.journal.callOf(turn, i)
		if e == nil {
			if e, err = w.judge(w.journal.entries[turn].answer.Message.Calls[i]); err != nil {
				return nil, nil, err
			}
			if err := w.journal.write(ctx, "begun", e); err != nil {
				return nil, nil, err
			}
		} else if e.Status == statusApproved {
			if err := w.consent.start(ctx, e); err != nil {
				return nil, nil, err
			}
		}
		switch e.Status {
		case statusStarted:
			run = append(run, e)
		case statusAsked:
			return run, e, nil
		}
	}
	return run, nil, nil
}

// judge decides what becomes of a call, as its entry.
func (w *worker) judge(c llm.ToolCall) (*entry, error) {
	asked := toolAsked{CallID: c.ID, Name: c.Name, Origin: c.Name, Arguments: json.RawMessage(`{}`)}
	t := w.tools.byName[c.Name]
	if t == nil {
		names := slices.Sorted(maps.Keys(w.tools.byName))
		return w.refused(asked, codeNoTool, "There is no such tool. The tools are: "+strings.Join(names, ", "))
	}
	asked.Origin, asked.Definition, asked.Repeatable = t.Origin, t.hash, t.ReadOnly || t.Idempotent
	asked.Private, asked.Untrusted, asked.Source, asked.Shared, asked.Others = t.Private, t.Untrusted, t.Source, t.Shared, t.Others
	arguments, err := t.arguments(c.Arguments)
	if err != nil {
		asked.Invalid = true
		return w.refused(asked, codeArguments, err.Error())
	}
	if asked.Arguments, err = canonical(arguments); err != nil {
		return nil, err
	}
	if t.Says {
		if asked.Arguments, err = w.outward.arguments(t, asked.Arguments); err != nil {
			asked.Invalid = true
			return w.refused(asked, codeArguments, err.Error())
		}
	}
	switch made, same := w.journal.made(asked); {
	case made >= w.limits.MaxToolCalls:
		return w.refused(asked, codeMaxCalls, fmt.Sprintf("You cannot make more than %d calls.", w.limits.MaxToolCalls))
	case same >= maxSame:
		return w.refused(asked, codeSame, "You have already called it with these arguments. Use the earlier result, or do something else.")
	}
	status := statusStarted
	if w.consent.needed(t) {
		if len(asked.Arguments) > maxAsked {
			asked.Invalid = true
			return w.refused(asked, codeArguments, fmt.Sprintf("A person must approve this call, and its arguments are too long to show: at most %d bytes are allowed.", maxAsked))
		}
		status = statusAsked
	}
	return w.journal.next(kindTool, status, asked)
}

// refused is the entry of a call that is not made.
func (w *worker) refused(asked toolAsked, code, why string) (*entry, error) {
	e, err := w.journal.next(kindTool, statusDone, asked)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(toolResult{Content: code + ": " + why, IsError: true, Code: code})
	if err != nil {
		return nil, fmt.Errorf("writing an entry of an agent: %w", err)
	}
	e.Result = string(raw)
	return e, e.read()
}

// canonical is a value in one form however it was written. Numbers stay as
// they are.
func canonical(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading arguments: %w", err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	return out, nil
}

// refusal says that the call was not made.
func (r *toolResult) refusal() bool {
	switch r.Code {
	case codeNoTool, codeArguments, codeSame, codeMaxCalls, codeChanged, codeDenied:
		return true
	}
	return false
}

// make makes calls, several at once if they are several.
func (w *worker) make(ctx context.Context, run []*entry) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, e := range run {
		g.Go(func() error {
			result, status, err := w.tools.call(ctx, w.tools.byName[e.asked.Name], e)
			if err != nil {
				return err
			}
			return w.journal.finish(ctx, e, status, came(result))
		})
	}
	return g.Wait()
}

// askFor ends the leg with a call that waits for consent.
func (w *worker) askFor(e *entry) (*flow.ModelResult, error) {
	r := w.result(flow.FinishApproval, StopApproval)
	r.Tool, r.Resume = e.asked.Origin, resume(e)
	d := json.NewDecoder(bytes.NewReader(e.asked.Arguments))
	d.UseNumber()
	if err := d.Decode(&r.Arguments); err != nil {
		return nil, fmt.Errorf("reading the arguments of a call: %w", err)
	}
	return r, nil
}
