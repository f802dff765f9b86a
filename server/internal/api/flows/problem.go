package flows

import (
	"errors"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Problem translates the errors of the engines of bots and flows, and of runs,
// that are not of package apierr.
func Problem(err error) *httpapi.Problem {
	var malformed *aiflow.Malformed
	var bot *botengine.Refused
	var flow *aiflow.Refused
	var input *runtime.BadInput
	switch {
	case errors.As(err, &malformed):
		return malformedProject(malformed)
	case errors.As(err, &bot):
		return unpublishable("body.flow", bot.Problems)
	case errors.As(err, &flow):
		return unpublishable("body.draft", flow.Problems)
	case errors.As(err, &input):
		return httpapi.Invalid("body.input", input.Error())
	}
	return nil
}
