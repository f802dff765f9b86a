// Package values is the plain values of the flow language: hours, durations, sizes,
// JSON and the truncation of it. It knows nothing of documents.
package values

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The bounds of a value.
const (
	MaxString = 64 << 10 // bytes of a text
	MaxList   = 1000     // items of a list
	MaxDepth  = 32       // levels of lists and objects
)

// ParseJSON reads a JSON value with its numbers as they are written.
func ParseJSON(raw []byte) (any, error) {
	var v any
	if err := Decode(raw, &v); err != nil {
		return nil, fmt.Errorf("reading a value: %w", err)
	}
	return v, nil
}

// Decode reads JSON into v; numbers that become values are [json.Number].
func Decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// Size is about how many bytes a value takes as JSON.
func Size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case []any:
		n := 2
		for _, item := range v {
			n += Size(item) + 1
		}
		return n
	case map[string]any:
		n := 2
		for name, item := range v {
			n += len(name) + 4 + Size(item)
		}
		return n
	case json.RawMessage:
		return len(v)
	}
	return 8
}

// ObjectOf is v as an object; nil when it is none.
func ObjectOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// TextOf is v as a text; "" when it is none.
func TextOf(v any) string {
	s, _ := v.(string)
	return s
}
