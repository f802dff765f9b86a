package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Text is a string. Some servers send a number instead; other
// values count as none.
type Text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = Text(s)
	case b[0] != '{' && b[0] != '[':
		*t = Text(b)
	}
	return nil
}

// Number is an integer. Some servers send it with a fraction or
// as a string; other values count as 0.
type Number int64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && v > -1<<53 && v < 1<<53 {
		*n = Number(v)
	}
	return nil
}

// Count returns a number of tokens, which is never negative.
func (n Number) Count() int64 { return max(0, int64(n)) }
