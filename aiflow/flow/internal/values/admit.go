package values

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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
		if len(v) > MaxString {
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
		return AdmitNumber(v)
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

// AdmitNumber returns a number as a state holds it.
func AdmitNumber(v json.Number) (any, error) {
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
	if depth > MaxDepth {
		return nil, TooLarge("a value has at most 32 levels")
	}
	if len(v) > MaxList {
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
	if depth > MaxDepth {
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
	plain, err := ParseJSON(raw)
	if err != nil {
		return nil, WrongType("a value must be JSON")
	}
	return admitAt(plain, depth)
}

// FewMembers returns an error for an object with too many members.
func FewMembers(m map[string]any) error {
	if len(m) > MaxList {
		return TooLarge("an object has at most 1,000 members")
	}
	return nil
}

// Appended is list with one item more, in memory of its own.
func Appended(list []any, item any) (any, error) {
	if len(list) >= MaxList {
		return nil, TooLarge("a list has at most 1,000 items")
	}
	out := make([]any, len(list)+1)
	copy(out, list)
	out[len(list)] = item
	return out, nil
}
