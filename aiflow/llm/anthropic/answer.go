package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// answer is the answer of a model, collected from the events of its stream.
type answer struct {
	model    string
	blocks   []*block
	stop     string
	usage    llm.Usage
	plain    int64 // input that was neither read from nor written to a cache
	complete bool  // message_stop was seen
}

// block is a block of a message.
type block struct {
	start     blockStart
	raw       json.RawMessage // of start
	text      strings.Builder // or thinking
	signature strings.Builder
	input     strings.Builder // the arguments of a call
}

// maxBlocks exceeds the number of blocks of any real message.
const maxBlocks = 1024

var errBlocks = errors.New("the blocks of the message are out of order")

// follow reads an answer from its stream.
func (a *answer) follow(ctx context.Context, s *wire.API, r *messageRequest, on func(string)) error {
	return s.Stream(ctx, "v1/messages", r, func(data []byte) error {
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("reading the stream: %w", err)
		}
		if e.Type == "error" {
			return wire.Refusal("", 0, nil, data)
		}
		return a.event(&e, on)
	})
}

// event adds an event to the answer. It returns [io.EOF] after the last one.
func (a *answer) event(e *event, on func(string)) error {
	switch e.Type {
	case "message_start":
		a.model = string(e.Message.Model)
		a.count(&e.Message.Usage)
	case "content_block_start":
		return a.begin(e)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= wire.Number(len(a.blocks)) {
			return errBlocks
		}
		a.blocks[e.Index].add(&e.Delta, on)
	case "message_delta":
		a.stop = string(e.Delta.StopReason)
		a.recount(&e.Usage)
	case "message_stop":
		a.complete = true
		return io.EOF
	}
	return nil
}

// begin begins a block.
func (a *answer) begin(e *event) error {
	if e.Index != wire.Number(len(a.blocks)) || e.Index == maxBlocks {
		return errBlocks
	}
	b := &block{raw: e.ContentBlock}
	if err := json.Unmarshal(b.raw, &b.start); err != nil {
		return fmt.Errorf("reading a block: %w", err)
	}
	b.text.WriteString(string(b.start.Text + b.start.Thinking))
	b.signature.WriteString(string(b.start.Signature))
	a.blocks = append(a.blocks, b)
	return nil
}

func (b *block) add(d *delta, on func(string)) {
	switch d.Type {
	case "text_delta":
		b.text.WriteString(string(d.Text))
		if d.Text != "" {
			on(string(d.Text))
		}
	case "thinking_delta":
		b.text.WriteString(string(d.Thinking))
	case "signature_delta":
		b.signature.WriteString(string(d.Signature))
	case "input_json_delta":
		b.input.WriteString(string(d.PartialJSON))
	}
}

// response converts the answer.
func (a *answer) response(call wire.Call) (*llm.Response, error) {
	res := &llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant}, Stop: a.stopped(), Usage: a.usage, Provider: call.Provider, Model: a.model,
	}
	res.Model = cmp.Or(res.Model, call.Model)
	for _, b := range a.blocks {
		switch b.start.Type {
		case "text":
			if b.text.Len() > 0 {
				res.Message.Parts = append(res.Message.Parts, llm.Part{Text: b.text.String()})
			}
		case "tool_use":
			res.Message.Calls = append(res.Message.Calls, llm.ToolCall{ID: string(b.start.ID), Name: string(b.start.Name), Arguments: b.arguments()})
		}
	}
	if res.Stop != llm.StopTools {
		res.Message.Calls = nil // incomplete calls are dropped
		return res, nil
	}
	for _, c := range res.Message.Calls {
		if c.ID == "" || c.Name == "" {
			return nil, call.Malformed("a call names no tool")
		}
	}
	if len(res.Message.Calls) == 0 {
		return nil, call.Malformed("it stops for tools and calls none")
	}
	raw, err := a.raw()
	if err != nil {
		return nil, call.Malformed("a part of it is no JSON")
	}
	res.Message.Raw, res.Message.RawProvider = raw, call.Provider
	return res, nil
}

// arguments returns the arguments that were streamed, or else those at the start of
// the block.
func (b *block) arguments() string {
	if s := strings.TrimSpace(b.input.String()); s != "" {
		return s
	}
	if s := string(b.start.Input); s != "" && s != "null" {
		return s
	}
	return "{}"
}

func (a *answer) stopped() llm.Stop {
	switch a.stop {
	case "tool_use":
		return llm.StopTools
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefused
	}
	return llm.StopDone
}

// raw returns the blocks for the next request: a model that thinks before it calls
// a tool requires its signed thoughts.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
func (a *answer) raw() (json.RawMessage, error) {
	var out []any
	for _, b := range a.blocks {
		switch b.start.Type {
		case "text":
			if b.text.Len() > 0 { // the provider refuses empty blocks
				out = append(out, map[string]any{"type": "text", "text": b.text.String()})
			}
		case "thinking":
			out = append(out, map[string]any{"type": "thinking", "thinking": b.text.String(), "signature": b.signature.String()})
		case "tool_use":
			out = append(out, map[string]any{"type": "tool_use", "id": b.start.ID, "name": b.start.Name, "input": object(b.arguments())})
		default:
			out = append(out, b.raw)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing the message: %w", err)
	}
	return raw, nil
}

// count reads the usage at the start of a message. The provider counts cached
// tokens separately; package llm counts them as part of the input.
func (a *answer) count(u *usage) {
	a.usage.Known = u.InputTokens != nil
	a.plain = count(u.InputTokens)
	a.usage.CacheRead = count(u.CacheReadInputTokens)
	a.usage.CacheWrite = count(u.CacheCreationInputTokens)
	if hour := u.CacheCreation.Ephemeral1hInputTokens.Count(); hour > 0 && hour <= a.usage.CacheWrite {
		a.usage.CacheWrite1h, a.usage.CacheWrite = hour, a.usage.CacheWrite-hour
	}
	a.usage.Output = count(u.OutputTokens)
	a.sum()
}

// recount reads the usage at the end of a message, which has the totals of what may
// have changed.
func (a *answer) recount(u *usage) {
	if u.OutputTokens != nil {
		a.usage.Known, a.usage.Output = true, u.OutputTokens.Count()
	}
	if u.OutputTokensDetails != nil {
		a.usage.Reasoning = min(u.OutputTokensDetails.ThinkingTokens.Count(), a.usage.Output)
	}
	if u.InputTokens != nil {
		a.plain = u.InputTokens.Count()
	}
	if u.CacheReadInputTokens != nil {
		a.usage.CacheRead = u.CacheReadInputTokens.Count()
	}
	if u.CacheCreationInputTokens != nil {
		a.usage.CacheWrite = max(0, u.CacheCreationInputTokens.Count()-a.usage.CacheWrite1h)
	}
	a.sum()
}

func (a *answer) sum() {
	a.usage.Input = a.plain + a.usage.CacheRead + a.usage.CacheWrite + a.usage.CacheWrite1h
	if !a.usage.Known {
		a.usage = llm.Usage{}
	}
}
