package messaging

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

// chunk is the most rows of one statement.
const chunk = 1000

// insert writes rows of columns of types; tail is what follows them.
func (u *batch) insert(ctx context.Context, into string, types []string, rows [][]any, tail string) error {
	return u.s.db.ExecRows(ctx, u.tx, database.Rows{Before: into + " ", After: tail, Types: types, Values: slices.Concat(rows...)})
}

// insertNew is insert of what may be there already; it returns what tail does.
func insertNew[T any](ctx context.Context, u *batch, into string, types []string, rows [][]any, tail string) ([]T, error) {
	return database.SelectRows[T](ctx, u.s.db, u.tx, database.Rows{Before: into + " ", After: tail, Types: types, Values: slices.Concat(rows...)})
}

// update writes rows by a statement that reads them as v.column1, v.column2 …
func (u *batch) update(ctx context.Context, set string, types []string, rows [][]any, where string) error {
	return u.s.db.ExecRows(ctx, u.tx, database.Rows{
		Before: set + " FROM (", After: ") AS v WHERE " + where, Types: types, Values: slices.Concat(rows...), Set: true,
	})
}

// among returns what a query finds whose condition ends with columns, that
// these are one of rows; tail is what follows.
func among[T any](ctx context.Context, u *batch, query, columns string, types []string, rows [][]any, tail string) ([]T, error) {
	return database.SelectRows[T](ctx, u.s.db, u.tx, database.Rows{
		Before: query + " " + columns + " IN (", After: ")" + tail, Types: types, Values: slices.Concat(rows...), Set: true,
	})
}

var numberTypes = []string{"BIGINT"}

// numberRows are rows of one number.
func numberRows(numbers []int64) [][]any {
	rows := make([][]any, len(numbers))
	for i, n := range numbers {
		rows[i] = []any{n}
	}
	return rows
}
