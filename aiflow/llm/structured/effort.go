package structured

import (
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxEffort limits how many parts of a schema each part of a value is validated
	// against. A few lines of schema whose parts refer to each other could
	// otherwise multiply without bound.
	maxEffort = 1_000_000
	// maxLevels limits the depth of a value that is validated against a recursive
	// schema.
	maxLevels = 64
)

// effort counts the parts of a schema that a value is validated against.
type effort struct {
	root  any
	known map[step]int
}

// step identifies a part of a schema, by its path, and the remaining levels of a
// value.
type step struct {
	at   string
	left int
}

// Keywords of schemas: those whose schemas apply to parts of a value, those with a
// map of schemas, and those that are not applied where they occur.
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

// tooMuch reports whether validating a value with a number of levels would apply
// too many parts of a schema.
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

// of returns the effort of a part, at most maxEffort.
func (e *effort) of(at string, part any, left int) int {
	key := step{at, left}
	if n, is := e.known[key]; is {
		return n
	}
	e.known[key] = maxEffort // a part that refers to itself without consuming a level is endless
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

// find returns the part that a reference points to, or the whole schema if it
// cannot be resolved.
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

// levels returns the depth of a value; 0: it is a scalar.
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
