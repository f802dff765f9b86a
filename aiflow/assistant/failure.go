package assistant

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// Failure converts the error of a model to an error of flows, with a code of
// package llm, or usage.CodeExceeded if a budget is exceeded.
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
