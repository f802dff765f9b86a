package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Type is a type of events.
type Type struct {
	Name string
	// Aliases are other names under which endpoints may ask for it.
	Aliases []string
	// OptIn says that only endpoints that ask for it by name get it.
	OptIn bool
}

const (
	maxTypeLength = 64
	maxTypes      = 100 // that an endpoint asks for
	// allTypes is what an endpoint asks for that names no type, where they are not listed.
	allTypes = "*"
)

// types are the types of events that there are. nil: any.
type types []Type

// check refuses types that no event could have.
func (ts types) check() error {
	for _, t := range ts {
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if !isTypeName(name) {
				return errors.New("webhook: Options.Types has a malformed name: it is made of lower-case letters, digits, - and _, with dots between words")
			}
		}
	}
	return nil
}

// isTypeName reports whether s may be the name of a type: words of lower-case letters,
// digits, - and _, with dots between them.
func isTypeName(s string) bool {
	if len(s) > maxTypeLength {
		return false
	}
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// find returns the type of a name or alias.
func (ts types) find(name string) (string, bool) {
	if ts == nil {
		return name, isTypeName(name)
	}
	for _, t := range ts {
		if t.Name == name || slices.Contains(t.Aliases, name) {
			return t.Name, true
		}
	}
	return "", false
}

// why says which names there are.
func (ts types) why() string {
	if ts == nil {
		return "must be lower-case words with dots between them, like order.created"
	}
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.Name
	}
	return "must be one of " + strings.Join(names, ", ")
}

// filter returns the types that an endpoint asks for by names, each once and in the
// order in which they are listed. nil means the default.
func (ts types) filter(names []string) ([]string, error) {
	if names == nil {
		return ts.usual(), nil
	}
	if len(names) == 0 {
		return nil, invalid("events", "must have at least one event; to switch a webhook off, use enabled")
	}
	if len(names) > maxTypes {
		return nil, invalid("events", "must have at most %d events", maxTypes)
	}
	var out []string
	for i, n := range names {
		name, ok := ts.find(n)
		if ts == nil && !ok {
			name, ok = n, n == allTypes || strings.HasSuffix(n, ".*") && isTypeName(strings.TrimSuffix(n, ".*"))
		}
		if !ok {
			return nil, invalid(fmt.Sprintf("events[%d]", i), "%s", ts.why())
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return ts.index(a) - ts.index(b) })
	return out, nil
}

// index is the place of a name in the list.
func (ts types) index(name string) int {
	return slices.IndexFunc(ts, func(t Type) bool { return t.Name == name })
}

// usual is what an endpoint gets that names no type.
func (ts types) usual() (names []string) {
	if ts == nil {
		return []string{allTypes}
	}
	for _, t := range ts {
		if !t.OptIn {
			names = append(names, t.Name)
		}
	}
	return names
}
