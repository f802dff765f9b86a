package functions

import (
	"cmp"
	"errors"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
)

// functionError returns the error that the caller sees. An error of messaging keeps
// its code and names the argument. Other errors stay unchanged.
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

// unavailable reports that this program lacks a dependency of the function.
func unavailable(what string) error {
	return &mcp.Error{Code: mcp.CodeUnavailable, Message: "this server has no " + what}
}
