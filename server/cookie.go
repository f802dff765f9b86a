package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/trunklinehq/trunkline/server/auth"
)

// secure says whether browsers reach the server by https.
func (s *Server) secure() bool { return strings.HasPrefix(s.cfg.BaseURL, "https:") }

// cookieName has the prefix by which a browser refuses a cookie that another
// host, or plain http, has set.
func (s *Server) cookieName() string {
	if s.secure() {
		return "__Host-trunkline"
	}
	return "trunkline"
}

// newCookie is the session cookie; "" ends it.
func (s *Server) newCookie(value string) http.Cookie {
	c := http.Cookie{ //nolint:gosec // without https there is nothing that Secure could ask for
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: int(auth.CookieTTL.Seconds()),
		HttpOnly: true, Secure: s.secure(), SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// cookieOf is the value of the session cookie of a request, or "".
func (s *Server) cookieOf(c huma.Context) string {
	found, err := huma.ReadCookie(c, s.cookieName())
	if err != nil {
		return ""
	}
	return found.Value
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
