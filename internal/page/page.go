// Package page splits lists that are ordered by one number, a database's sequence,
// into pages. A cursor is the number of the last row of the previous page.
package page

import (
	"strconv"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Limits of a page.
const (
	maxRows = 200
	usual   = 50
)

// Parse parses the limit and the cursor of a page. rows is limit, by default 50 and
// at most 200. last is the number in cursor, which is that of the last row of the
// previous page; 0 for the first page, whose cursor is "". The error is an
// [*apierr.Invalid].
func Parse(limit int, cursor string) (last int64, rows int, err error) {
	if limit == 0 {
		limit = usual
	}
	if limit < 1 {
		return 0, 0, &apierr.Invalid{Field: "limit", Message: "must be at least 1"}
	}
	limit = min(limit, maxRows)
	if cursor == "" {
		return 0, limit, nil
	}
	last, err = strconv.ParseInt(cursor, 36, 64)
	if err != nil || last < 0 || strconv.FormatInt(last, 36) != cursor {
		return 0, 0, &apierr.Invalid{Field: "cursor", Message: "is not a cursor of this list"}
	}
	return last, limit, nil
}

// Cut makes a page of rows, of which one more than the size was read, and returns
// the cursor of the next page, "" on the last. items is never nil.
func Cut[R, T any](rows []R, size int, number func(R) int64, view func(R) T) (items []T, next string) {
	if len(rows) > size {
		rows = rows[:size]
		next = strconv.FormatInt(number(rows[size-1]), 36)
	}
	items = make([]T, len(rows))
	for i, r := range rows {
		items[i] = view(r)
	}
	return items, next
}

// weight is the maximum size of the documents on a page, in bytes.
const weight = 8 << 20

// Fit returns how many of the first rows with these sizes, in bytes, a page may
// have. It is at least one.
func Fit(sizes []int64) int {
	var sum int64
	for i, n := range sizes {
		if sum += n; sum > weight {
			return max(1, i)
		}
	}
	return max(1, len(sizes))
}
