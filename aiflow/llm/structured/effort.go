package structured

import (
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxEffort is how many parts of a schema each place of a value is held
	// against at most. A few lines whose parts refer to each other can be as
	// many as one likes.
	maxEffort = 1_000_000
	// maxLevels is how deep a value may be that is held against a schema which
	// refers to itself.
	maxLevels = 64
)

// effort counts the parts of a schema that a value is held against.
type effort struct {
	root  any
	known map[step]int
}

// step is a part, by the path to it, for a value of so many levels.
type step struct {
	at   string
	left int
}

// Words of a schema: whose schemas are for what is inside of a value, which are
// schemas by name, and which are none that are used where they stand.
var (
	inside = words("properties patternProperties additionalProperties unevaluatedProperties propertyNames items prefixItems additionalItems unevaluatedItems contains")
	byName = words("properties patternProperties dependentSchemas dependencies")
	unused = words("const enum default examples required $defs definitions")
	refers = words("$ref $dynamicRef $recursiveRef")
)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}

// tooMuch says whether a value of so many levels would be held against too
// many parts of a schema.
func tooMuch(doc any, levels int) bool {
	if !hasReference(doc) {
		return false
	}
	e := effort{root: doc, known: map[step]int{}}
	return levels > maxLevels || e.of("#", doc, levels) >= maxEffort
}

func hasReference(doc any) bool {
	switch doc := doc.(type) {
	case map[string]any:
		for word, v := range doc {
			if refers[word] || hasReference(v) {
				return true
			}
		}
	case []any:
		for _, v := range doc {
			if hasReference(v) {
				return true
			}
		}
	}
	return false
}

// of is the effort of a part, at most mostEffort.
func (e *effort) of(at string, part any, left int) int {
	key := step{at, left}
	if n, is := e.known[key]; is {
		return n
	}
	e.known[key] = maxEffort // what comes back to itself has no end
	n := 1
	add := func(name string, v any, left int) {
		if left >= 0 && n < maxEffort {
			n = min(n+e.of(name, v, left), maxEffort)
		}
	}
	switch part := part.(type) {
	case map[string]any:
		for word, v := range part {
			next := left
			if inside[word] {
				next--
			}
			named, is := v.(map[string]any)
			switch {
			case refers[word]:
				to, target := e.find(v)
				add(to, target, left)
			case unused[word]:
			case byName[word] && is:
				for name, v := range named {
					add(at+"/"+word+"/"+name, v, next)
				}
			default:
				add(at+"/"+word, v, next)
			}
		}
	case []any:
		for i, v := range part {
			add(at+"/"+strconv.Itoa(i), v, left)
		}
	}
	e.known[key] = n
	return n
}

// find is the part that a reference leads to; the whole, if that cannot be
// seen.
func (e *effort) find(reference any) (at string, part any) {
	at, _ = reference.(string)
	path, err := url.PathUnescape(at)
	if err != nil || !strings.HasPrefix(path, "#/") {
		return "#", e.root
	}
	part = e.root
	for name := range strings.SplitSeq(path[2:], "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch of := part.(type) {
		case map[string]any:
			part = of[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(of) {
				return "#", e.root
			}
			part = of[i]
		}
	}
	return at, part
}

// levels is how deep a value is; 0: it holds no other.
func levels(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n = max(n, levels(x)+1)
		}
	case []any:
		for _, x := range v {
			n = max(n, levels(x)+1)
		}
	}
	return n
}
