package messaging

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// chunk is the most rows of one statement: SQLite takes 32,766 parameters.
const chunk = 1000

// insert writes rows of the given column types with one statement per chunk;
// tail is what follows them.
func (u *unit) insert(ctx context.Context, into string, types []string, rows [][]any, tail string) error {
	return u.bulk(ctx, types, rows, into+" ", tail)
}

// update writes rows of the given column types by a statement that reads them
// as v.column1, v.column2 …
func (u *unit) update(ctx context.Context, set string, types []string, rows [][]any, where string) error {
	return u.bulk(ctx, types, rows, set+" FROM (", ") AS v WHERE "+where)
}

func (u *unit) bulk(ctx context.Context, types []string, rows [][]any, before, after string) error {
	for len(rows) > 0 {
		n := min(len(rows), chunk)
		list, args := u.list(types, rows[:n])
		query := before + list + after
		var err error
		if st := u.ready(query); st != nil {
			_, err = u.tx.StmtxContext(ctx, st).ExecContext(ctx, args...)
		} else {
			_, err = u.tx.ExecContext(ctx, query, args...)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// query reads rows into dest, a pointer to a slice.
func (u *unit) query(ctx context.Context, dest any, query string, args []any) error {
	if st := u.ready(query); st != nil {
		return u.tx.StmtxContext(ctx, st).SelectContext(ctx, dest, args...) //nolint:sqlclosecheck // the transaction's end closes it
	}
	return u.tx.SelectContext(ctx, dest, query, args...)
}

// ready is the prepared statement of a text, or nil.
func (u *unit) ready(query string) *sqlx.Stmt {
	if u.foreign {
		return nil
	}
	return u.s.prepared[query]
}

// list is the text of a list of rows, to be inserted or to stand behind IN or
// FROM, and its arguments, which must be the first of the statement. Its
// columns are named column1, column2 … PostgreSQL gets one array per column:
// the text is then the same for any number of rows, and can be prepared.
func (u *unit) list(types []string, rows [][]any) (string, []any) {
	if u.s.db.Dialect == database.Postgres {
		return unnest(types), arrays(rows, len(types))
	}
	args := make([]any, 0, len(rows)*len(types))
	for _, r := range rows {
		args = append(args, r...)
	}
	return "VALUES " + u.s.db.Dialect.Values(len(rows), len(types), 1), args
}

// column makes rows of one column.
func column[T any](values []T) [][]any {
	rows := make([][]any, len(values))
	for i, v := range values {
		rows[i] = []any{v}
	}
	return rows
}

// unnest is a list of array parameters.
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
	return "SELECT * FROM unnest(" + from.String() + ") AS v (" + names.String() + ")"
}

// arrays are the columns of rows as PostgreSQL writes arrays.
func arrays(rows [][]any, width int) []any {
	out := make([]any, width)
	for c := range width {
		b := make([]byte, 1, 16*len(rows))
		b[0] = '{'
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

// appendElement writes a value of a basic kind.
func appendElement(b []byte, v any) []byte {
	if s, ok := v.(string); ok {
		return appendQuoted(b, s)
	}
	v, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		panic("messaging: a column of no basic kind: " + err.Error())
	}
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return appendQuoted(b, fmt.Sprint(v))
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// prepare makes the statements that every received message needs. On
// PostgreSQL to read and plan them takes longer than to run them.
func (s *Service) prepare(ctx context.Context) error {
	if s.db.Dialect != database.Postgres {
		return nil
	}
	s.prepared = map[string]*sqlx.Stmt{}
	for _, query := range []string{
		findPeopleBefore + unnest(nameTypes) + findPeopleAfter + " FOR UPDATE OF c",
		insertMessages + unnest(messageTypes) + insertMessagesTail,
		updateActivity + " FROM (" + unnest(activityTypes) + ") AS v WHERE " + sameChat,
		deleteEarlies + unnest(nameTypes) + deleteEarliesTail,
		insertFeed + " " + unnest(feedTypes),
	} {
		st, err := s.db.PreparexContext(ctx, query) //nolint:sqlclosecheck // it lives as long as the database handle
		if err != nil {
			return fmt.Errorf("preparing a statement: %w", err)
		}
		s.prepared[query] = st
	}
	return nil
}
