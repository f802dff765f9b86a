package flow

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// appendValue appends an admitted value as JSON, members in the order of
// their names.
func AppendValue(out []byte, v any) []byte {
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
			out = AppendValue(out, item)
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
	for i, name := range values.Names(m) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendQuoted(out, name)
		out = append(out, ':')
		out = AppendValue(out, m[name])
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

// members writes a JSON object member by member.
type Members struct{ out []byte }

func (m *Members) name(name string) {
	switch {
	case len(m.out) == 0:
		m.out = append(m.out, '{')
	case m.out[len(m.out)-1] != '{':
		m.out = append(m.out, ',')
	}
	m.out = append(appendQuoted(m.out, name), ':')
}

func (m *Members) Text(name, v string) {
	m.name(name)
	m.out = appendQuoted(m.out, v)
}

// given is text for a member that is left out when it is empty.
func (m *Members) Given(name, v string) {
	if v != "" {
		m.Text(name, v)
	}
}

func (m *Members) int(name string, n int) {
	m.name(name)
	m.out = strconv.AppendInt(m.out, int64(n), 10)
}

func (m *Members) Value(name string, v any) {
	m.name(name)
	m.out = AppendValue(m.out, v)
}

func (m *Members) End() json.RawMessage {
	if len(m.out) == 0 {
		return json.RawMessage("{}")
	}
	return append(m.out, '}')
}

// encode writes any value as JSON.
func encode(v any) (json.RawMessage, error) {
	plain, err := Admit(v)
	if err != nil {
		return nil, fmt.Errorf("writing a value: %w", err)
	}
	return AppendValue(nil, plain), nil
}
