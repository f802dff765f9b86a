// Package links keeps addresses out of texts that models write: a model that
// has read what a stranger wrote may be talked into leading a contact to the
// stranger, or into an address that carries what was said.
//
//	rule := links.New(links.Options{Hosts: []string{"shop.example"}, Author: instructions, Said: []string{question}})
//	text = rule.Clean(text)
//
// What counts as an address is read generously, in the form in which a chat
// program or a browser may read it: of the compatibility form (NFKC) of the
// text, without characters that are not seen, with or without a scheme. What is
// allowed is read strictly: http, https or no scheme, then a host of the list
// and nothing else that could be taken for one.
package links

import (
	"regexp"
	"slices"
	"strings"
)

// Removed stands where an address was.
const Removed = "[link removed]"

// Options say which addresses a [Rule] allows.
type Options struct {
	// Hosts are allowed with the hosts below them, at the usual ports, or at
	// the one that is named: "shop.example", "shop.example:8443".
	Hosts []string
	// Author is a text whose addresses allow their hosts; what else leads
	// somewhere, such as a mail address, is allowed as it is there.
	Author string
	// Written are texts whose addresses are allowed as they are there.
	Written []string
}

// Rule says which addresses a text may have. It does not change.
type Rule struct {
	hosts map[string]bool // host, or host:port, in ASCII
	exact map[string]bool // whole addresses, in the form of reading
}

// New makes a rule.
func New(o Options) *Rule {
	r := &Rule{hosts: map[string]bool{}, exact: map[string]bool{}}
	for _, h := range o.Hosts {
		r.addHost(strings.ToLower(h))
	}
	for _, a := range addresses(o.Author) {
		if host, port, fine := a.target(); fine && a.authorHost() {
			r.addHost(join(host, port))
		}
		r.exact[a.text] = true
	}
	for _, s := range o.Written {
		for _, a := range addresses(s) {
			r.exact[a.text] = true
		}
	}
	return r
}

var (
	image  = regexp.MustCompile(`!\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
	linked = regexp.MustCompile(`\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
)

// maxRounds is how often a text is read: what is left when an address is taken
// out may be one again.
const maxRounds = 8

// Clean takes from a text what leads to where it may not. A link of Markdown
// becomes its label.
func (r *Rule) Clean(text string) string {
	text = strings.Map(visible, strings.ToValidUTF8(text, "\uFFFD"))
	for range maxRounds {
		next := r.unmark(text)
		next = r.strip(next, false)
		next = r.strip(next, true)
		if next == text {
			return text
		}
		text = next
	}
	return Removed
}

// unmark takes out links of Markdown.
func (r *Rule) unmark(text string) string {
	for _, pattern := range []*regexp.Regexp{image, linked} {
		text = pattern.ReplaceAllStringFunc(text, func(s string) string {
			m := pattern.FindStringSubmatch(s)
			if r.Allows(m[2]) {
				return s
			}
			return m[1]
		})
	}
	return text
}

// strip takes out addresses.
func (r *Rule) strip(text string, splits bool) string {
	var b strings.Builder
	done := 0
	for _, a := range fold(text, splits).addresses() {
		if r.allows(a) {
			continue
		}
		b.WriteString(text[done:a.from])
		b.WriteString(Removed)
		if done = a.to; strings.HasPrefix(text[done:], "(") {
			b.WriteByte(' ') // it is no link of Markdown
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// Allows says whether a text is one address that may be shown, and nothing
// else.
func (r *Rule) Allows(text string) bool {
	found := addresses(text)
	return len(found) == 1 && found[0].from == 0 && len(strings.TrimRight(text[found[0].to:], sentenceEnd)) == 0 && r.allows(found[0])
}

// Leads says whether a text begins with an address that may not be shown: it is
// no text for people, but a place for programs.
func (r *Rule) Leads(text string) bool {
	found := addresses(text)
	return len(found) > 0 && strings.TrimSpace(text[:found[0].from]) == "" && !r.allows(found[0]) && !strings.ContainsAny(strings.TrimSpace(text), " \n\t")
}

// CleanValue is Clean for every text of a JSON value, the names of members
// among them.
func (r *Rule) CleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return r.Clean(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.CleanValue(item)
		}
		return out
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[r.Clean(name)] = r.CleanValue(item)
		}
		return out
	}
	return v
}

func (r *Rule) allows(a address) bool {
	if r.exact[a.text] {
		return true
	}
	host, port, fine := a.target()
	if !fine {
		return false
	}
	if r.hosts[join(host, port)] {
		return true
	}
	for h := range r.hosts {
		name, own := split(h)
		if own == port && strings.HasSuffix(host, "."+name) && spreads(name) {
			return true
		}
	}
	return false
}

// addHost allows a host, and those below it.
func (r *Rule) addHost(h string) {
	name, port := split(h)
	if host, fine := plainHost(name); fine && !slices.Contains([]string{"", "."}, host) {
		r.hosts[join(host, port)] = true
	}
}
