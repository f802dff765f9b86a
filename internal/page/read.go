package page

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Read reads a page of rows with documents: at most size rows that fit into memory
// together, and one more by which [Cut] knows that another page follows. fits is
// the number of rows of the page. weight is an SQL expression for the size of a row
// in bytes. from has the tables and the order, and ends with LIMIT and the
// parameter that follows args.
func Read[R any](ctx context.Context, q database.Reader, columns, weight, from string, size int, args ...any) (rows []R, fits int, err error) {
	limited := func(n int) []any { return append(args[:len(args):len(args)], n) }
	var sizes []int64
	if err := q.SelectContext(ctx, &sizes, `SELECT `+weight+from, limited(size)...); err != nil {
		return nil, 0, err
	}
	fits = Fit(sizes)
	err = q.SelectContext(ctx, &rows, `SELECT `+columns+from, limited(fits+1)...)
	return rows, fits, err
}
