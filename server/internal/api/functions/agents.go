package functions

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// CallerOf returns a caller of functions with the rights of a user or a token.
func CallerOf(c auth.Caller) mcp.Caller {
	out := mcp.Caller{
		Account: c.Account, User: c.User, May: func(p string) bool { return c.Can(auth.Permission(p)) },
		On: func(p string) []int64 {
			only, _ := c.References(auth.Permission(p))
			return only
		},
	}
	if c.Scoped {
		out.Token = c.TokenID
	}
	return out
}

// Agents tells callers of functions what clients of the REST API are told.
type Agents struct {
	Problems *httpapi.Problems
	Token    func(ctx context.Context, token string) (auth.Caller, error) // see middleware.Guard
}

// Translate returns the error that a caller of a function is told; nil: that of
// an unknown failure.
func (a *Agents) Translate(err error) *mcp.Error {
	p := a.Problems.Find(context.Background(), err)
	if p == nil || p.Code == httpapi.CodeInternal {
		return nil
	}
	return toolError(p)
}

// Authenticate returns who has a bearer token and may call functions.
func (a *Agents) Authenticate(ctx context.Context, token string) (mcp.Caller, error) {
	caller, err := a.Token(ctx, token)
	if err == nil && !caller.Can(auth.MCPExecute) {
		err = httpapi.MissingPermission(auth.MCPExecute)
	}
	if err == nil {
		return CallerOf(caller), nil
	}
	if p := a.Problems.Known.Problem(err); p != nil {
		return mcp.Caller{}, toolError(p)
	}
	return mcp.Caller{}, err
}

// toolError writes a problem as an error of a function.
func toolError(p *httpapi.Problem) *mcp.Error {
	e := &mcp.Error{Code: p.Code, Message: p.Detail, RetryAfter: p.After, Status: p.Status}
	if p.Code == httpapi.CodeValidation {
		e.Code, e.Message = mcp.CodeInvalidArguments, "the arguments are not valid"
	}
	for _, fe := range p.Errors {
		_, argument, _ := strings.Cut(fe.Location, ".")
		e.Details = append(e.Details, mcp.Detail{Argument: argument, Message: fe.Message})
	}
	return e
}
