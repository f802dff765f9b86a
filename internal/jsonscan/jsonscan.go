// Package jsonscan scans JSON without decoding it: it finds members and elements
// and returns their bytes. To read an id of a large document it needs one pass and
// no copy.
//
// The input must be valid JSON ([json.Valid]). For other input the scan ends early
// or returns nonsense; it never panics.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Members yields the name and the value of each member of the object raw, in order
// and with duplicates. Other values have none. Name and value share raw's memory;
// `switch string(name)` does not allocate.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		rest, ok := open(raw, '{')
		for ok && len(rest) > 0 && rest[0] == '"' {
			key := rest[:skipString(rest)]
			rest = trim(rest[len(key):])
			if len(rest) == 0 || rest[0] != ':' {
				return
			}
			rest = trim(rest[1:])
			value := rest[:skip(rest)]
			if !yield(unquote(key), value) {
				return
			}
			rest, ok = next(rest[len(value):])
		}
	}
}

// Elements yields the elements of the array raw. Other values have none. An element
// shares raw's memory.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest, ok := open(raw, '[')
		for ok && len(rest) > 0 && rest[0] != ']' {
			element := rest[:skip(rest)]
			if len(element) == 0 || !yield(element) {
				return
			}
			rest, ok = next(rest[len(element):])
		}
	}
}

// Get returns the value of the first member with a name, or nil.
func Get(raw []byte, name string) []byte {
	for key, value := range Members(raw) {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// Kind returns the first byte of a value, which determines its type: '{', '[', '"',
// 't', 'f', 'n', a digit or '-'; 0 if there is none.
func Kind(raw []byte) byte {
	if raw = trim(raw); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

// open skips the opening bracket of a container.
func open(raw []byte, bracket byte) ([]byte, bool) {
	raw = trim(raw)
	if len(raw) == 0 || raw[0] != bracket {
		return nil, false
	}
	return trim(raw[1:]), true
}

// next skips the comma before another item.
func next(rest []byte) ([]byte, bool) {
	rest = trim(rest)
	if len(rest) == 0 || rest[0] != ',' {
		return nil, false
	}
	return trim(rest[1:]), true
}

func trim(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\n' || raw[0] == '\r' || raw[0] == '\t') {
		raw = raw[1:]
	}
	return raw
}

// skip returns the length of the value at the beginning of raw.
func skip(raw []byte) int {
	if len(raw) == 0 {
		return 0
	}
	switch raw[0] {
	case '"':
		return skipString(raw)
	case '{', '[':
		return skipContainer(raw)
	default:
		for i, c := range raw {
			switch c {
			case ',', '}', ']', ' ', '\n', '\r', '\t':
				return i
			}
		}
		return len(raw)
	}
}

func skipString(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// skipContainer counts brackets instead of recursing, so that deep nesting is
// harmless.
func skipContainer(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i += skipString(raw[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(raw)
}

// unquote returns the text of a name, which rarely has an escape.
func unquote(quoted []byte) []byte {
	if len(quoted) < 2 {
		return nil
	}
	if name := quoted[1 : len(quoted)-1]; bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
		return name
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // cannot fail for valid JSON
	return []byte(s)
}

// WithoutNUL drops escaped NULs from JSON: no network and not every database
// takes them. JSON has no other way to write one.
func WithoutNUL(raw []byte) []byte {
	const nul = `\u0000`
	if !bytes.Contains(raw, []byte(nul)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case bytes.HasPrefix(raw[i:], []byte(nul)):
			i += len(nul) - 1
		case raw[i] == '\\' && i+1 < len(raw):
			out = append(out, raw[i], raw[i+1])
			i++
		default:
			out = append(out, raw[i])
		}
	}
	return out
}
