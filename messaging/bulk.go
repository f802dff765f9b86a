package messaging

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// chunk is the most rows of one statement: PostgreSQL takes 65,535 parameters.
const chunk = 1000

// insert writes rows of the same width with one statement per chunk; tail is
// what follows the VALUES.
func (u *unit) insert(ctx context.Context, into string, width int, rows [][]any, tail string) error {
	return u.bulk(ctx, rows, func(part [][]any) (string, []any) {
		return into + " VALUES " + u.values(len(part), width, 1) + tail, flat(part)
	})
}

// update writes rows of the given column types by a statement that reads them
// as v.column1, v.column2 … PostgreSQL gets a parameter per column: to read
// and plan a list of casts takes it longer than the update itself.
func (u *unit) update(ctx context.Context, set string, types []string, rows [][]any, where string) error {
	return u.bulk(ctx, rows, func(part [][]any) (string, []any) {
		if u.s.db.Dialect == database.Postgres {
			return set + " FROM " + unnest(types) + " WHERE " + where, arrays(part, len(types))
		}
		return set + " FROM (VALUES " + u.values(len(part), len(types), 1) + ") AS v WHERE " + where, flat(part)
	})
}

// values is [database.Dialect.Values].
func (u *unit) values(rows, width, first int, types ...string) string {
	return u.s.db.Dialect.Values(rows, width, first, types...)
}

func (u *unit) bulk(ctx context.Context, rows [][]any, query func(part [][]any) (string, []any)) error {
	for len(rows) > 0 {
		n := min(len(rows), chunk)
		q, args := query(rows[:n])
		if _, err := u.tx.ExecContext(ctx, q, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// flat are the values of rows, one row after the other.
func flat(rows [][]any) []any {
	args := make([]any, 0, len(rows)*len(rows[0]))
	for _, r := range rows {
		args = append(args, r...)
	}
	return args
}

// unnest is a table v of array parameters.
func unnest(types []string) string {
	var from, names strings.Builder
	for i, t := range types {
		if i > 0 {
			from.WriteByte(',')
			names.WriteByte(',')
		}
		fmt.Fprintf(&from, "CAST($%d AS %s[])", i+1, t)
		fmt.Fprintf(&names, "column%d", i+1)
	}
	return "unnest(" + from.String() + ") AS v (" + names.String() + ")"
}

// arrays are the columns of rows as PostgreSQL writes arrays.
func arrays(rows [][]any, width int) []any {
	out := make([]any, width)
	for c := range width {
		b := []byte{'{'}
		for i, r := range rows {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendElement(b, r[c])
		}
		out[c] = string(append(b, '}'))
	}
	return out
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func appendElement(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case provider.ReferenceID:
		return strconv.AppendInt(b, int64(v), 10)
	case bool:
		return strconv.AppendBool(b, v)
	}
	b = append(b, '"')
	b = append(b, escapes.Replace(fmt.Sprint(v))...)
	return append(b, '"')
}
