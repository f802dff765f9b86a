package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// answer is the answer of a model, collected from the events of its stream.
type answer struct {
	model    string
	blocks   []*block
	stop     anthropic.StopReason
	usage    llm.Usage
	plain    int64 // input that was neither read from nor written to a cache
	complete bool  // message_stop was seen
}

// block is a block of a message.
type block struct {
	start     anthropic.ContentBlockStartEventContentBlockUnion
	text      strings.Builder // or thinking
	signature strings.Builder
	input     strings.Builder // the arguments of a call
}

// maxBlocks exceeds the number of blocks of any real message.
const maxBlocks = 1024

var errBlocks = errors.New("the blocks of the message are out of order")

// follow reads an answer from its stream.
func (a *answer) follow(s *ssestream.Stream[anthropic.MessageStreamEventUnion], on func(string)) error {
	defer s.Close() //nolint:errcheck // it was read completely, or is given up
	for s.Next() {
		event := s.Current()
		switch event.Type {
		case "message_start":
			a.model = event.Message.Model
			a.count(event.Message.Usage.JSON.InputTokens.Valid(), event.Message.Usage)
		case "content_block_start":
			if event.Index != int64(len(a.blocks)) || event.Index == maxBlocks {
				return errBlocks
			}
			b := &block{start: event.ContentBlock}
			b.text.WriteString(b.start.Text + b.start.Thinking)
			b.signature.WriteString(b.start.Signature)
			a.blocks = append(a.blocks, b)
		case "content_block_delta":
			if event.Index < 0 || event.Index >= int64(len(a.blocks)) {
				return errBlocks
			}
			a.blocks[event.Index].add(event.Delta, on)
		case "message_delta":
			a.stop = event.Delta.StopReason
			a.recount(event.Usage)
		case "message_stop":
			a.complete = true
			return nil
		}
	}
	return s.Err()
}

func (b *block) add(d anthropic.MessageStreamEventUnionDelta, on func(string)) {
	switch d.Type {
	case "text_delta":
		b.text.WriteString(d.Text)
		if d.Text != "" {
			on(d.Text)
		}
	case "thinking_delta":
		b.text.WriteString(d.Thinking)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.input.WriteString(d.PartialJSON)
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
			res.Message.Calls = append(res.Message.Calls, llm.ToolCall{ID: b.start.ID, Name: b.start.Name, Arguments: b.arguments()})
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
	if s := b.start.JSON.Input.Raw(); s != "" && s != "null" {
		return s
	}
	return "{}"
}

func (a *answer) stopped() llm.Stop {
	switch a.stop {
	case anthropic.StopReasonToolUse:
		return llm.StopTools
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return llm.StopLength
	case anthropic.StopReasonRefusal:
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
			out = append(out, json.RawMessage(b.start.RawJSON()))
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
func (a *answer) count(known bool, u anthropic.Usage) {
	a.usage.Known = known
	a.plain = max(0, u.InputTokens)
	a.usage.CacheRead = max(0, u.CacheReadInputTokens)
	a.usage.CacheWrite = max(0, u.CacheCreationInputTokens)
	if hour := u.CacheCreation.Ephemeral1hInputTokens; hour > 0 && hour <= a.usage.CacheWrite {
		a.usage.CacheWrite1h, a.usage.CacheWrite = hour, a.usage.CacheWrite-hour
	}
	a.usage.Output = max(0, u.OutputTokens)
	a.sum()
}

// recount reads the usage at the end of a message, which has the totals of what may
// have changed.
func (a *answer) recount(u anthropic.MessageDeltaUsage) {
	if u.JSON.OutputTokens.Valid() {
		a.usage.Known, a.usage.Output = true, max(0, u.OutputTokens)
	}
	if u.JSON.OutputTokensDetails.Valid() {
		a.usage.Reasoning = min(max(0, u.OutputTokensDetails.ThinkingTokens), a.usage.Output)
	}
	if u.JSON.InputTokens.Valid() {
		a.plain = max(0, u.InputTokens)
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		a.usage.CacheRead = max(0, u.CacheReadInputTokens)
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		a.usage.CacheWrite = max(0, u.CacheCreationInputTokens-a.usage.CacheWrite1h)
	}
	a.sum()
}

func (a *answer) sum() {
	a.usage.Input = a.plain + a.usage.CacheRead + a.usage.CacheWrite + a.usage.CacheWrite1h
	if !a.usage.Known {
		a.usage = llm.Usage{}
	}
}
