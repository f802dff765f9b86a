package credential

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/text"
)

const (
	maxName   = 200
	maxField  = 128
	maxSecret = 4096
	maxHosts  = 20
	maxHost   = 261 // of a host name with a port

	// mask replaces a secret.
	mask = "••••"
)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// framing are headers that say how a request is sent, not who sends it.
	framing = []string{"Connection", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
)

// checked is n as it is kept, or what is wrong with it.
func (n NewCredential) checked() (NewCredential, error) {
	if err := checkText("name", n.Name, maxName); err != nil {
		return n, err
	}
	if err := n.checkKind(); err != nil {
		return n, err
	}
	if err := n.checkSecret(); err != nil {
		return n, err
	}
	if len(n.Hosts) > maxHosts {
		return n, &Invalid{Field: "hosts", Message: fmt.Sprintf("must be at most %d", maxHosts)}
	}
	hosts := make([]string, 0, len(n.Hosts))
	for i, h := range n.Hosts {
		host, ok := canonicalHost(h)
		if !ok {
			return n, &Invalid{Field: fmt.Sprintf("hosts[%d]", i), Message: "must be a host, with or without a port, for example api.example.org"}
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	n.Hosts = hosts
	return n, nil
}

// checkKind refuses what the kind does not have, or lacks.
func (n NewCredential) checkKind() error {
	if n.Kind != Basic && n.Username != "" {
		return &Invalid{Field: "username", Message: "is only allowed for the kind basic"}
	}
	if n.Kind != Header && n.Kind != Query && n.Field != "" {
		return &Invalid{Field: "field", Message: "is only allowed for the kinds header and query"}
	}
	switch n.Kind {
	case Bearer:
	case Basic:
		if strings.Contains(n.Username, ":") || hasControl(n.Username) || !utf8.ValidString(n.Username) || utf8.RuneCountInString(n.Username) > maxName {
			return &Invalid{Field: "username", Message: "must be UTF-8 of at most 200 characters, without colons and control characters"}
		}
	case Header:
		if len(n.Field) > maxField || !headerName.MatchString(n.Field) || slices.Contains(framing, http.CanonicalHeaderKey(n.Field)) {
			return &Invalid{Field: "field", Message: "must be the name of a header that you can set"}
		}
	case Query:
		if err := checkText("field", n.Field, maxField); err != nil {
			return err
		}
	default:
		return &Invalid{Field: "kind", Message: "must be bearer, basic, header or query"}
	}
	return nil
}

func (n NewCredential) checkSecret() error {
	switch {
	case n.Secret == "":
		return &Invalid{Field: "secret", Message: "must not be empty"}
	case len(n.Secret) > maxSecret:
		return &Invalid{Field: "secret", Message: fmt.Sprintf("must have at most %d bytes", maxSecret)}
	case strings.HasPrefix(n.Secret, mask):
		return &Invalid{Field: "secret", Message: "is the masked form, not the secret itself"}
	case !utf8.ValidString(n.Secret) || hasControl(n.Secret):
		return &Invalid{Field: "secret", Message: "must be UTF-8 without line breaks"}
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func checkText(field, s string, limit int) error {
	if wrong := text.Check(s, 1, limit); wrong != "" {
		return &Invalid{Field: field, Message: wrong}
	}
	return nil
}

// canonicalHost writes a "host" or "host:port" as [hostOf] writes that of a
// request.
func canonicalHost(s string) (string, bool) {
	if s == "" || len(s) > maxHost || hasControl(s) || !utf8.ValidString(s) || strings.ContainsAny(s, "/?#@\\ *%") {
		return "", false
	}
	u, err := url.Parse("https://" + s)
	if err != nil || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	host := plainHost(u.Hostname())
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	return host, host != ""
}

// plainHost returns a host without its case, brackets and the root's dot.
func plainHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// mayVisit reports whether a credential that is bound to hosts may be sent to u.
// A host without a port is all of its ports.
func mayVisit(hosts []string, u *url.URL) bool {
	if len(hosts) == 0 {
		return true
	}
	host, port := plainHost(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return slices.Contains(hosts, host) || slices.Contains(hosts, host+":"+port)
}

func hostsOf(text string) []string {
	hosts := []string{}
	_ = json.Unmarshal([]byte(text), &hosts) // written by this package
	return hosts
}
