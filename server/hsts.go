package server

import (
	"net/http"

	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

// strictTransport has browsers speak https alone for a year, once they have
// reached the server so: with a certificate of its own, or through a trusted
// proxy at a base URL with https.
func (s *Server) strictTransport(h http.Header, r *http.Request) {
	if r.TLS != nil || s.cookies().Secure() && middleware.IsTrusted(middleware.ParseAddr(r.RemoteAddr), s.cfg.TrustedProxies) {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
