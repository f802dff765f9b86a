package aiflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// changes collects how two JSON values differ.
type changes []Change

// found are the changes, never nil.
func (c changes) found() []Change {
	if c == nil {
		return []Change{}
	}
	return c
}

func (c *changes) add(path string, from, to json.RawMessage) {
	kind := Changed
	switch {
	case from == nil:
		kind = Added
	case to == nil:
		kind = Removed
	}
	*c = append(*c, Change{path, kind, from, to})
}

// value adds how two values at a path differ.
func (c *changes) value(path string, from, to any) {
	switch older := from.(type) {
	case map[string]any:
		if newer, same := to.(map[string]any); same {
			c.object(path, older, newer)
			return
		}
	case []any:
		if newer, same := to.([]any); same && len(newer) == len(older) {
			for i := range older {
				c.value(pointer(path, strconv.Itoa(i)), older[i], newer[i])
			}
			return
		}
	}
	if a, b := written(from), written(to); !bytes.Equal(a, b) {
		c.add(path, a, b)
	}
}

func (c *changes) object(path string, from, to map[string]any) {
	for _, name := range keysOf(from, to) {
		older, was := from[name]
		newer, is := to[name]
		at := pointer(path, name)
		switch {
		case !was:
			c.add(at, nil, written(newer))
		case !is:
			c.add(at, written(older), nil)
		default:
			c.value(at, older, newer)
		}
	}
}

// edgesOf are the outputs of a node that lead to another.
func edgesOf(node any) map[string]any {
	object, _ := node.(map[string]any)
	next, _ := object["next"].(map[string]any)
	out := map[string]any{}
	for output, to := range next {
		if id, is := to.(string); is && id != "" {
			out[output] = id
		}
	}
	return out
}

// withoutEdges is a node but for the edges that edgesOf tells.
func withoutEdges(node any) any {
	object, is := node.(map[string]any)
	next, wired := object["next"].(map[string]any)
	if !is || !wired {
		return node
	}
	rest := maps.Clone(next)
	for output := range edgesOf(node) {
		delete(rest, output)
	}
	object = maps.Clone(object)
	if delete(object, "next"); len(rest) > 0 {
		object["next"] = rest
	}
	return object
}

// functionDiffs are the functions that two lists of them, by slug, do not have
// alike.
func functionDiffs(from, to []Pinned) []FunctionDiff {
	older, newer := bySlug(from), bySlug(to)
	out := []FunctionDiff{}
	for _, slug := range keysOf(older, newer) {
		f, was := older[slug]
		t, is := newer[slug]
		if was && is && f.Flow == t.Flow && f.Version == t.Version {
			continue
		}
		d := FunctionDiff{Slug: slug}
		if was {
			d.From = &f.Version
		}
		if is {
			d.To = &t.Version
		}
		out = append(out, d)
	}
	return out
}

func bySlug(pins []Pinned) map[string]Pinned {
	out := make(map[string]Pinned, len(pins))
	for _, p := range pins {
		out[p.Slug] = p
	}
	return out
}

// keysOf are the names that either has, in order.
func keysOf[V any](a, b map[string]V) []string {
	both := maps.Clone(a)
	if both == nil {
		both = map[string]V{}
	}
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is a JSON pointer (RFC 6901) to a member.
func pointer(path, name string) string { return path + "/" + escapePointer.Replace(name) }

// decodeValue reads JSON with its numbers as they are written.
func decodeValue(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// written is a value as JSON.
func written(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was read from JSON
	return bytes.TrimSpace(b.Bytes())
}
