package functions

import (
	"cmp"
	"errors"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
)

// functionError is an error as its caller is told of it: what messaging refuses has the
// code that it has at every door, and names the argument. Other errors stay.
func functionError(err error, names map[string]string) error {
	var done *mcp.Error
	r, ok := messaging.Refused(err)
	if !ok || errors.As(err, &done) {
		return err
	}
	out := &mcp.Error{Code: r.Code, Message: r.Message, RetryAfter: r.After}
	if r.Code == messaging.CodeValidation {
		out.Code, out.Message = mcp.CodeInvalidArguments, "the arguments are not valid"
	}
	if r.Field != "" {
		field := strings.TrimPrefix(r.Field, "message.")
		out.Details = []mcp.Detail{{Argument: cmp.Or(names[field], field), Message: r.Why}}
	}
	return out
}

// unavailable says that this program lacks what a function needs.
func unavailable(what string) error {
	return &mcp.Error{Code: mcp.CodeUnavailable, Message: "this server has no " + what}
}
