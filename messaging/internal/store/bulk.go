package store

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Chunk is the most rows of one statement.
const Chunk = 1000

// Insert writes rows of columns of types; tail is what follows them.
func (u *Batch) Insert(ctx context.Context, into string, types []string, rows [][]any, tail string) error {
	return u.Store.DB.ExecRows(ctx, u.Tx, database.Rows{Before: into + " ", After: tail, Types: types, Values: slices.Concat(rows...)})
}

// InsertNew is insert of what may be there already; it returns what tail does.
func InsertNew[T any](ctx context.Context, u *Batch, into string, types []string, rows [][]any, tail string) ([]T, error) {
	return database.SelectRows[T](ctx, u.Store.DB, u.Tx, database.Rows{Before: into + " ", After: tail, Types: types, Values: slices.Concat(rows...)})
}

// update writes rows by a statement that reads them as v.column1, v.column2 …
func (u *Batch) update(ctx context.Context, set string, types []string, rows [][]any, where string) error {
	return u.Store.DB.ExecRows(ctx, u.Tx, updating(set, types, rows, where))
}

// updating is the statement of update.
func updating(set string, types []string, rows [][]any, where string) database.Rows {
	return database.Rows{Before: set + " FROM (", After: ") AS v WHERE " + where, Types: types, Values: slices.Concat(rows...), Set: true}
}

// SelectAmong returns what a query finds whose condition ends with columns, that
// these are one of rows; tail is what follows.
func SelectAmong[T any](ctx context.Context, u *Batch, query, columns string, types []string, rows [][]any, tail string) ([]T, error) {
	return database.SelectRows[T](ctx, u.Store.DB, u.Tx, database.Rows{
		Before: query + " " + columns + " IN (", After: ")" + tail, Types: types, Values: slices.Concat(rows...), Set: true,
	})
}

// NumberTypes are the SQL types of a column of numbers.
var NumberTypes = []string{"BIGINT"}

// numberRows are rows of one number.
func numberRows(numbers []int64) [][]any {
	rows := make([][]any, len(numbers))
	for i, n := range numbers {
		rows[i] = []any{n}
	}
	return rows
}
