package flow

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

var errNotJSON = errors.New("it is no JSON")

// maxNested is far deeper than what a state holds.
const maxNested = 4 * values.MaxDepth

// readValue reads the JSON value that raw begins with, and returns what
// follows it. Whole numbers are int where they fit.
func readValue(raw []byte, depth int) (v any, rest []byte, err error) {
	raw = skipSpace(raw)
	if len(raw) == 0 || depth > maxNested {
		return nil, nil, errNotJSON
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
		return nil, nil, errNotJSON
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
			return nil, nil, errNotJSON
		}
		if out[name], rest, err = readValue(rest[1:], depth+1); err != nil {
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
		v, rest, err := readValue(raw, depth+1)
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

// readComma reads what stands between two items, or ends them.
func readComma(raw []byte, end byte) (more bool, rest []byte, err error) {
	raw = skipSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == ',':
		return true, raw[1:], nil
	case len(raw) > 0 && raw[0] == end:
		return false, raw[1:], nil
	}
	return false, nil, errNotJSON
}

func readText(raw []byte) (string, []byte, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", nil, errNotJSON
	}
	plain := true
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"' && plain && utf8.Valid(raw[1:i]):
			return string(raw[1:i]), raw[i+1:], nil
		case c == '"':
			var s string
			if err := json.Unmarshal(raw[:i+1], &s); err != nil {
				return "", nil, errNotJSON
			}
			return s, raw[i+1:], nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			plain = false
		}
	}
	return "", nil, errNotJSON
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
		return nil, nil, errNotJSON
	}
	v, err := AdmitFloat(f)
	return v, raw[n:], err
}
