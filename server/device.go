package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
)

// deviceName is the cookie by which a browser is known in which a user has
// logged in. It gives no right.
func (s *Server) deviceName() string { return s.cookieName() + "-device" }

// deviceOf is the value of that cookie of a request, or "".
func (s *Server) deviceOf(c huma.Context) string {
	found, err := huma.ReadCookie(c, s.deviceName())
	if err != nil {
		return ""
	}
	return found.Value
}

// sessionCookies are what a login sets in a browser; none when no cookie was
// wanted.
func (s *Server) sessionCookies(in auth.Session) []http.Cookie {
	if in.Cookie == "" {
		return nil
	}
	device := s.newCookie(in.Device) //nolint:gosec // newCookie sets what the address allows
	device.Name, device.MaxAge = s.deviceName(), int(auth.DeviceTTL.Seconds())
	return []http.Cookie{s.newCookie(in.Cookie), device}
}
