package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/trunklinehq/trunkline/server/auth"
)

// guard lets a request pass to its operation, with the caller in its context:
// limits first, then 401, then 403. It reads the security that the document
// shows, so that the two cannot differ.
func (a *api) guard(c huma.Context, next func(huma.Context)) {
	req := requestOf(c.Context())
	who := call{Client: req.client, Agent: req.agent, device: a.s.deviceOf(c), foreign: !a.s.sameOrigin(c)}
	if p := a.admit(c, req, &who); p != nil {
		a.refuse(c, p)
		return
	}
	c = huma.WithContext(c, a.s.recording(c.Context(), req, who.Caller))
	next(huma.WithValue(huma.WithValue(c, callKey{}, who), serverKey{}, a.s))
}

func (a *api) admit(c huma.Context, req *request, who *call) *Problem {
	op := c.Operation()
	if op.Metadata[limited] == true {
		q, err := a.s.Auth.TakePublic(c.Context(), req.client)
		if err != nil {
			return a.s.problemOf(c.Context(), err)
		}
		if p := showRate(c, q); p != nil {
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
		if p := showRate(c, a.s.limits.take(caller.TokenID, a.s.cfg.APILimit, a.s.cfg.Now())); p != nil {
			return p
		}
	}
	if err := a.s.Quotas.Request(c.Context(), caller.Account); err != nil {
		return a.s.problemOf(c.Context(), err)
	}
	if caller.Cookie && who.foreign {
		return foreign()
	}
	return allowed(c, who)
}

// allowed says whether a caller has the rights that an operation needs. When
// that is only on some references, it notes which.
func allowed(c huma.Context, who *call) *Problem {
	op, caller := c.Operation(), who.Caller
	if caller.Scoped && op.Extensions[loginOnly] == true {
		return problem(codeForbidden, "a scoped token is not enough: the token of a login is required")
	}
	if op.Extensions[ownerOnly] == true && !caller.Owner {
		return problem(codeForbidden, "only an owner of the account may do it")
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
			return lacking(auth.Permission(need))
		}
		if b, _ := op.Metadata[boundTo].(binding); b.account || len(b.at) == 0 && !b.lists {
			return problem(codeForbidden, "the permission "+need+" is required on every reference")
		}
		who.only = only
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
// cookie. Of two headers a proxy in front may have looked at the other one.
func (s *Server) callerOf(c huma.Context) (auth.Caller, error) {
	if r, _ := humamux.Unwrap(c); len(r.Header.Values("Authorization")) > 1 {
		return auth.Caller{}, problem(codeUnauthorized, "there is more than one Authorization header")
	}
	authenticate, value := s.Auth.AuthenticateCookie, s.cookieOf(c)
	if token, ok := bearerToken(c.Header("Authorization")); ok {
		authenticate, value = s.Auth.Authenticate, token
	}
	if value == "" {
		return auth.Caller{}, problem(codeUnauthorized, "a bearer token is required: Authorization: Bearer <token>")
	}
	caller, err := authenticate(c.Context(), value)
	if err == nil {
		s.Auth.Seen(c.Context(), caller, requestOf(c.Context()).from())
	}
	return caller, err
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

// showRate tells the client what is left, and refuses when nothing is.
func showRate(c huma.Context, q auth.Quota) *Problem {
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
