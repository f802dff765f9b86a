package httpapi

import (
	"fmt"
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
)

// IsLimited reports whether the requests of an operation are counted by their
// address.
func IsLimited(op *huma.Operation) bool { return op.Metadata[limited] == true }

// Authorize says whether a caller has the rights that an operation needs. When
// that is only on some references, it notes which.
func Authorize(c huma.Context, who *Call) *Problem {
	op, caller := c.Operation(), who.Caller
	if caller.Scoped && op.Extensions[loginOnly] == true {
		return NewProblem(CodeForbidden, "a scoped token is not allowed here: use the token of a login")
	}
	if op.Extensions[ownerOnly] == true && !caller.Owner {
		return NewProblem(CodeForbidden, "only an owner of the account may do this")
	}
	needs := op.Security[0][bearer]
	if param, _ := op.Metadata[self].(string); param != "" && c.Param(param) != caller.User {
		needs = []string{string(auth.UsersManage)}
	}
	for _, need := range needs {
		only, all := caller.References(auth.Permission(need))
		if all {
			continue
		}
		if len(only) == 0 {
			return MissingPermission(auth.Permission(need))
		}
		if b, _ := op.Metadata[boundTo].(Binding); b.account || len(b.at) == 0 && !b.lists {
			return NewProblem(CodeForbidden, "the permission "+need+" is required for every reference")
		}
		who.Only = only
	}
	return nil
}

// MissingPermission refuses a caller who has not a permission.
func MissingPermission(p auth.Permission) *Problem {
	return NewProblem(CodeForbidden, "the permission "+string(p)+" is required")
}

// CrossSite refuses a request that a page of another site makes with a cookie,
// or for one.
func CrossSite() *Problem {
	return NewProblem(CodeForbidden, "a request with a cookie must come from a page of this server")
}

// Refuse writes a problem as huma writes its own.
func (a *API) Refuse(c huma.Context, p *Problem) {
	for k, vs := range p.Header {
		for _, v := range vs {
			c.SetHeader(k, v)
		}
	}
	c.SetHeader("Content-Type", problemType)
	c.SetStatus(p.Status)
	_ = huma.DefaultJSONFormat.Marshal(c.BodyWriter(), p) // a client that has gone
}

// ShowRate tells the client what is left, and refuses when nothing is.
func ShowRate(c huma.Context, q auth.Quota) *Problem {
	c.SetHeader("RateLimit-Limit", strconv.Itoa(q.Limit))
	c.SetHeader("RateLimit-Remaining", strconv.Itoa(q.Remaining))
	c.SetHeader("RateLimit-Reset", strconv.Itoa(int(math.Ceil(q.Reset.Seconds()))))
	if !q.Over {
		return nil
	}
	return RateLimited(q)
}

// RateLimited refuses one request too many.
func RateLimited(q auth.Quota) *Problem {
	return NewProblem(CodeRateLimited, fmt.Sprintf("more than %d requests a minute", q.Limit)).RetryAfter(q.Reset)
}
