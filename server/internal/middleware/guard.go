package middleware

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/quota"
)

// Guard lets requests pass to operations: limits first, then 401, then 403.
type Guard struct {
	API       *httpapi.API
	Auth      *auth.Service
	Cookies   cookies.Jar
	Limit     int // requests of a token in a minute; 0: no limit
	Now       func() time.Time
	Origins   *http.CrossOriginProtection // see [NewOrigins]
	Problem   func(context.Context, error) *httpapi.Problem
	Quotas    *quota.Service
	Recording Recording

	limits TokenLimits
}

// Operation is the middleware of operations. It gives them the caller in their
// context. It reads the security that the document shows, so that the two
// cannot differ.
func (g *Guard) Operation(c huma.Context, next func(huma.Context)) {
	req := httpapi.RequestOf(c.Context())
	who := httpapi.Call{Client: req.Client, Agent: req.Agent, Device: g.Cookies.DeviceOf(c), Foreign: !g.sameOrigin(c)}
	if p := g.admit(c, req, &who); p != nil {
		g.API.Refuse(c, p)
		return
	}
	c = huma.WithContext(c, g.Recording.Context(c.Context(), req, who.Caller))
	next(httpapi.WithCall(c, who))
}

func (g *Guard) admit(c huma.Context, req *httpapi.Request, who *httpapi.Call) *httpapi.Problem {
	op := c.Operation()
	if httpapi.IsLimited(op) {
		q, err := g.Auth.TakePublic(c.Context(), req.Client)
		if err != nil {
			return g.Problem(c.Context(), err)
		}
		if p := httpapi.ShowRate(c, q); p != nil {
			return p
		}
	}
	if len(op.Security) == 0 {
		return nil
	}
	caller, err := g.Caller(c)
	if err != nil {
		return g.Problem(c.Context(), err)
	}
	who.Caller, req.Account = caller, caller.Account
	if g.Limit > 0 {
		if p := httpapi.ShowRate(c, g.limits.Take(caller.TokenID, g.Limit, g.Now())); p != nil {
			return p
		}
	}
	if err := g.Quotas.Request(c.Context(), caller.Account); err != nil {
		return g.Problem(c.Context(), err)
	}
	if caller.Cookie && who.Foreign {
		return httpapi.CrossSite()
	}
	return httpapi.Authorize(c, who)
}

// Caller returns who makes a request: whose bearer token it has, else whose
// cookie. Two Authorization headers are refused: a proxy in front may have
// checked the other one.
func (g *Guard) Caller(c huma.Context) (auth.Caller, error) {
	if r, _ := humamux.Unwrap(c); len(r.Header.Values("Authorization")) > 1 {
		return auth.Caller{}, httpapi.NewProblem(httpapi.CodeUnauthorized, "there is more than one Authorization header")
	}
	authenticate, value := g.Auth.AuthenticateCookie, g.Cookies.Of(c)
	if token, ok := bearerToken(c.Header("Authorization")); ok {
		authenticate, value = g.Auth.Authenticate, token
	}
	if value == "" {
		return auth.Caller{}, httpapi.NewProblem(httpapi.CodeUnauthorized, "a bearer token is required: Authorization: Bearer <token>")
	}
	caller, err := authenticate(c.Context(), value)
	if err == nil {
		g.Auth.Sessions().Seen(c.Context(), caller, httpapi.RequestOf(c.Context()).From())
	}
	return caller, err
}

// Token returns whose bearer token a request has that is no operation of the
// API. It counts against the limits, as operations do.
func (g *Guard) Token(ctx context.Context, token string) (auth.Caller, error) {
	caller, err := g.Auth.Authenticate(ctx, token)
	if err != nil {
		return auth.Caller{}, err
	}
	req := httpapi.RequestOf(ctx)
	g.Auth.Sessions().Seen(ctx, caller, req.From())
	req.Account, req.Caller = caller.Account, caller
	if g.Limit > 0 {
		if q := g.limits.Take(caller.TokenID, g.Limit, g.Now()); q.Over {
			return auth.Caller{}, httpapi.RateLimited(q)
		}
	}
	return caller, g.Quotas.Request(ctx, caller.Account)
}

// bearerToken reads an Authorization header; the scheme's case does not matter.
func bearerToken(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// sameOrigin says whether a request changes nothing, or does not come from a
// page of another site.
func (g *Guard) sameOrigin(c huma.Context) bool {
	r, _ := humamux.Unwrap(c)
	return g.Origins.Check(r) == nil
}

// NewOrigins trusts pages at the configured address, also behind a proxy that
// reports another host.
func NewOrigins(base string) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if u, err := url.Parse(base); err == nil {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // Config has checked both
	}
	return p
}
