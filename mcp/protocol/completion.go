package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp"
)

// Completion proposes values for an argument of prompts, or a variable of
// resources, while a person types. The values come from a list that a function
// returns. Asking for them is a call of that function, with the same permission,
// limits and audit.
type Completion struct {
	Argument string // name of the argument or variable, in any prompt or resource
	Function string
	Given    []string // arguments of the function that the person has already chosen
	Search   string   // argument that takes the typed text; "": values with that prefix are proposed
	List     string   // member of the result that is the list
	Value    string   // member of an entry that is the value
}

// maxProposals is the maximum of the protocol.
const maxProposals = 100

type completionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error)

type completion struct {
	Completion
	texts map[string]bool
}

// addCompletions validates the completions of the options.
func (h *Handler) addCompletions() error {
	h.completions = map[string]*completion{}
	for _, given := range h.options.Completions {
		texts, err := h.texts(given.Function, given.Given)
		if err == nil && given.Search != "" {
			_, err = h.texts(given.Function, []string{given.Search})
		}
		if err != nil {
			return fmt.Errorf("completion of %q: %w", given.Argument, err)
		}
		h.completions[given.Argument] = &completion{Completion: given, texts: texts}
	}
	return nil
}

// completer completes arguments that the options name, and passes other requests
// on.
func (h *Handler) completer(others completionHandler) completionHandler {
	return func(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		if c := h.completionOf(req.Params); c != nil {
			return h.complete(ctx, c, req.Params)
		}
		if others != nil {
			return others(ctx, req)
		}
		return proposals(nil), nil
	}
}

// completionOf returns the completion of an argument; nil: there is none.
func (h *Handler) completionOf(p *sdk.CompleteParams) *completion {
	if h.resources[p.Ref.URI] == nil && h.prompts[p.Ref.Name] == nil {
		return nil
	}
	return h.completions[p.Argument.Name]
}

// complete calls the function. If it fails there are no proposals: the person
// continues typing.
func (h *Handler) complete(ctx context.Context, c *completion, p *sdk.CompleteParams) (*sdk.CompleteResult, error) {
	values := map[string]string{}
	if p.Context != nil {
		values = p.Context.Arguments
	}
	given := arguments(c.Given, c.texts, values)
	if c.Search != "" && p.Argument.Value != "" {
		given[c.Search] = p.Argument.Value
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	out := h.registry.Execute(ctx, callerOf(ctx), mcp.Request{Function: c.Function, Arguments: raw})
	if out.Error != nil {
		return proposals(nil), nil
	}
	found, err := c.values(out.Result)
	if err != nil {
		return nil, err
	}
	if c.Search == "" {
		found = slices.DeleteFunc(found, func(v string) bool { return !strings.HasPrefix(v, p.Argument.Value) })
	}
	return proposals(found), nil
}

// values takes them out of a result.
func (c *completion) values(result json.RawMessage) ([]string, error) {
	var members map[string]json.RawMessage
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(result, &members); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", c.Function, err)
	}
	if err := json.Unmarshal(members[c.List], &entries); err != nil {
		return nil, fmt.Errorf("reading %s of the result of %s: %w", c.List, c.Function, err)
	}
	values := make([]string, 0, len(entries))
	for _, e := range entries {
		var text string
		if json.Unmarshal(e[c.Value], &text) != nil {
			text = string(bytes.TrimSpace(e[c.Value])) // a number
		}
		if text != "" {
			values = append(values, text)
		}
	}
	return values, nil
}

func proposals(values []string) *sdk.CompleteResult {
	d := sdk.CompletionResultDetails{Values: values, Total: len(values)}
	if len(values) > maxProposals {
		d.Values, d.HasMore = values[:maxProposals], true
	}
	if d.Values == nil {
		d.Values = []string{}
	}
	return &sdk.CompleteResult{Completion: d}
}
