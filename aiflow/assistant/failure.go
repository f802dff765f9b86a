package assistant

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// Failure is why a model did not answer, as flows see it: with the codes of
// package llm, and usage.CodeExceeded when a budget is used up.
func Failure(err error) error {
	var known *flow.Error
	var failed *llm.Error
	var over *usage.Exceeded
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &over):
		return &flow.Error{Code: usage.CodeExceeded, Message: over.Error()}
	case errors.As(err, &failed):
		return &flow.Error{Code: string(failed.Code), Message: failed.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return &flow.Error{Code: flow.CodeLLMTimeout, Message: "The model did not answer in time."}
	}
	return err
}
