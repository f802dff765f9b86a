package bridge

import (
	"context"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Authorize returns a function that adds a credential to a request of a flow, or
// tells the author of the flow why it cannot.
func Authorize(credentials *credential.Service) func(context.Context, string, string, *http.Request) error {
	return func(ctx context.Context, account, id string, r *http.Request) error {
		err := credentials.Authorize(ctx, account, id, r)
		why := ""
		switch {
		case errors.Is(err, credential.ErrNotFound):
			why = "The credential does not exist."
		case errors.Is(err, credential.ErrHost):
			why = "The credential is not for this host."
		case errors.Is(err, credential.ErrPlain):
			why = "The credential can only be sent over https."
		default:
			return err
		}
		return &flow.Error{Code: "http.credential", Message: why}
	}
}
