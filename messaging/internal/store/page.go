package store

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// Cursor is a position in a list: the sort keys of its last row.
type Cursor []int64

// String is the cursor as users see it.
func (c Cursor) String() string {
	parts := make([]string, len(c))
	for i, n := range c {
		parts[i] = strconv.FormatInt(n, 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, ".")))
}

// ParseCursor reads a cursor of n keys; "" is nil.
func ParseCursor(field, s string, n int) (Cursor, error) {
	if s == "" {
		return nil, nil
	}
	bad := &payload.Invalid{Field: field, Message: "is not a cursor of this list"}
	if len(s) > 200 {
		return nil, bad
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, bad
	}
	parts := strings.Split(string(raw), ".")
	if len(parts) != n {
		return nil, bad
	}
	c := make(Cursor, n)
	for i, p := range parts {
		if c[i], err = strconv.ParseInt(p, 36, 64); err != nil {
			return nil, bad
		}
	}
	return c, nil
}

// Params collects the parameters of a statement.
type Params []any

// Pair adds both keys of a position, to be compared with two columns.
func (p *Params) Pair(at Cursor) string {
	return `(CAST(` + p.Add(at[0]) + ` AS BIGINT), CAST(` + p.Add(at[1]) + ` AS BIGINT))`
}

// Add adds a value and returns its place in the statement.
func (p *Params) Add(v any) string {
	*p = append(*p, v)
	return fmt.Sprintf("$%d", len(*p))
}
