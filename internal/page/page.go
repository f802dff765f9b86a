// Package page splits lists into pages. The lists of [Select], [Read] and [Cut] are
// ordered by one number, a database's sequence, and a cursor is the number of the
// last row of the previous page. Lists with more sort keys have a [Cursor].
package page

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Page is a page of a list.
type Page[T any] struct {
	Items []T    // never nil
	Next  string // the cursor of the next page; "": this is the last
}

// List bounds a page of a list.
type List struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Cursor string // Page.Next of the previous page; "": the first page
}

// Limits of a page.
const (
	maxRows = 200
	usual   = 50
)

// Size returns the number of rows of a page: limit, by default 50 and at most 200.
// The error is an [*apierr.Invalid].
func Size(limit int) (int, error) {
	limit = cmp.Or(limit, usual)
	if limit < 1 {
		return 0, &apierr.Invalid{Field: "limit", Message: "must be at least 1"}
	}
	return min(limit, maxRows), nil
}

// Parse parses the bounds of a page. rows is the [Size] of l.Limit. last is the
// number in l.Cursor, which is that of the last row of the previous page; 0 for the
// first page. The error is an [*apierr.Invalid].
func (l List) Parse() (last int64, rows int, err error) {
	if rows, err = Size(l.Limit); err != nil || l.Cursor == "" {
		return 0, rows, err
	}
	last, err = strconv.ParseInt(l.Cursor, 36, 64)
	if err != nil || last < 0 || strconv.FormatInt(last, 36) != l.Cursor {
		return 0, 0, invalid("cursor")
	}
	return last, rows, nil
}

// Select reads a page of rows with the bounds l. The last two parameters of query,
// after args, are the number of the last row of the previous page and the LIMIT. Rows
// come in ascending order of number. what names them in errors.
func Select[R, T any](
	ctx context.Context, q database.Reader, l List, what string, number func(R) int64, view func(R) T, query string, args ...any,
) (Page[T], error) {
	last, size, err := l.Parse()
	if err != nil {
		return Page[T]{}, err
	}
	var rows []R
	if err := q.SelectContext(ctx, &rows, query, append(args[:len(args):len(args)], last, size+1)...); err != nil {
		return Page[T]{}, fmt.Errorf("listing %s: %w", what, err)
	}
	return Cut(rows, size, number, view), nil
}

// Cut makes a page of rows, of which one more than the size was read.
func Cut[R, T any](rows []R, size int, number func(R) int64, view func(R) T) Page[T] {
	return CutAt(rows, size, func(r R) string { return strconv.FormatInt(number(r), 36) }, view)
}

// CutAt is [Cut] for a list whose rows have cursors of another form.
func CutAt[R, T any](rows []R, size int, cursor func(R) string, view func(R) T) Page[T] {
	var p Page[T]
	if len(rows) > size {
		rows = rows[:size]
		p.Next = cursor(rows[size-1])
	}
	p.Items = make([]T, len(rows))
	for i, r := range rows {
		p.Items[i] = view(r)
	}
	return p
}

// Map makes a page of views of the items of p.
func Map[R, T any](p Page[R], view func(R) (T, error)) (Page[T], error) {
	out := Page[T]{Items: make([]T, len(p.Items)), Next: p.Next}
	for i, r := range p.Items {
		var err error
		if out.Items[i], err = view(r); err != nil {
			return Page[T]{}, err
		}
	}
	return out, nil
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
