package messaging

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Page is one page of a list. Items is never nil.
type Page[T any] struct {
	Items []T     `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Cursor of the next page; null on the last."`
}

// List bounds a page.
type List struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Cursor string // Page.Next of the page before; "": the first page
}

func (l List) limit() (int, error) {
	switch {
	case l.Limit == 0:
		return 50, nil
	case l.Limit < 1:
		return 0, &Invalid{Field: "limit", Message: "must be at least 1"}
	}
	return min(l.Limit, 200), nil
}

// cursor is a position in a list: the sort keys of its last row.
type cursor []int64

func (c cursor) String() string {
	parts := make([]string, len(c))
	for i, n := range c {
		parts[i] = strconv.FormatInt(n, 36)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, ".")))
}

// parseCursor reads a cursor of n keys; "" is nil.
func parseCursor(field, s string, n int) (cursor, error) {
	if s == "" {
		return nil, nil
	}
	bad := &Invalid{Field: field, Message: "is not a cursor of this list"}
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
	c := make(cursor, n)
	for i, p := range parts {
		if c[i], err = strconv.ParseInt(p, 36, 64); err != nil {
			return nil, bad
		}
	}
	return c, nil
}

// page cuts rows, of which one more than limit was asked for.
func page[R, T any](rows []R, limit int, key func(R) cursor, view func(R) T) Page[T] {
	p := Page[T]{Items: []T{}}
	if len(rows) > limit {
		rows = rows[:limit]
		next := key(rows[limit-1]).String()
		p.Next = &next
	}
	for _, r := range rows {
		p.Items = append(p.Items, view(r))
	}
	return p
}

// params collects the parameters of a statement.
type params []any

// pair adds both keys of a position, to be compared with two columns.
func (p *params) pair(at cursor) string {
	return `(CAST(` + p.add(at[0]) + ` AS BIGINT), CAST(` + p.add(at[1]) + ` AS BIGINT))`
}

func (p *params) add(v any) string {
	*p = append(*p, v)
	return fmt.Sprintf("$%d", len(*p))
}
