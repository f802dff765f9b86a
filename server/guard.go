package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
)

// guard lets a request pass to its operation, with the caller in its context:
// limits first, then 401, then 403. It reads the security that the document
// shows, so that the two cannot differ.
func (a *api) guard(c huma.Context, next func(huma.Context)) {
	req := requestOf(c.Context())
	who := call{Client: req.client, foreign: !a.s.sameOrigin(c)}
	if p := a.admit(c, req, &who); p != nil {
		a.refuse(c, p)
		return
	}
	next(huma.WithValue(huma.WithValue(c, callKey{}, who), serverKey{}, a.s))
}

func (a *api) admit(c huma.Context, req *request, who *call) *Problem {
	op := c.Operation()
	if op.Metadata[limited] == true {
		q, err := a.s.Auth.TakePublic(c.Context(), req.client)
		if err != nil {
			return a.s.problemOf(c.Context(), err)
		}
		if p := quota(c, q); p != nil {
			return p
		}
	}
	if len(op.Security) == 0 {
		return nil
	}
	caller, err := a.s.callerOf(c)
	if err != nil {
		return a.s.problemOf(c.Context(), err)
	}
	who.Caller, req.account = caller, caller.Account
	if a.s.cfg.APILimit > 0 {
		if p := quota(c, a.s.limits.take(caller.TokenID, a.s.cfg.APILimit, a.s.cfg.Now())); p != nil {
			return p
		}
	}
	if caller.Cookie && who.foreign {
		return foreign()
	}
	return allowed(c, caller)
}

// allowed says whether a caller has the rights that an operation needs.
func allowed(c huma.Context, caller auth.Caller) *Problem {
	op := c.Operation()
	if caller.Scoped && op.Extensions[loginOnly] == true {
		return problem(codeForbidden, "a scoped token is not enough: the token of a login is required")
	}
	needs := op.Security[0][bearer]
	if param, _ := op.Metadata[self].(string); param != "" && c.Param(param) != caller.User {
		needs = []string{string(auth.UsersManage)}
	}
	for _, need := range needs {
		if !caller.Can(auth.Permission(need)) {
			return lacking(auth.Permission(need))
		}
	}
	return nil
}

// lacking refuses a caller who has not a permission.
func lacking(p auth.Permission) *Problem {
	return problem(codeForbidden, "the permission "+string(p)+" is required")
}

// foreign refuses a request that a page of another site makes with a cookie,
// or for one.
func foreign() *Problem {
	return problem(codeForbidden, "a request with a cookie must come from a page of this server")
}

// callerOf says who makes a request: whose bearer token it has, else whose
// cookie.
func (s *Server) callerOf(c huma.Context) (auth.Caller, error) {
	if token, ok := bearerToken(c.Header("Authorization")); ok {
		return s.Auth.Authenticate(c.Context(), token)
	}
	if value := s.cookieOf(c); value != "" {
		return s.Auth.AuthenticateCookie(c.Context(), value)
	}
	return auth.Caller{}, problem(codeUnauthorized, "a bearer token is required: Authorization: Bearer <token>")
}

// refuse writes a problem as huma writes its own.
func (a *api) refuse(c huma.Context, p *Problem) {
	for k, vs := range p.header {
		for _, v := range vs {
			c.SetHeader(k, v)
		}
	}
	c.SetHeader("Content-Type", problemType)
	c.SetStatus(p.Status)
	_ = a.Marshal(c.BodyWriter(), "application/json", p) // a client that has gone
}

// bearerToken reads an Authorization header; the scheme's case does not matter.
func bearerToken(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// quota tells the client what is left, and refuses when nothing is.
func quota(c huma.Context, q auth.Quota) *Problem {
	c.SetHeader("RateLimit-Limit", strconv.Itoa(q.Limit))
	c.SetHeader("RateLimit-Remaining", strconv.Itoa(q.Remaining))
	c.SetHeader("RateLimit-Reset", strconv.Itoa(int(math.Ceil(q.Reset.Seconds()))))
	if !q.Over {
		return nil
	}
	return overQuota(q)
}

// overQuota refuses one request too many.
func overQuota(q auth.Quota) *Problem {
	return problem(codeRateLimited, fmt.Sprintf("more than %d requests a minute", q.Limit)).retryAfter(q.Reset)
}

// apiWindow is the window of Config.APILimit.
const apiWindow = time.Minute
