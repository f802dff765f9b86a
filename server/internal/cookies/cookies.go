// Package cookies names, makes and reads the cookies by which browsers are
// known: that of a session, and that of a browser in which a user has logged in.
package cookies

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
)

// Jar makes and reads the cookies of a server.
type Jar struct{ BaseURL string }

// Secure reports whether browsers reach the server by https.
func (j Jar) Secure() bool { return strings.HasPrefix(j.BaseURL, "https:") }

// Name is that of the session cookie. It has the prefix by which a browser
// refuses a cookie that another host, or plain http, has set.
func (j Jar) Name() string {
	if j.Secure() {
		return "__Host-trunkline"
	}
	return "trunkline"
}

// New returns the session cookie; "" ends it.
func (j Jar) New(value string) http.Cookie {
	c := http.Cookie{ //nolint:gosec // without https there is nothing that Secure could ask for
		Name: j.Name(), Value: value, Path: "/", MaxAge: int(auth.CookieTTL.Seconds()),
		HttpOnly: true, Secure: j.Secure(), SameSite: http.SameSiteStrictMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// Of returns the value of the session cookie of a request, or "".
func (j Jar) Of(c huma.Context) string {
	found, err := huma.ReadCookie(c, j.Name())
	if err != nil {
		return ""
	}
	return found.Value
}

// DeviceName is that of the cookie by which a browser is known in which a user
// has logged in. It gives no right.
func (j Jar) DeviceName() string { return j.Name() + "-device" }

// DeviceOf returns the value of that cookie of a request, or "".
func (j Jar) DeviceOf(c huma.Context) string {
	found, err := huma.ReadCookie(c, j.DeviceName())
	if err != nil {
		return ""
	}
	return found.Value
}

// Session returns what a login sets in a browser; none when no cookie was
// wanted.
func (j Jar) Session(in auth.Session) []http.Cookie {
	if in.Cookie == "" {
		return nil
	}
	device := j.New(in.Device) //nolint:gosec // New sets what the address allows
	device.Name, device.MaxAge = j.DeviceName(), int(auth.DeviceTTL.Seconds())
	return []http.Cookie{j.New(in.Cookie), device}
}
