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

// Value is a piece of a callback, read with patience: what is missing, or is
// not of the type that is asked for, is the zero value and never an error.
// It must be valid JSON or empty.
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

// Object says whether v is an object.
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
	_ = json.Unmarshal(v, &s) // of valid JSON it does not fail
	return s
}

// ID returns a string or an integer, exactly; see [ID].
func (v Value) ID() string {
	if len(v) > 0 && v[0] == '"' {
		return v.Text()
	}
	if integer(v) {
		return string(v)
	}
	return ""
}

// Flag says whether v is true.
func (v Value) Flag() bool { return string(v) == "true" }

// Time returns a time as [Time] reads it.
func (v Value) Time() time.Time {
	var t Time
	if v != nil {
		_ = t.UnmarshalJSON(v) // it never fails
	}
	return t.Time
}

// Number returns a number, or one that is in a string; "" when there is
// none.
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

// Float is [Value.Number] as a float; ok is false when there is none, or it
// is too large.
func (v Value) Float() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(v.Number()), 64)
	return f, err == nil
}

// Int is [Value.Number] as an integer; what is none is 0.
func (v Value) Int() int64 {
	n, _ := strconv.ParseInt(string(v.Number()), 10, 64)
	return n
}
