package page

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Read reads a page of rows with documents, in ascending order of number. It has
// fewer rows than l says if they do not fit into memory together. weight is an SQL
// expression for the size of a row in bytes. from has the tables and the order; its
// last two parameters, after args, are the number of the last row of the previous
// page and the LIMIT. what names the rows in errors.
func Read[R, T any](
	ctx context.Context, q database.Reader, l List, what string, number func(R) int64, view func(R) T, columns, weight, from string, args ...any,
) (Page[T], error) {
	last, size, err := l.Parse()
	if err != nil {
		return Page[T]{}, err
	}
	limited := func(n int) []any { return append(args[:len(args):len(args)], last, n) }
	var sizes []int64
	if err := q.SelectContext(ctx, &sizes, `SELECT `+weight+from, limited(size)...); err != nil {
		return Page[T]{}, fmt.Errorf("listing %s: %w", what, err)
	}
	size = Fit(sizes)
	var rows []R
	if err := q.SelectContext(ctx, &rows, `SELECT `+columns+from, limited(size+1)...); err != nil {
		return Page[T]{}, fmt.Errorf("listing %s: %w", what, err)
	}
	return Cut(rows, size, number, view), nil
}
