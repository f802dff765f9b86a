package values

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

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
