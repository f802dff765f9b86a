// Package links removes addresses from texts that models write. A model that has
// read what an outsider wrote may be tricked into sending a contact to the
// outsider, or to an address that carries what was said.
//
//	rule := links.New(links.Options{Hosts: []string{"shop.example"}, Author: instructions, Written: []string{question}})
//	text = rule.Clean(text)
//
// The package recognizes addresses generously, as a chat program or a browser
// might: in the compatibility form (NFKC) of the text, without invisible
// characters, with or without a scheme. It allows addresses strictly: http, https
// or no scheme, a host of the list, and nothing that could be taken for another
// host.
package links

import (
	"regexp"
	"slices"
	"strings"
)

// Removed replaces an address.
const Removed = "[link removed]"

// Options configure which addresses a [Rule] allows.
type Options struct {
	// Hosts are allowed including their subdomains, at the default ports or at the
	// given one: "shop.example", "shop.example:8443".
	Hosts []string
	// Author is a text whose addresses allow their hosts. Anything else that leads
	// somewhere, such as a mail address, is allowed exactly as it is there.
	Author string
	// Written are texts whose addresses are allowed exactly.
	Written []string
}

// Rule decides which addresses a text may have. It is immutable.
type Rule struct {
	hosts map[string]bool // host, or host:port, in ASCII
	exact map[string]bool // whole addresses, normalized
}

// New returns a rule.
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
	image  = lazy(`!\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
	linked = lazy(`\[([^\]]*)\]\(\s*([^)\s]*)[^)]*\)`)
)

// maxRounds is the maximum number of passes over a text: removing an address may
// form another.
const maxRounds = 8

// Clean removes addresses from a text that are not allowed. It replaces a Markdown
// link by its label.
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

// unmark removes Markdown links.
func (r *Rule) unmark(text string) string {
	for _, pattern := range []*regexp.Regexp{image(), linked()} {
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

// strip removes addresses.
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
			b.WriteByte(' ') // prevents a Markdown link
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// Allows reports whether a text consists of one allowed address.
func (r *Rule) Allows(text string) bool {
	found := addresses(text)
	return len(found) == 1 && found[0].from == 0 && len(strings.TrimRight(text[found[0].to:], sentenceEnd)) == 0 && r.allows(found[0])
}

// Leads reports whether a text consists of an address that is not allowed: such a
// text is for programs, not for people.
func (r *Rule) Leads(text string) bool {
	found := addresses(text)
	return len(found) > 0 && strings.TrimSpace(text[:found[0].from]) == "" && !r.allows(found[0]) && !strings.ContainsAny(strings.TrimSpace(text), " \n\t")
}

// CleanValue cleans every text of a JSON value, including the names of members.
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

// addHost allows a host and its subdomains.
func (r *Rule) addHost(h string) {
	name, port := split(h)
	if host, fine := plainHost(name); fine && !slices.Contains([]string{"", "."}, host) {
		r.hosts[join(host, port)] = true
	}
}
