package expression

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// kindOf returns the kind of a normal value.
func kindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return Nothing
	case bool:
		return Bool
	case int, float64:
		return Number
	case string:
		return Text
	case []any:
		return List
	case map[string]any:
		return Map
	default:
		return Date
	}
}

// normal converts the value to one of the types that expressions use: nil, bool,
// int, float64, string, time.Time, []any, map[string]any. Elements are converted
// when they are reached. NaN and infinity become nothing.
func normal(v any, at int) (any, error) {
	switch v := v.(type) {
	case nil, bool, int, string, []any, map[string]any, time.Time:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
		return v, nil
	case int64:
		return int(v), nil
	case int32:
		return int(v), nil
	case float32:
		return normal(float64(v), at)
	case uint32:
		return int(v), nil
	case uint64:
		if v > math.MaxInt {
			return float64(v), nil
		}
		return int(v), nil
	case json.Number:
		return parseNumber(v.String()), nil
	}
	return nil, fail(CodeType, at, "has a %T, which is not a JSON value", v)
}

// parseNumber parses a number in the syntax of JSON, or returns nil. A whole number
// is an int, unless it needs more than 64 bits.
func parseNumber(s string) any {
	if i, err := strconv.ParseInt(s, 10, strconv.IntSize); err == nil {
		return int(i)
	}
	if s == "" || len(s) > 400 || !numberLike(s) {
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return f
}

// numberLike excludes what ParseFloat accepts besides decimal numbers: hex,
// underscores, inf, nan.
func numberLike(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

// Truth returns the value of a condition. Nothing is false. Anything but true,
// false and nothing is an error: the text "false" must not count as true.
// anything but true and false is an error, for a text "false" must not be true.
func Truth(v any) (bool, error) { return truth(v, 0) }

func truth(v any, at int) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case nil:
		return false, nil
	}
	return false, fail(CodeType, at, "is a %s, but must be true or false", kindOf(v)).
		hint("compare it, for example x == \"yes\" or x != nil")
}

// whole returns a number as an integer, if it is one.
func whole(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int(v), true
		}
	}
	return 0, false
}

func float(v any) float64 {
	if i, ok := v.(int); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// equal compares two normal values; lists and maps by their elements.
func (m *machine) equal(a, b any, depth, at int) (bool, error) {
	if err := m.step(1, at); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return m.equalLists(a, b, depth, at)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return m.equalMaps(a, b, depth, at)
	case string:
		if b, ok := b.(string); ok {
			return a == b, m.scan(min(len(a), len(b)), at)
		}
	}
	order, ok := compare(a, b)
	return ok && order == 0, nil
}

func (m *machine) equalLists(a, b []any, depth, at int) (bool, error) {
	for i := range a {
		same, err := m.equalElements(a[i], b[i], depth, at)
		if !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalMaps compares all members even after one that differs: their order varies,
// and the cost of the comparison must not.
func (m *machine) equalMaps(a, b map[string]any, depth, at int) (bool, error) {
	equal := true
	for key, x := range a {
		y, ok := b[key]
		same, err := m.equalElements(x, y, depth, at)
		if err != nil {
			return false, err
		}
		equal = equal && same && ok
	}
	return equal, nil
}

func (m *machine) equalElements(a, b any, depth, at int) (bool, error) {
	if depth > MaxDepth {
		return false, fail(CodeValue, at, "compares values with more than %d levels", MaxDepth)
	}
	a, err := normal(a, at)
	if err != nil {
		return false, err
	}
	if b, err = normal(b, at); err != nil {
		return false, err
	}
	return m.equal(a, b, depth+1, at)
}

// compare orders two values of one kind: numbers, texts (by their bytes, which is
// the order of code points), dates, and a date with a text that is one. Booleans
// and nothing have no order. ok is false for all others.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case nil:
		return 0, b == nil
	case bool:
		same, isBool := b.(bool)
		return order01(a == same), isBool
	case int:
		switch b := b.(type) {
		case int:
			return sign(a < b, a > b), true
		case float64:
			return compareMixed(a, b), true
		}
	case float64:
		switch b := b.(type) {
		case int:
			return -compareMixed(b, a), true
		case float64:
			return sign(a < b, a > b), true
		}
	case string:
		switch b := b.(type) {
		case string:
			return sign(a < b, a > b), true
		case time.Time:
			at, isDate := parseDate(a, b.Location())
			return at.Compare(b), isDate
		}
	case time.Time:
		switch b := b.(type) {
		case time.Time:
			return a.Compare(b), true
		case string:
			at, isDate := parseDate(b, a.Location())
			return a.Compare(at), isDate
		}
	}
	return 0, false
}

func order01(same bool) int {
	if same {
		return 0
	}
	return 1
}

func sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// compareMixed compares an integer with a float without rounding the integer.
func compareMixed(i int, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	t := math.Trunc(f)
	if n := int(t); n != i {
		return sign(i < n, i > n)
	}
	return sign(0 < f-t, 0 > f-t)
}

// outward converts dates to texts, also within lists and maps, which it copies only
// if they contain a date.
func (m *machine) outward(v any, depth int) (any, error) {
	switch v := v.(type) {
	case time.Time:
		return formatRFC3339(v), nil
	case []any:
		return m.outwardList(v, depth)
	case map[string]any:
		return m.outwardMap(v, depth)
	}
	return v, nil
}

func (m *machine) outwardList(list []any, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fail(CodeValue, 0, "creates a value with more than %d levels", MaxDepth)
	}
	if err := m.list(len(list), 0); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = m.outward(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *machine) outwardMap(object map[string]any, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fail(CodeValue, 0, "creates a value with more than %d levels", MaxDepth)
	}
	keys, err := m.sortedKeys(object, 0)
	if err != nil {
		return nil, err
	}
	if err := m.grow(len(object)*entryBytes, 0); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(object))
	for _, key := range keys {
		if out[key], err = m.outward(object[key], depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}
