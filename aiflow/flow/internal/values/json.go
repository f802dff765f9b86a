package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Append appends an admitted value as JSON, members in the order of
// their names.
func Append(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case int:
		return strconv.AppendInt(out, int64(v), 10)
	case float64:
		return appendFloat(out, v)
	case string:
		return appendQuoted(out, v)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = Append(out, item)
		}
		return append(out, ']')
	case map[string]any:
		return appendMap(out, v)
	}
	raw, _ := json.Marshal(v) // what no state holds
	return append(out, raw...)
}

func appendMap(out []byte, m map[string]any) []byte {
	out = append(out, '{')
	for i, name := range Names(m) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendQuoted(out, name)
		out = append(out, ':')
		out = Append(out, m[name])
	}
	return append(out, '}')
}

// appendFloat writes a number so that it is read back as the same one.
func appendFloat(out []byte, v float64) []byte {
	return strconv.AppendFloat(out, v, 'g', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string with the fewest escapes. Bytes that
// are no UTF-8 become U+FFFD.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			out = append(append(out, s[from:i]...), "\uFFFD"...)
		} else {
			out = appendEscaped(append(out, s[from:i]...), c)
		}
		i++
		from = i
	}
	return append(append(out, s[from:]...), '"')
}

func appendEscaped(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Encode writes any value as JSON.
func Encode(v any) (json.RawMessage, error) {
	plain, err := Admit(v)
	if err != nil {
		return nil, fmt.Errorf("writing a value: %w", err)
	}
	return Append(nil, plain), nil
}

// ErrNotJSON reports a text that is no JSON value.
var ErrNotJSON = errors.New("it is not JSON")

// maxNested is far deeper than what a state holds.
const maxNested = 4 * MaxDepth

// Read reads the JSON value that raw begins with, and returns what
// follows it. Whole numbers are int where they fit.
func Read(raw []byte, depth int) (v any, rest []byte, err error) {
	raw = skipSpace(raw)
	if len(raw) == 0 || depth > maxNested {
		return nil, nil, ErrNotJSON
	}
	switch raw[0] {
	case '{':
		return readMap(raw[1:], depth)
	case '[':
		return readList(raw[1:], depth)
	case '"':
		s, rest, err := readText(raw)
		return s, rest, err
	case 't':
		return readWord(raw, "true", true)
	case 'f':
		return readWord(raw, "false", false)
	case 'n':
		return readWord(raw, "null", nil)
	}
	return readNumber(raw)
}

func skipSpace(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\n' || raw[0] == '\t' || raw[0] == '\r') {
		raw = raw[1:]
	}
	return raw
}

func readWord(raw []byte, word string, v any) (any, []byte, error) {
	if len(raw) < len(word) || string(raw[:len(word)]) != word {
		return nil, nil, ErrNotJSON
	}
	return v, raw[len(word):], nil
}

func readMap(raw []byte, depth int) (any, []byte, error) {
	out := map[string]any{}
	if raw = skipSpace(raw); len(raw) > 0 && raw[0] == '}' {
		return out, raw[1:], nil
	}
	for {
		name, rest, err := readText(skipSpace(raw))
		if err != nil {
			return nil, nil, err
		}
		if rest = skipSpace(rest); len(rest) == 0 || rest[0] != ':' {
			return nil, nil, ErrNotJSON
		}
		if out[name], rest, err = Read(rest[1:], depth+1); err != nil {
			return nil, nil, err
		}
		more, rest, err := readComma(rest, '}')
		if !more || err != nil {
			return out, rest, err
		}
		raw = rest
	}
}

func readList(raw []byte, depth int) (any, []byte, error) {
	out := []any{}
	if raw = skipSpace(raw); len(raw) > 0 && raw[0] == ']' {
		return out, raw[1:], nil
	}
	for {
		v, rest, err := Read(raw, depth+1)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, v)
		more, rest, err := readComma(rest, ']')
		if !more || err != nil {
			return out, rest, err
		}
		raw = rest
	}
}

// readComma reads what is between two items, or ends them.
func readComma(raw []byte, end byte) (more bool, rest []byte, err error) {
	raw = skipSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == ',':
		return true, raw[1:], nil
	case len(raw) > 0 && raw[0] == end:
		return false, raw[1:], nil
	}
	return false, nil, ErrNotJSON
}

func readText(raw []byte) (string, []byte, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", nil, ErrNotJSON
	}
	plain := true
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"' && plain && utf8.Valid(raw[1:i]):
			return string(raw[1:i]), raw[i+1:], nil
		case c == '"':
			var s string
			if err := json.Unmarshal(raw[:i+1], &s); err != nil {
				return "", nil, ErrNotJSON
			}
			return s, raw[i+1:], nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			plain = false
		}
	}
	return "", nil, ErrNotJSON
}

func readNumber(raw []byte) (any, []byte, error) {
	n := 0
	for n < len(raw) && (raw[n] >= '0' && raw[n] <= '9' || raw[n] == '-' || raw[n] == '+' || raw[n] == '.' || raw[n] == 'e' || raw[n] == 'E') {
		n++
	}
	text := string(raw[:n])
	if i, err := strconv.Atoi(text); err == nil {
		return i, raw[n:], nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, nil, ErrNotJSON
	}
	v, err := AdmitFloat(f)
	return v, raw[n:], err
}
