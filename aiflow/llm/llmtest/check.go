package llmtest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check refuses requests that both providers refuse.
func check(r *llm.Request) error {
	if r.Model == "" {
		return errors.New("model: is required")
	}
	if len(r.Messages) == 0 || r.Messages[0].Role != llm.RoleUser {
		return errors.New("messages: the first must be of the user")
	}
	for _, t := range r.Tools {
		if !toolName.MatchString(t.Name) {
			return fmt.Errorf("tools: %q is not a valid name", t.Name)
		}
	}
	var open []string // ids of the calls without a result
	for _, m := range r.Messages {
		if m.Role != llm.RoleTool && len(open) > 0 {
			return errors.New("messages: each call must be followed by its result")
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
		for _, result := range m.Results {
			i := slices.Index(open, result.CallID)
			if i < 0 {
				return fmt.Errorf("messages: there is no call %q for a result", result.CallID)
			}
			open = slices.Delete(open, i, i+1)
		}
	}
	if len(open) > 0 {
		return errors.New("messages: each call must be followed by its result")
	}
	return nil
}
