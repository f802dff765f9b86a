package database

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fewRows is the number of rows up to which PostgreSQL plans a list of values
// faster than a list of arrays.
const fewRows = 4

// List returns a list of rows and its arguments. The list can be inserted, or used
// in brackets after FROM or IN; its columns are named column1, column2 … values are
// the rows one after the other, types the types of the columns. Parameters are
// numbered from first, and must be the last of the statement.
//
// PostgreSQL gets one array for each column. The text is then the same for any
// number of rows: parsing and planning thousands of parameters takes longer than
// executing them. For few rows, and on SQLite, the list is that of
// [Dialect.Values].
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

// unnest returns a list of arrays, one for each column.
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

// In returns the condition that a column of type TEXT has one of values. The text
// does not depend on the values. It has one parameter, numbered first; there may be
// others before and after it.
func (d Dialect) In(column string, first int, values []any) (string, []any) {
	if d != Postgres {
		texts, _ := json.Marshal(values) // encoding strings cannot fail
		return column + " IN (SELECT value FROM json_each($" + strconv.Itoa(first) + "))", []any{string(texts)}
	}
	return column + " = ANY(CAST($" + strconv.Itoa(first) + " AS TEXT[]))", arrays(values, 1)
}

// InNumbers returns the condition that a column of type BIGINT has one of values,
// which must not be empty. The text does not depend on the values. It has one
// parameter, numbered first.
func (d Dialect) InNumbers(column string, first int, values []int64) (string, []any) {
	b := make([]byte, 0, 12*len(values))
	for i, n := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	if d != Postgres {
		return column + " IN (SELECT value FROM json_each($" + strconv.Itoa(first) + "))", []any{"[" + string(b) + "]"}
	}
	return column + " = ANY(CAST($" + strconv.Itoa(first) + " AS BIGINT[]))", []any{"{" + string(b) + "}"}
}

// arrays returns the columns of rows in PostgreSQL's syntax of arrays.
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

// appendElement appends a value of a basic type.
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
		panic("database: a value whose type is not basic: " + err.Error())
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
