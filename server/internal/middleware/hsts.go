package middleware

import (
	"net/http"
	"strings"
)

// strictTransport tells browsers to speak https alone for a year, once they
// have reached the server by it: with a certificate of its own, or through a
// trusted proxy at a base URL with https.
func (s *Stack) strictTransport(h http.Header, r *http.Request) {
	if r.TLS != nil || strings.HasPrefix(s.BaseURL, "https:") && IsTrusted(ParseAddr(r.RemoteAddr), s.Trusted) {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
