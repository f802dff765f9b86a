package protocol

import (
	"encoding/json"
	"fmt"
)

// texts reports which of a function's arguments are texts; others are written as
// they are given. It returns an error if there is no such function or argument.
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

// arguments converts texts to the arguments of a function. A text that should be a
// number and is not stays a text, which the registry then refuses. Missing values
// are left out.
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
