package typebot

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// names are the variables of an export as ours.
type names struct {
	byID   map[string]string
	byName map[string]string
	taken  map[string]bool
	all    []string // in the order of the export
}

func newNames(variables []object) *names {
	n := &names{byID: map[string]string{}, byName: map[string]string{}, taken: map[string]bool{}}
	for _, v := range variables {
		id, name := v.text("id"), strings.TrimSpace(v.text("name"))
		if _, known := n.byName[name]; known || name == "" {
			n.byID[id] = n.byName[name]
			continue
		}
		own := n.free(identifier(name))
		n.byID[id], n.byName[name] = own, own
	}
	return n
}

// variable returns the name of the variable with an id of the export; "": there
// is none.
func (n *names) variable(id string) string { return n.byID[id] }

// free makes a name one that no other variable has.
func (n *names) free(name string) string {
	own := name
	for i := 2; n.taken[own]; i++ {
		own = fmt.Sprintf("%s_%d", truncate(name, 56), i)
	}
	n.taken[own] = true
	n.all = append(n.all, own)
	return own
}

// identifier makes a name of ours: small letters, digits and underscores.
func identifier(name string) string {
	out := ascii(name, '_')
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "v_" + out
	}
	return truncate(strings.TrimRight(out, "_"), 60)
}

// slug makes a slug of a name.
func slug(name string) string {
	if s := strings.Trim(truncate(ascii(name, '-'), 60), "-"); s != "" {
		return s
	}
	return "typebot"
}

// ascii writes a text in small letters and digits, without accents, and with a
// separator for everything else.
func ascii(text string, separator rune) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteRune(separator)
			}
			gap = false
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r):
			gap = true
		}
	}
	return b.String()
}
