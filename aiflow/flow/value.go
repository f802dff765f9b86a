package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Limits of a value.
const (
	limitVariables = 256 << 10 // all variables of a run together
)

// Admit returns v as a state holds it: a JSON value of its own whose whole
// numbers are int, within the limits of a value. What it shares with v is
// never changed by a run.
func Admit(v any) (any, error) { return admitAt(v, 1) }

func admitAt(v any, depth int) (any, error) {
	switch v := v.(type) {
	case nil, bool, int:
		return v, nil
	case string:
		if len(v) > values.MaxString {
			return nil, TooLarge("a text has at most 65,536 bytes")
		}
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\uFFFD")
		}
		return v, nil
	case float64:
		return AdmitFloat(v)
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

// AdmitFloat returns a number as a state holds it.
func AdmitFloat(v float64) (any, error) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return nil, WrongType("a number must be finite")
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
		return nil, TooLarge("a number is too large")
	}
	return AdmitFloat(f)
}

func admitList(v []any, depth int) (any, error) {
	if depth > values.MaxDepth {
		return nil, TooLarge("a value has at most 32 levels")
	}
	if len(v) > values.MaxList {
		return nil, TooLarge("a list has at most 1,000 items")
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
	if depth > values.MaxDepth {
		return nil, TooLarge("a value has at most 32 levels")
	}
	if err := FewMembers(v); err != nil {
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
			return nil, WrongType("a value must be JSON")
		}
	}
	plain, err := values.ParseJSON(raw)
	if err != nil {
		return nil, WrongType("a value must be JSON")
	}
	return admitAt(plain, depth)
}

// admitInput is admit for what comes from outside: what is too large is
// shortened, so that no message stops a run. nil stays nil.
func admitInput(what string, v map[string]any) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	out, err := Admit(v)
	var e *Error
	if errors.As(err, &e) && e.Code == codeValueSize {
		out, err = Admit(values.InputBounds.Truncate(v))
	}
	if err != nil {
		return nil, fmt.Errorf("flow: %s: %w", what, err)
	}
	return values.ObjectOf(out), nil
}

// ParseDuration reads a duration as documents have it, in the form of ISO
// 8601: PT90S, P1DT12H, P2W. A month and a year have no length of their own and
// are refused.
func ParseDuration(text string) (time.Duration, error) { return values.ParseDuration(text) }

// Codes of values that cannot be kept.
const (
	CodeValueType = "value.type"
	codeValueSize = "value.too_large"
)

// WrongType returns the error of a value of another type.
func WrongType(message string) *Error { return &Error{Code: CodeValueType, Message: message} }

// TooLarge returns the error of a value that is too large.
func TooLarge(message string) *Error { return &Error{Code: codeValueSize, Message: message} }

// At puts the name of a value before what is wrong with it.
func At(err error, name string) error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{Code: e.Code, Message: name + ": " + e.Message}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Conform returns v as a declared type has it. Texts of numbers become
// numbers and the other way round, as contacts write the one and APIs the
// other. Nothing fits every type.
func Conform(v any, kind string) (any, error) {
	v, err := Admit(v)
	if err != nil || v == nil {
		return nil, err
	}
	var ok bool
	switch kind {
	case "string":
		v, ok = conformText(v)
	case "number", "integer":
		v, ok = ConformNumber(v, kind == "integer")
	case "boolean":
		v, ok = conformBool(v)
	case "date", "datetime":
		v, ok = conformDate(v, kind == "date")
	case "list":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	default:
		ok = true
	}
	if !ok {
		return nil, WrongType("must be of type " + kind)
	}
	return v, nil
}

func conformText(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int, float64, bool:
		return expression.Format(v), true
	}
	return nil, false
}

// ConformNumber returns a value as a number, if it is one.
func ConformNumber(v any, whole bool) (any, bool) {
	if s, ok := v.(string); ok {
		n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, false
		}
		v = n
		if i, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			v = i
		}
	}
	switch n := v.(type) {
	case int:
		return n, true
	case float64:
		n2, _ := AdmitFloat(n)
		_, isWhole := n2.(int)
		return n2, isWhole || !whole
	}
	return nil, false
}

func conformBool(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	}
	return nil, false
}

func conformDate(v any, day bool) (any, bool) {
	s, ok := v.(string)
	if !ok {
		return nil, false
	}
	when, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if when, err = time.Parse(time.DateOnly, s); err != nil {
			return nil, false
		}
	}
	if day {
		return when.Format(time.DateOnly), true
	}
	return s, true
}

// conformAll checks values against their declarations: all that are required
// are there, none is unknown, and each has its type.
func conformAll(what string, given map[string]any, declared map[string]variable) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := declared[name]; !ok {
			return nil, WrongType(what + "." + name + ": is not declared")
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(declared))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d := declared[name]
		v, ok := given[name]
		if !ok || v == nil {
			v = d.initial
		}
		if v == nil && d.Required {
			return nil, WrongType(what + "." + name + ": is required")
		}
		v, err := Conform(v, d.Type)
		if err != nil {
			return nil, At(err, what+"."+name)
		}
		out[name] = v
	}
	return out, nil
}
