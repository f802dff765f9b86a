package auth

import "strconv"

// List bounds a page of a list.
type List struct {
	Limit  int    // 1..200; 0: 50
	Cursor string // of the page before; "": the first page
}

// position is the last row of the page before, and how many rows to return.
func (l List) position() (after int64, limit int, err error) {
	if limit = l.Limit; limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > 200 {
		return 0, 0, &Invalid{"limit", "must be between 1 and 200"}
	}
	if l.Cursor == "" {
		return 0, limit, nil
	}
	after, err = strconv.ParseInt(l.Cursor, 36, 64)
	if err != nil || after < 0 || strconv.FormatInt(after, 36) != l.Cursor {
		return 0, 0, &Invalid{"cursor", "is not a cursor of this list"}
	}
	return after, limit, nil
}

// page cuts rows, of which one more than limit was asked for, and returns the
// cursor of the next page, "" on the last.
func page[R, T any](rows []R, limit int, view func(R) T, seq func(R) int64) (items []T, next string) {
	if len(rows) > limit {
		rows = rows[:limit]
		next = strconv.FormatInt(seq(rows[limit-1]), 36)
	}
	items = make([]T, len(rows))
	for i, r := range rows {
		items[i] = view(r)
	}
	return items, next
}
