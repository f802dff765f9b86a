package page

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Read reads the rows of a page whose rows hold documents: at most size of
// them, and no more than fit into memory side by side, and one more by which
// [Cut] knows that another page follows. It returns how many rows the page has.
// weight is the size of a row in bytes, as SQL; from says where the rows are, in
// which order, and ends with LIMIT and the parameter behind args.
func Read[R any](ctx context.Context, q sqlx.QueryerContext, columns, weight, from string, size int, args ...any) (rows []R, fits int, err error) {
	limited := func(n int) []any { return append(args[:len(args):len(args)], n) }
	var sizes []int64
	if err := sqlx.SelectContext(ctx, q, &sizes, `SELECT `+weight+from, limited(size)...); err != nil {
		return nil, 0, err
	}
	fits = Fit(sizes)
	err = sqlx.SelectContext(ctx, q, &rows, `SELECT `+columns+from, limited(fits+1)...)
	return rows, fits, err
}
