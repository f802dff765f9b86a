package expression

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Format returns what {{ v }} writes into a text: nothing for nil, a number in its
// shortest decimal form without a trailing .0, a list or an object as JSON with
// sorted keys. It truncates values deeper than [MaxDepth] or longer than
// [MaxBytes].
func Format(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	w := writer{m: &machine{steps: math.MaxInt, bytes: MaxBytes}}
	_ = w.text(v) // what fits is written
	return string(w.out)
}

// writer writes values as text and as JSON, within the budget of an evaluation.
type writer struct {
	m   *machine
	out []byte
	at  int
}

// text writes a value as a template does.
func (w *writer) text(v any) error {
	v, err := normal(v, w.at)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return w.raw(v)
	case time.Time:
		return w.raw(formatRFC3339(v))
	}
	return w.json(v, 1)
}

// raw writes s after charging its bytes.
func (w *writer) raw(s string) error {
	if err := w.m.grow(len(s), w.at); err != nil {
		return err
	}
	w.out = append(w.out, s...)
	return nil
}

// wrote replaces the output by out, to which a few bytes were appended, and charges
// them.
func (w *writer) wrote(out []byte) error {
	n := len(out) - len(w.out)
	w.out = out
	return w.m.grow(n, w.at)
}

func (w *writer) json(v any, depth int) error {
	if depth > MaxDepth {
		return fail(CodeValue, w.at, "writes a value with more than %d levels", MaxDepth)
	}
	if err := w.m.step(1, w.at); err != nil {
		return err
	}
	v, err := normal(v, w.at)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		return w.raw("null")
	case bool:
		return w.raw(strconv.FormatBool(v))
	case int:
		return w.wrote(strconv.AppendInt(w.out, int64(v), 10))
	case float64:
		return w.wrote(appendFloat(w.out, v))
	case string:
		return w.quoted(v)
	case time.Time:
		return w.quoted(formatRFC3339(v))
	case []any:
		return w.array(v, depth)
	case map[string]any:
		return w.object(v, depth)
	}
	return nil
}

func (w *writer) array(list []any, depth int) error {
	if err := w.raw("["); err != nil {
		return err
	}
	for i, item := range list {
		if i > 0 {
			if err := w.raw(","); err != nil {
				return err
			}
		}
		if err := w.json(item, depth+1); err != nil {
			return err
		}
	}
	return w.raw("]")
}

func (w *writer) object(object map[string]any, depth int) error {
	keys, err := w.m.sortedKeys(object, w.at)
	if err != nil {
		return err
	}
	if err := w.raw("{"); err != nil {
		return err
	}
	for i, key := range keys {
		if i > 0 {
			if err := w.raw(","); err != nil {
				return err
			}
		}
		if err := w.quoted(key); err != nil {
			return err
		}
		if err := w.raw(":"); err != nil {
			return err
		}
		if err := w.json(object[key], depth+1); err != nil {
			return err
		}
	}
	return w.raw("}")
}

// quoted writes a JSON string. Bytes that are not UTF-8 become U+FFFD.
func (w *writer) quoted(s string) error {
	if err := w.m.grow(len(s)+2, w.at); err != nil {
		return err
	}
	w.out = append(w.out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r == '\n':
			w.out = append(w.out, '\\', 'n')
		case r < ' ':
			if err := w.m.grow(5, w.at); err != nil {
				return err
			}
			w.out = append(w.out, '\\', 'u', '0', '0', "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			w.out = utf8.AppendRune(w.out, r)
		}
	}
	w.out = append(w.out, '"')
	return nil
}

// sortedKeys returns the keys of a map, sorted.
func (m *machine) sortedKeys(object map[string]any, at int) ([]string, error) {
	if err := m.list(len(object), at); err != nil {
		return nil, err
	}
	if err := m.step(sortSteps(len(object)), at); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(object)), nil
}

// sortSteps returns the cost of sorting n elements.
func sortSteps(n int) int {
	steps := 0
	for m := n; m > 1; m >>= 1 {
		steps += n
	}
	return steps
}

// appendFloat writes a number without an exponent if that is readable.
func appendFloat(out []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(out, int64(f), 10) // also for -0
	}
	if a := math.Abs(f); a >= 1e-7 && a < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(out, f, 'g', -1, 64)
}
