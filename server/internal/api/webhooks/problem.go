package webhooks

import (
	"errors"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/webhook"
)

// Problem translates the errors of package webhook.
func Problem(err error) *httpapi.Problem {
	var bad *webhook.Invalid
	switch {
	case errors.As(err, &bad):
		if bad.Field == "url" {
			return httpapi.Invalid("body.webhook", bad.Message)
		}
		return httpapi.Invalid("body."+bad.Field, bad.Message)
	case errors.Is(err, webhook.ErrNotFound):
		return httpapi.NewProblem(httpapi.CodeNotFound, "there is no such webhook")
	}
	return nil
}
