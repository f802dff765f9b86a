package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// canonical is t in its canonical form: without spaces, members in the
// order of their names (by bytes), numbers in their shortest form and strings
// with the fewest escapes.
func (t *tree) canonical() []byte { return t.write(nil, true) }

// write appends t with its members as they stand, or sorted.
func (t *tree) write(out []byte, sorted bool) []byte {
	switch t.kind {
	case kindObject:
		members := t.members
		if sorted {
			members = slices.SortedFunc(slices.Values(members), func(a, b member) int { return strings.Compare(a.name, b.name) })
		}
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, m.name), ':')
			out = m.value.write(out, sorted)
		}
		return append(out, '}')
	case kindArray:
		out = append(out, '[')
		for i, item := range t.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.write(out, sorted)
		}
		return append(out, ']')
	case kindString:
		return appendString(out, t.text)
	case kindNumber:
		return appendNumber(out, t.text)
	case kindNull:
		return append(out, "null"...)
	}
	return append(out, t.text...)
}

// appendNumber writes whole numbers up to 64 bits by their digits, others as
// the shortest form that reads back as the same number.
func appendNumber(out []byte, text string) []byte {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(out, n, 10)
	}
	f, _ := strconv.ParseFloat(text, 64) // it was read before
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(out, int64(f), 10)
	}
	return strconv.AppendFloat(out, f, 'g', -1, 64)
}

func appendString(out []byte, s string) []byte {
	if plainText(s) {
		out = append(out, '"')
		out = append(out, s...)
		return append(out, '"')
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // of a string it does not fail
	return append(out, strings.TrimSuffix(b.String(), "\n")...)
}

// plainText says whether nothing of s has to be escaped.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// hashOf names bytes by their SHA-256, in hexadecimal.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
