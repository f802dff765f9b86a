package agent

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// links says to which addresses a text for contacts may lead. A tool's result
// may hold one that somebody planted, or that carries what was said to a
// stranger when it is looked at.
type links struct {
	hosts []string
	texts []string // addresses that contacts wrote themselves
}

var (
	address = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.|(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}[/?#])[^\s<>"'` + "`" + `()\[\]{}|\\^]+`)
	image   = regexp.MustCompile(`!\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
)

// noLink stands where a link was.
const noLink = "[link removed]"

// newLinks allows hosts, those that the instructions name, and what the
// contacts wrote.
func newLinks(hosts []string, instructions string, said []llm.Message) *links {
	l := &links{}
	for _, h := range hosts {
		l.hosts = append(l.hosts, strings.ToLower(h))
	}
	for _, a := range address.FindAllString(instructions, -1) {
		if h := hostOf(a); h != "" {
			l.hosts = append(l.hosts, h)
		}
	}
	for i := range said {
		if said[i].Role == llm.RoleUser {
			for _, a := range address.FindAllString(said[i].Text(), -1) {
				l.texts = append(l.texts, trimmed(a))
			}
		}
	}
	return l
}

func hostOf(a string) string {
	if !strings.Contains(a, "://") {
		a = "http://" + a
	}
	u, err := url.Parse(trimmed(a))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// trimmed is an address without the mark that ends the sentence.
func trimmed(a string) string { return strings.TrimRight(a, ".,;:!?*_~") }

func (l *links) allow(a string) bool {
	if slices.Contains(l.texts, trimmed(a)) {
		return true
	}
	host := hostOf(a)
	return host != "" && slices.ContainsFunc(l.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// clean takes from a text what leads to where it may not. Images are never
// shown: looking at one tells its server.
func (l *links) clean(text string) string {
	for _, pattern := range []*regexp.Regexp{image, linked} {
		text = pattern.ReplaceAllStringFunc(text, func(s string) string {
			m := pattern.FindStringSubmatch(s)
			if l.allow(m[2]) {
				return s
			}
			return m[1]
		})
	}
	return address.ReplaceAllStringFunc(text, func(a string) string {
		if l.allow(a) {
			return a
		}
		return noLink + a[len(trimmed(a)):]
	})
}
