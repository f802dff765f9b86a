package view

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// ModelError returns the problem of an error of a model that was asked while
// a caller waits; another error stays as it is.
func ModelError(err error) error {
	var failed *llm.Error
	switch {
	case errors.As(err, &failed) && failed.Code == llm.CodeNoModel:
		return httpapi.NewProblem(httpapi.CodeUnavailable, failed.Message)
	case errors.As(err, &failed):
		return httpapi.NewProblem(httpapi.CodeProviderError, string(failed.Code)+": the model did not answer")
	case errors.Is(err, context.DeadlineExceeded):
		return httpapi.NewProblem(httpapi.CodeProviderError, string(llm.CodeTimeout)+": the model did not answer in time")
	}
	return err
}
