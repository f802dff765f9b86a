package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

const (
	// maxTools is how many tools a model is shown; with more it chooses badly.
	maxTools = 20
	// maxRead is how many bytes of a result are read, and kept.
	maxRead = 1 << 20
)

// tool is a tool that the model may call.
type tool struct {
	llm.Tool
	schema *structured.Schema
	hash   string // of its definition
}

// The tools that agents have from us. They end the work, and are never called.
const (
	toolHandoff = "handoff"
	toolFinish  = "finish"
)

// toolbox holds the tools that the model may call, and calls them.
type toolbox struct {
	byName  map[string]*tool // by the names that the model knows
	shown   []llm.ToolSpec   // as the model is shown them
	timeout time.Duration    // of a call
	run     string           // id of the run, for the log
	log     *slog.Logger
}

// findTools finds the tools of the flow and adds those of this package.
func (w *worker) findTools(ctx context.Context) error {
	var all []llm.Tool
	if find := w.s.opts.Tools; find != nil {
		var err error
		if all, err = find(ctx, Scope{Run: w.r.Run, Node: w.r.Call.Node}, w.limits); err != nil {
			return fmt.Errorf("finding the tools of an agent: %w", err)
		}
	}
	all = append(w.ownTools(), all...)
	for _, t := range all {
		if err := w.tools.add(t); err != nil {
			w.s.opts.Logger.WarnContext(ctx, "an agent does without a tool", "tool", t.Origin, "run", w.r.Run.ID, "error", err)
		}
	}
	return nil
}

// ownTools returns the tools with which an agent says that it wants a person, or
// that a conversation is over.
func (w *worker) ownTools() (out []llm.Tool) {
	if slices.Contains(w.limits.Outputs, string(flow.FinishHandoff)) {
		out = append(out, llm.Tool{Origin: toolHandoff, ReadOnly: true, ToolSpec: llm.ToolSpec{
			Name: toolHandoff, Description: "Passes the conversation to a person. Call it when the contact asks for a person, or when you cannot help. It ends your work.",
			Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","description":"Information for the person."}},"additionalProperties":false}`),
		}})
	}
	if w.limits.Converse {
		schema := w.req.Schema
		about := "Ends the conversation. Call it when there is nothing left to say or ask; text is the last message to the contact."
		if !w.req.JSON {
			schema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"The last message to the contact."}},"required":["text"],"additionalProperties":false}`)
		} else {
			about = "Ends the conversation with its result."
		}
		out = append(out, llm.Tool{Origin: toolFinish, ReadOnly: true, ToolSpec: llm.ToolSpec{Name: toolFinish, Description: about, Schema: schema}})
	}
	return out
}

// add shows a tool to the model.
func (b *toolbox) add(t llm.Tool) error {
	if len(b.shown) >= maxTools {
		return fmt.Errorf("there are more than %d", maxTools)
	}
	if b.byName[t.Name] != nil {
		return errors.New("another tool has its name")
	}
	schema, err := structured.Compile(t.Schema)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{t.Name, t.Origin, t.Description, string(t.Schema)}, "\x00")))
	b.byName[t.Name] = &tool{t, schema, hex.EncodeToString(sum[:])}
	b.shown = append(b.shown, t.ToolSpec)
	return nil
}

// onlyReads reports whether none of some calls changes anything.
func (b *toolbox) onlyReads(calls []llm.ToolCall) bool {
	return !slices.ContainsFunc(calls, func(c llm.ToolCall) bool {
		t := b.byName[c.Name]
		return t == nil || !t.ReadOnly
	})
}

// arguments reads what a model wrote as arguments. A misfit is described for it.
func (t *tool) arguments(written string) (json.RawMessage, error) {
	if strings.TrimSpace(written) == "" {
		written = "{}"
	}
	raw := json.RawMessage(written)
	if !json.Valid(raw) {
		return nil, errors.New("they are not valid JSON")
	}
	_, v, err := t.schema.Read(written)
	if bad, ok := errors.AsType[*structured.Misfit](err); ok {
		return raw, errors.New(strings.Join(bad.Problems, "; "))
	}
	if err == nil {
		if _, is := v.(map[string]any); !is {
			err = errors.New("they must be a JSON object")
		}
	}
	return raw, err
}

// call calls a tool once. What it returns is for the model; only the end of ctx
// is an error.
func (b *toolbox) call(ctx context.Context, t *tool, e *entry) (toolResult, string, error) {
	within := b.timeout
	if errors.Is(ctx.Err(), context.Canceled) {
		return toolResult{}, "", ctx.Err()
	}
	tctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	type ending struct {
		out llm.ToolOutput
		err error
	}
	done := make(chan ending, 1)
	run := llm.ToolRun{Arguments: slices.Clone(e.asked.Arguments), Key: e.key()} // it may be read after the caller has gone
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- ending{err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
			}
		}()
		out, err := t.Call(tctx, run)
		done <- ending{out, err}
	}()
	var end ending
	select {
	case end = <-done:
	case <-tctx.Done():
		select {
		case end = <-done: // both at once
		default:
			end.err = tctx.Err()
		}
	}
	if end.err == nil {
		return toolResult{Content: truncate(end.out.Content, maxRead), Value: bounded(end.out.Value), IsError: end.out.IsError}, statusDone, nil
	}
	return b.failed(ctx, tctx, t, end.err, within)
}

// failed is what the model is told of a call that failed.
func (b *toolbox) failed(ctx, tctx context.Context, t *tool, err error, within time.Duration) (toolResult, string, error) {
	var known *llm.ToolError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return toolResult{}, "", ctx.Err() // the node stops: another says what became of it
	case errors.As(err, &known):
		return toolResult{Content: known.Code + ": " + known.Message, IsError: true, Code: known.Code}, statusDone, nil
	case tctx.Err() != nil && (t.ReadOnly || t.Idempotent):
		return toolResult{Content: fmt.Sprintf("tool.timeout: it did not answer within %s.", within), IsError: true, Code: "tool.timeout"}, statusDone, nil
	case tctx.Err() != nil:
		return toolResult{
			Content: fmt.Sprintf("effect.unknown: it did not answer within %s, and its outcome is unknown. Do not repeat it.", within),
			IsError: true, Code: flow.CodeUnknown,
		}, statusUnknown, nil
	}
	b.log.WarnContext(ctx, "a tool of an agent failed", "tool", t.Origin, "run", b.run, "error", err)
	return toolResult{Content: "tool.failed: the tool failed.", IsError: true, Code: "tool.failed"}, statusDone, nil
}

// bounded is a structured result, unless it is too large to be kept.
func bounded(v json.RawMessage) json.RawMessage {
	if len(v) > maxRead || !json.Valid(v) {
		return nil
	}
	return v
}
