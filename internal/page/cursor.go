package page

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/internal/apierr"
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

// ParseCursor reads a cursor of n keys; "" is nil. The error is an
// [*apierr.Invalid] of field.
func ParseCursor(field, s string, n int) (Cursor, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > 200 {
		return nil, invalid(field)
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, invalid(field)
	}
	parts := strings.Split(string(raw), ".")
	if len(parts) != n {
		return nil, invalid(field)
	}
	c := make(Cursor, n)
	for i, p := range parts {
		if c[i], err = strconv.ParseInt(p, 36, 64); err != nil {
			return nil, invalid(field)
		}
	}
	return c, nil
}

func invalid(field string) error {
	return &apierr.Invalid{Field: field, Message: "is not a cursor of this list"}
}
