package expression

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// parseJSON parses a JSON text. It returns nil if the text is not JSON. It charges
// the size of the value before it builds it, from the characters that make
// elements.
func (m *machine) parseJSON(text string, at int) (any, error) {
	if err := m.scan(len(text), at); err != nil {
		return nil, err
	}
	elements, depth := jsonWeight(text)
	if depth > MaxDepth {
		return nil, fail(CodeValue, at, "reads JSON with more than %d levels", MaxDepth)
	}
	if err := m.step(elements, at); err != nil {
		return nil, err
	}
	if err := m.grow(len(text)+elements*entryBytes, at); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil
	}
	return plain(v), nil
}

// jsonWeight counts elements and levels without decoding. For invalid JSON it
// returns an upper bound.
func jsonWeight(text string) (elements, depth int) {
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			level++
			elements++
			depth = max(depth, level)
		case c == ']' || c == '}':
			level--
		case c == ',':
			elements++
		}
	}
	return elements, depth
}

// plain converts the numbers of decoded JSON in place.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return parseNumber(v.String())
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}
