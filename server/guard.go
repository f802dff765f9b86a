package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// guard lets a request pass to its operation, with the caller in its context:
// limits first, then 401, then 403. It reads the security that the document
// shows, so that the two cannot differ.
func (s *Server) guard(c huma.Context, next func(huma.Context)) {
	req := httpapi.RequestOf(c.Context())
	who := httpapi.Call{Client: req.Client, Agent: req.Agent, Device: s.cookies().DeviceOf(c), Foreign: !s.sameOrigin(c)}
	if p := s.admitCall(c, req, &who); p != nil {
		s.api.Refuse(c, p)
		return
	}
	c = huma.WithContext(c, s.recording(c.Context(), req, who.Caller))
	next(httpapi.WithCall(c, who))
}

func (s *Server) admitCall(c huma.Context, req *httpapi.Request, who *httpapi.Call) *Problem {
	op := c.Operation()
	if httpapi.IsLimited(op) {
		q, err := s.Auth.TakePublic(c.Context(), req.Client)
		if err != nil {
			return s.problemOf(c.Context(), err)
		}
		if p := httpapi.ShowRate(c, q); p != nil {
			return p
		}
	}
	if len(op.Security) == 0 {
		return nil
	}
	caller, err := s.callerOf(c)
	if err != nil {
		return s.problemOf(c.Context(), err)
	}
	who.Caller, req.Account = caller, caller.Account
	if s.cfg.APILimit > 0 {
		if p := httpapi.ShowRate(c, s.limits.Take(caller.TokenID, s.cfg.APILimit, s.cfg.Now())); p != nil {
			return p
		}
	}
	if err := s.Quotas.Request(c.Context(), caller.Account); err != nil {
		return s.problemOf(c.Context(), err)
	}
	if caller.Cookie && who.Foreign {
		return httpapi.CrossSite()
	}
	return httpapi.Authorize(c, who)
}

// callerOf says who makes a request: whose bearer token it has, else whose
// cookie. Of two headers a proxy in front may have looked at the other one.
func (s *Server) callerOf(c huma.Context) (auth.Caller, error) {
	if r, _ := humamux.Unwrap(c); len(r.Header.Values("Authorization")) > 1 {
		return auth.Caller{}, httpapi.NewProblem(httpapi.CodeUnauthorized, "there is more than one Authorization header")
	}
	authenticate, value := s.Auth.AuthenticateCookie, s.cookies().Of(c)
	if token, ok := bearerToken(c.Header("Authorization")); ok {
		authenticate, value = s.Auth.Authenticate, token
	}
	if value == "" {
		return auth.Caller{}, httpapi.NewProblem(httpapi.CodeUnauthorized, "a bearer token is required: Authorization: Bearer <token>")
	}
	caller, err := authenticate(c.Context(), value)
	if err == nil {
		s.Auth.Sessions().Seen(c.Context(), caller, httpapi.RequestOf(c.Context()).From())
	}
	return caller, err
}

// bearerToken reads an Authorization header; the scheme's case does not matter.
func bearerToken(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// sameOrigin says whether a request changes nothing, or does not come from a
// page of another site.
func (s *Server) sameOrigin(c huma.Context) bool {
	r, _ := humamux.Unwrap(c)
	return s.origins.Check(r) == nil
}

// newOrigins trusts the pages at the configured address, also behind a proxy
// that tells another host.
func newOrigins(base string) *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	if u, err := url.Parse(base); err == nil {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // Config has checked both
	}
	return p
}

// cookies are those of this server.
func (s *Server) cookies() cookies.Jar { return cookies.Jar{BaseURL: s.cfg.BaseURL} }
