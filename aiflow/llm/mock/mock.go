package mock

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Model is a [llm.Model] that follows rules. It is safe for concurrent use.
type Model struct{}

// New returns a Model.
func New() *Model { return &Model{} }

// provider is the name of the provider in answers.
const provider = "mock"

const (
	assistant = "assistant"
	echo      = "echo"
)

// List lists the models, the default one first.
func (*Model) List(context.Context) ([]llm.Offer, error) {
	return []llm.Offer{{Name: assistant, Title: "Assistant of rules"}, {Name: echo, Title: "Echo"}}, nil
}

// Generate answers a request.
func (*Model) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mock: %w", err)
	}
	said := llm.Message{Role: llm.RoleAssistant}
	var text string
	switch r.Model {
	case echo:
		text = question(r)
	case assistant:
		text, said.Calls = reply(r)
	default:
		return nil, &llm.Error{Code: llm.CodeNoModel, Message: fmt.Sprintf("there is no model %q: there are %s and %s", r.Model, assistant, echo), Provider: provider, Model: r.Model}
	}
	res := &llm.Response{Stop: llm.StopDone, Provider: provider, Model: r.Model}
	if len(said.Calls) > 0 {
		res.Stop = llm.StopTools
	}
	if short := truncate(text, r.MaxTokens); short != text {
		text, res.Stop = short, llm.StopLength
	}
	if text != "" {
		said.Parts = []llm.Part{{Text: text}}
		stream(r, text)
	}
	res.Message = said
	res.Usage = llm.Usage{Known: true, Input: r.Estimate(), Output: said.Estimate()}
	return res, nil
}

// truncate truncates a text to a number of tokens.
func truncate(text string, tokens int) string {
	if tokens <= 0 {
		tokens = llm.DefaultMaxTokens
	}
	n := tokens * 4
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// stream passes the text to OnText word by word.
func stream(r *llm.Request, text string) {
	if r.OnText == nil {
		return
	}
	for part := range strings.SplitAfterSeq(text, " ") {
		if part != "" {
			r.OnText(part)
		}
	}
}

// question returns the last text of the user.
func question(r *llm.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := &r.Messages[i]; m.Role == llm.RoleUser {
			return strings.TrimSpace(m.Text())
		}
	}
	return ""
}

// results returns the results of tools since then.
func results(r *llm.Request) (out []llm.ToolResult) {
	for _, m := range r.Messages {
		switch m.Role {
		case llm.RoleUser:
			out = nil
		case llm.RoleTool:
			out = append(out, m.Results...)
		}
	}
	return out
}
