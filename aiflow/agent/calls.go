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
	"github.com/trunklinehq/trunkline/internal/database"
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
	for ctx.Err() == nil && w.failures() == "" {
		due := w.pending(turn)
		if len(due) == 0 {
			return nil, nil
		}
		if !w.onlyReads(turn) {
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

// pending are the calls of a turn that are not done, by their places.
func (w *worker) pending(turn int) (out []int) {
	for i := range w.entries[turn].answer.Message.Calls {
		if e := w.callOf(turn, i); e == nil || e.DoneUS == 0 {
			out = append(out, i)
		}
	}
	return out
}

// onlyReads says that no call of a turn changes anything.
func (w *worker) onlyReads(turn int) bool {
	return !slices.ContainsFunc(w.entries[turn].answer.Message.Calls, func(c llm.ToolCall) bool {
		t := w.tools[c.Name]
		return t == nil || !t.ReadOnly
	})
}

// started writes down that calls begin, up to one that needs consent. What is
// refused is done with that.
func (w *worker) started(ctx context.Context, turn int, due []int) (run []*entry, wait *entry, err error) {
	for _, i := range due {
		e := w.callOf(turn, i)
		if e == nil {
			if e, err = w.judge(w.entries[turn].answer.Message.Calls[i]); err != nil {
				return nil, nil, err
			}
			if err := w.write(ctx, "begun", e); err != nil {
				return nil, nil, err
			}
		} else if e.Status == statusApproved {
			if err := w.consented(ctx, e); err != nil {
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
	t := w.tools[c.Name]
	if t == nil {
		names := slices.Sorted(maps.Keys(w.tools))
		return w.refused(asked, codeNoTool, "There is no such tool. There are: "+strings.Join(names, ", "))
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
		if asked.Arguments, err = w.sayable(t, asked.Arguments); err != nil {
			asked.Invalid = true
			return w.refused(asked, codeArguments, err.Error())
		}
	}
	switch made, same := w.made(asked); {
	case made >= w.limits.MaxToolCalls:
		return w.refused(asked, codeMaxCalls, fmt.Sprintf("No more than %d calls may be made.", w.limits.MaxToolCalls))
	case same >= maxSame:
		return w.refused(asked, codeSame, "You have called it with the same arguments before. Use what it returned, or do something else.")
	}
	status := statusStarted
	if w.needsConsent(t) {
		if len(asked.Arguments) > maxAsked {
			asked.Invalid = true
			return w.refused(asked, codeArguments, fmt.Sprintf("A person must approve the call, and can be shown no more than %d bytes of arguments.", maxAsked))
		}
		status = statusAsked
	}
	return w.next(kindTool, status, asked)
}

// refused is the entry of a call that is not made.
func (w *worker) refused(asked toolAsked, code, why string) (*entry, error) {
	e, err := w.next(kindTool, statusDone, asked)
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

// made counts the calls that were made, and how many of them were the same.
func (w *worker) made(a toolAsked) (made, same int) {
	for _, e := range w.entries {
		if e.Kind != kindTool || e.StartedUS == 0 || e.came.refusal() {
			continue
		}
		made++
		if e.asked.Name == a.Name && bytes.Equal(e.asked.Arguments, a.Arguments) {
			same++
		}
	}
	return made, same
}

// refusal says that the call was not made.
func (r *toolResult) refusal() bool {
	switch r.Code {
	case codeNoTool, codeArguments, codeSame, codeMaxCalls, codeChanged, codeDenied:
		return true
	}
	return false
}

// failures says whether calls failed so often that there are to be no more.
func (w *worker) failures() Stop {
	row, wrong := 0, map[string]int{}
	for _, e := range w.entries {
		if e.Kind != kindTool || e.DoneUS == 0 {
			continue
		}
		if e.came.Code == codeMaxCalls {
			return StopMaxCalls
		}
		row++
		if !e.came.IsError {
			row = 0
		}
		wrong[e.asked.Name]++
		if !e.asked.Invalid {
			wrong[e.asked.Name] = 0
		}
		if row >= maxFailed || wrong[e.asked.Name] >= maxInvalid {
			return StopToolFailures
		}
	}
	return ""
}

// make makes calls, several at once if they are several.
func (w *worker) make(ctx context.Context, run []*entry) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, e := range run {
		g.Go(func() error {
			result, status, err := w.call(ctx, w.tools[e.asked.Name], e)
			if err != nil {
				return err
			}
			return w.finish(ctx, e, status, came(result))
		})
	}
	return g.Wait()
}

// start makes an entry one of a call that begins.
func (w *worker) start(ctx context.Context, e *entry) error {
	from := e.Status
	e.Status, e.StartedUS = statusStarted, database.Micros(w.s.opts.Now())
	err := w.change(ctx, e, from, nil)
	if err == nil {
		w.s.opts.AfterCommit("begun")
	}
	return err
}
