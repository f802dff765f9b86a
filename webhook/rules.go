package webhook

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are url, headers, headers[2].key, headers[2].value, events[0],
// include[0], format and secret.
type Invalid = apierr.Invalid

func invalid(field, format string, args ...any) error {
	return &Invalid{Field: field, Message: fmt.Sprintf(format, args...)}
}

const (
	maxURL         = 2048
	maxHeaders     = 50
	maxHeaderKey   = 256
	maxHeaderValue = 8192
	maxEndpoints   = 100 // of a scope
)

// checkURL refuses what could not be delivered to.
func (d *Dispatcher) checkURL(raw string) error {
	switch {
	case raw == "":
		return invalid("url", "is missing")
	case len(raw) > maxURL:
		return invalid("url", "is longer than %d characters", maxURL)
	case raw == EchoURL && d.opts.Echo != nil:
		return nil
	}
	if strings.HasPrefix(raw, "trunkline:") {
		return invalid("url", "the built-in receiver is not available here")
	}
	if err := d.guard.CheckURL(raw); errors.Is(err, guard.ErrRefused) {
		return invalid("url", "%v", err)
	} else if err != nil {
		return invalid("url", "must be an absolute http or https URL: %v", err)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return invalid("url", "is malformed")
	case u.User != nil:
		return invalid("url", "must not have a user name or password: use a header")
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return invalid("url", "must not have a fragment")
	}
	return nil
}

// reserved are the headers that delivery itself sets or that belong to the
// connection.
var reserved = []string{
	"host", "content-length", "connection", "keep-alive", "transfer-encoding", "trailer", "te", "upgrade",
	"expect", "proxy-connection",
}

func (d *Dispatcher) checkHeaders(headers []Header) error {
	if len(headers) > maxHeaders {
		return invalid("headers", "are more than %d", maxHeaders)
	}
	for i, h := range headers {
		key, value := fmt.Sprintf("headers[%d].key", i), fmt.Sprintf("headers[%d].value", i)
		name := strings.ToLower(h.Key)
		switch {
		case h.Key == "":
			return invalid(key, "is missing")
		case len(h.Key) > maxHeaderKey:
			return invalid(key, "is longer than %d characters", maxHeaderKey)
		case !isToken(h.Key):
			return invalid(key, "has a character that a header name cannot have")
		case slices.Contains(reserved, name), strings.HasPrefix(name, "webhook-"), strings.HasPrefix(name, strings.ToLower(d.opts.HeaderPrefix)):
			return invalid(key, "is set by each delivery itself")
		case len(h.Value) > maxHeaderValue:
			return invalid(value, "is longer than %d bytes", maxHeaderValue)
		case !isHeaderValue(h.Value):
			return invalid(value, "has a line break or another control character")
		}
	}
	return nil
}

// isToken says whether s is a header name (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

func isHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// parts are what an endpoint can ask to have included.
var parts = []string{"extracted"}

func checkInclude(names []string) ([]string, error) {
	var out []string
	for i, n := range names {
		if !slices.Contains(parts, n) {
			return nil, invalid(fmt.Sprintf("include[%d]", i), "must be one of %s", strings.Join(parts, ", "))
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out, nil
}

// parseSecret returns the key of a signing secret.
func parseSecret(s string) ([]byte, error) {
	key, err := delivery.ParseSecret(s)
	if err != nil {
		return nil, invalid("secret", "%v", err)
	}
	return key, nil
}
