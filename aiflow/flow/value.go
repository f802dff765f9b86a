package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a value.
const (
	limitString    = 64 << 10
	limitList      = 1000
	limitDepth     = 32
	limitVariables = 256 << 10 // all variables of a run together
)

// admit returns v as a state holds it: a JSON value of its own whose whole
// numbers are int, within the limits of a value. What it shares with v is
// never changed by a run.
func admit(v any) (any, error) { return admitAt(v, 1) }

func admitAt(v any, depth int) (any, error) {
	switch v := v.(type) {
	case nil, bool, int:
		return v, nil
	case string:
		if len(v) > limitString {
			return nil, tooLarge("a text has at most 65,536 bytes")
		}
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		return v, nil
	case float64:
		return admitFloat(v)
	case int64:
		return int(v), nil
	case json.Number:
		return admitNumber(v)
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []any:
		return admitList(v, depth)
	case map[string]any:
		return admitMap(v, depth)
	}
	return admitOther(v, depth)
}

func admitFloat(v float64) (any, error) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return nil, wrongType("a number must be finite")
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return int(v), nil
	}
	return v, nil
}

func admitNumber(v json.Number) (any, error) {
	if n, err := strconv.Atoi(string(v)); err == nil {
		return n, nil
	}
	f, err := v.Float64()
	if err != nil {
		return nil, tooLarge("a number is too large")
	}
	return admitFloat(f)
}

func admitList(v []any, depth int) (any, error) {
	if depth > limitDepth {
		return nil, tooLarge("a value has at most 32 levels")
	}
	if len(v) > limitList {
		return nil, tooLarge("a list has at most 1,000 items")
	}
	out := make([]any, len(v))
	for i, item := range v {
		var err error
		if out[i], err = admitAt(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func admitMap(v map[string]any, depth int) (any, error) {
	if depth > limitDepth {
		return nil, tooLarge("a value has at most 32 levels")
	}
	if err := fewMembers(v); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(v))
	for name, item := range v {
		item, err := admitAt(item, depth+1)
		if err != nil {
			return nil, err
		}
		out[strings.ToValidUTF8(name, "\uFFFD")] = item
	}
	return out, nil
}

// admitOther takes what callers hand in from Go: anything that is JSON.
func admitOther(v any, depth int) (any, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, wrongType("a value must be JSON")
		}
	}
	plain, err := parseJSON(raw)
	if err != nil {
		return nil, wrongType("a value must be JSON")
	}
	return admitAt(plain, depth)
}

// parseJSON reads a JSON value with its numbers as they are written.
func parseJSON(raw []byte) (any, error) {
	var v any
	if err := exactly(raw, &v); err != nil {
		return nil, fmt.Errorf("reading a value: %w", err)
	}
	return v, nil
}

// exactly reads JSON into v; numbers that become values are [json.Number].
func exactly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// admitInput is admit for what comes from outside: what is too large is
// shortened, so that no message stops a run. nil stays nil.
func admitInput(what string, v map[string]any) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	out, err := admit(v)
	var e *Error
	if errors.As(err, &e) && e.Code == codeValueSize {
		out, err = admit(inputBounds.truncate(v))
	}
	if err != nil {
		return nil, fmt.Errorf("flow: %s: %w", what, err)
	}
	return object(out), nil
}

// sizeOf is about how many bytes a value takes as JSON.
func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case []any:
		n := 2
		for _, item := range v {
			n += sizeOf(item) + 1
		}
		return n
	case map[string]any:
		n := 2
		for name, item := range v {
			n += len(name) + 4 + sizeOf(item)
		}
		return n
	case json.RawMessage:
		return len(v)
	}
	return 8
}

// object is v as an object; nil when it is none.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// text is v as a text; "" when it is none.
func text(v any) string {
	s, _ := v.(string)
	return s
}
