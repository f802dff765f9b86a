// Package page cuts lists that are ordered by one number, a database's
// sequence, into pages. A cursor is the number of the last row of the page
// before.
package page

import (
	"strconv"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// The bounds of a page.
const (
	maxRows = 200
	usual   = 50
)

// Parse reads the bounds of a page: at most limit rows, 0 for the usual 50 and
// 200 for more than that, after the page that ended with cursor, "" for the first page. Last is the
// number in the cursor, 0 without one. The error is an
// [*apierr.Invalid].
func Parse(limit int, cursor string) (last int64, rows int, err error) {
	if limit == 0 {
		limit = usual
	}
	if limit < 1 {
		return 0, 0, &apierr.Invalid{"limit", "must be at least 1"}
	}
	limit = min(limit, maxRows)
	if cursor == "" {
		return 0, limit, nil
	}
	last, err = strconv.ParseInt(cursor, 36, 64)
	if err != nil || last < 0 || strconv.FormatInt(last, 36) != cursor {
		return 0, 0, &apierr.Invalid{"cursor", "is not a cursor of this list"}
	}
	return last, limit, nil
}

// Cut makes a page of rows, of which one more than its size was asked for, and
// returns the cursor of the next page, "" on the last. Items are never nil.
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

// weight is how many bytes of documents a page may hold.
const weight = 8 << 20

// Fit is how many rows of some sizes, in bytes, a page holds: those that come
// first, and at least one.
func Fit(sizes []int64) int {
	var sum int64
	for i, n := range sizes {
		if sum += n; sum > weight {
			return max(1, i)
		}
	}
	return max(1, len(sizes))
}
