package graph

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// Value is a part of a callback. Reading is tolerant: a value that is missing
// or has another type is the zero value, never an error. It must be valid JSON
// or empty.
type Value []byte

// Get returns a member of an object.
func (v Value) Get(name string) Value { return jsonscan.Get(v, name) }

// Items yields the elements of an array.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for item := range jsonscan.Elements(v) {
			if !yield(item) {
				return
			}
		}
	}
}

// Object reports whether v is an object.
func (v Value) Object() bool { return jsonscan.Kind(v) == '{' }

// Text returns a string.
func (v Value) Text() string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if plain := string(v[1 : len(v)-1]); strings.IndexByte(plain, '\\') < 0 && utf8.ValidString(plain) {
		return plain
	}
	var s string
	_ = json.Unmarshal(v, &s) // valid JSON does not fail
	return s
}

// ID returns a string or an integer without loss; see [ID].
func (v Value) ID() string {
	if len(v) > 0 && v[0] == '"' {
		return v.Text()
	}
	if integer(v) {
		return string(v)
	}
	return ""
}

// Flag reports whether v is true.
func (v Value) Flag() bool { return string(v) == "true" }

// Time returns a time as [Time] decodes it.
func (v Value) Time() time.Time {
	var t Time
	if v != nil {
		_ = t.UnmarshalJSON(v) // it never fails
	}
	return t.Time
}

// Number returns a number, or a string that contains one; "" if there is none.
func (v Value) Number() json.Number {
	n := json.Number(v)
	if len(v) > 0 && v[0] == '"' {
		n = json.Number(strings.TrimSpace(v.Text()))
	}
	if kind := jsonscan.Kind([]byte(n)); kind != '-' && (kind < '0' || kind > '9') || !json.Valid([]byte(n)) {
		return ""
	}
	return n
}

// Float returns [Value.Number] as a float; ok is false if there is none or it
// is too large.
func (v Value) Float() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(v.Number()), 64)
	return f, err == nil
}

// Int returns [Value.Number] as an integer, or 0.
func (v Value) Int() int64 {
	n, _ := strconv.ParseInt(string(v.Number()), 10, 64)
	return n
}
