package protocol

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// address is the URI template of a resource. Each variable matches the text between
// two slashes.
type address struct {
	template string
	names    []string
	pattern  *regexp.Regexp
}

var variable = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9]*)\}`)

func parseAddress(template string) (address, error) {
	if u, err := url.Parse(variable.ReplaceAllString(template, "x")); err != nil || u.Scheme == "" {
		return address{}, fmt.Errorf("%q is not an absolute URI template", template)
	}
	a := address{template: template}
	var pattern strings.Builder
	rest := 0
	for _, at := range variable.FindAllStringSubmatchIndex(template, -1) {
		a.names = append(a.names, template[at[2]:at[3]])
		pattern.WriteString(regexp.QuoteMeta(template[rest:at[0]]) + `([^/?#]+)`)
		rest = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(template[rest:]))
	if strings.ContainsAny(template[rest:], "{}") || len(a.names) == 0 {
		return address{}, fmt.Errorf("%q: variables are written as {name}, and there must be one", template)
	}
	re, err := regexp.Compile("^" + pattern.String() + "$")
	if err != nil {
		return address{}, fmt.Errorf("reading %q: %w", template, err)
	}
	a.pattern = re
	return a, nil
}

// match returns the variables of an address. Models write "@" and ":" unescaped,
// RFC 6570 escapes them; match accepts both.
func (a address) match(uri string) (map[string]string, bool) {
	found := a.pattern.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	values := make(map[string]string, len(a.names))
	for i, name := range a.names {
		value, err := url.PathUnescape(found[i+1])
		if err != nil {
			return nil, false
		}
		values[name] = value
	}
	return values, true
}

// expand returns the address with its variables escaped, as the SDK compares it.
func (a address) expand(values map[string]string) string {
	return variable.ReplaceAllStringFunc(a.template, func(v string) string {
		return escape(values[strings.Trim(v, "{}")])
	})
}

// escape escapes all but unreserved characters (RFC 6570, simple expansion).
func escape(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}
