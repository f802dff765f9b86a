package protocol

import (
	"encoding/json"
	"fmt"
)

// texts says which of a function's arguments are texts; the others are written
// as they are given. It fails if there is no such function or argument.
func (h *Handler) texts(function string, names []string) (map[string]bool, error) {
	tool, ok := h.tools[function]
	if !ok {
		return nil, fmt.Errorf("there is no function %q", function)
	}
	var schema struct {
		Properties map[string]struct{ Type string }
	}
	if err := json.Unmarshal(tool.Input, &schema); err != nil {
		return nil, fmt.Errorf("reading the arguments of %s: %w", function, err)
	}
	texts := make(map[string]bool, len(names))
	for _, name := range names {
		argument, ok := schema.Properties[name]
		if !ok {
			return nil, fmt.Errorf("%s has no argument %q", function, name)
		}
		texts[name] = argument.Type == "string"
	}
	return texts, nil
}

// arguments makes those of a function from texts. What should be a number and
// is none stays a text, which the registry then names; what is not given is
// left out.
func arguments(names []string, texts map[string]bool, values map[string]string) map[string]any {
	out := make(map[string]any, len(names))
	for _, name := range names {
		value, given := values[name]
		switch {
		case !given:
		case texts[name] || !json.Valid([]byte(value)):
			out[name] = value
		default:
			out[name] = json.RawMessage(value)
		}
	}
	return out
}
