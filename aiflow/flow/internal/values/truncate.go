package values

import (
	"encoding/json"
	"strings"
)

// Bounds are how much of a value is kept where a shortened one will do.
type Bounds struct{ bytes, items, depth int }

var (
	// InputBounds make what comes from outside fit into a state.
	InputBounds = Bounds{MaxString, MaxList, MaxDepth - 2}
	// TraceBounds make what people look at short.
	TraceBounds = Bounds{500, 20, 6}
)

// limitTrace is the size above which values in a trace are shortened.
const limitTrace = 4 << 10

// Truncate shortens the texts, lists and depth of a value. v is not changed.
func (b Bounds) Truncate(v any) any { return b.truncateAt(v, 1) }

func (b Bounds) truncateAt(v any, depth int) any {
	switch v := v.(type) {
	case string:
		return b.Text(v)
	case json.RawMessage:
		plain, err := ParseJSON(v)
		if err != nil {
			return b.Text(string(v))
		}
		return b.truncateAt(plain, depth)
	case []any:
		if depth > b.depth {
			return []any{}
		}
		out := make([]any, min(len(v), b.items))
		for i := range out {
			out[i] = b.truncateAt(v[i], depth+1)
		}
		return out
	case map[string]any:
		return b.object(v, depth)
	}
	return v
}

func (b Bounds) object(v map[string]any, depth int) any {
	out := map[string]any{}
	if depth > b.depth {
		return out
	}
	names := Names(v)
	for _, name := range names[:min(len(names), b.items)] {
		out[name] = b.truncateAt(v[name], depth+1)
	}
	return out
}

// Text returns the beginning of a long text.
func (b Bounds) Text(s string) string {
	if len(s) <= b.bytes {
		return s
	}
	return strings.ToValidUTF8(s[:b.bytes-len("…")], "") + "…"
}

// TruncateTrace is m as a trace shows it.
func TruncateTrace(m map[string]any) map[string]any {
	if Size(m) <= limitTrace {
		return m
	}
	return ObjectOf(TraceBounds.Truncate(m))
}
