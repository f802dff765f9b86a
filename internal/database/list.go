package database

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fewRows is up to how many rows PostgreSQL plans a list of values in less time
// than a list of arrays.
const fewRows = 4

// List is a list of rows, to be inserted or to be in brackets behind FROM
// or IN, and its arguments; its columns are named column1, column2 … values are
// the rows one after the other, types the types of their columns. Parameters
// are numbered from first, and come last in the statement.
//
// PostgreSQL gets one array per column. The text is then the same for any
// number of rows: to read and plan a list of thousands of parameters takes
// longer there than to use it. Few rows, and all on SQLite, are what
// [Dialect.Values] writes.
func (d Dialect) List(first int, types []string, values []any) (string, []any) {
	width := len(types)
	rows := len(values) / width
	switch {
	case d != Postgres:
		return "VALUES " + d.Values(rows, width, first), values
	case rows <= fewRows:
		return "VALUES " + d.Values(rows, width, first, types...), values
	}
	return unnest(first, types), arrays(values, width)
}

// unnest is a list of arrays, one for each column.
func unnest(first int, types []string) string {
	var b strings.Builder
	b.WriteString("SELECT * FROM unnest(")
	for i, t := range types {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("CAST($" + strconv.Itoa(first+i) + " AS " + t + "[])")
	}
	b.WriteString(") AS list (")
	for i := range types {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("column" + strconv.Itoa(i+1))
	}
	b.WriteByte(')')
	return b.String()
}

// In is the condition that a column of type TEXT has one of values. Its text
// does not depend on them. It has one parameter, numbered first; others may come
// before it and after it.
func (d Dialect) In(column string, first int, values []any) (string, []any) {
	if d != Postgres {
		texts, _ := json.Marshal(values) // strings cannot fail
		return column + " IN (SELECT value FROM json_each($" + strconv.Itoa(first) + "))", []any{string(texts)}
	}
	return column + " = ANY(CAST($" + strconv.Itoa(first) + " AS TEXT[]))", arrays(values, 1)
}

// InNumbers is the condition that a column of type BIGINT has one of values,
// of which there is at least one.
func (d Dialect) InNumbers(column string, first int, values []int64) (string, []any) {
	b := make([]byte, 0, 12*len(values))
	for i, n := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	if d != Postgres { // reads numbers in the text faster than it takes parameters
		return column + " IN (" + string(b) + ")", nil
	}
	return column + " = ANY(CAST($" + strconv.Itoa(first) + " AS BIGINT[]))", []any{"{" + string(b) + "}"}
}

// arrays are the columns of rows as PostgreSQL writes arrays.
func arrays(values []any, width int) []any {
	out := make([]any, width)
	for c := range width {
		b := make([]byte, 1, 24*len(values)/width+2)
		b[0] = '{'
		for i := c; i < len(values); i += width {
			if i > c {
				b = append(b, ',')
			}
			b = appendElement(b, values[i])
		}
		out[c] = string(append(b, '}'))
	}
	return out
}

// appendElement writes a value of a basic kind.
func appendElement(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendQuoted(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	}
	v, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		panic("database: a value of no basic kind: " + err.Error())
	}
	switch v := v.(type) {
	case string:
		return appendQuoted(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return appendQuoted(b, fmt.Sprint(v))
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			break
		}
		b = append(b, s[:i]...)
		b = append(b, '\\', s[i])
		s = s[i+1:]
	}
	b = append(b, s...)
	return append(b, '"')
}
