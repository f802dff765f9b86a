package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// progressInterval is the number of rows between two calls of Progress.
const progressInterval = 1000

// dump writes the rows of a table, in the order of its key, and counts them.
func (t *table) dump(ctx context.Context, d *database.DB, q sqlx.QueryerContext, to *part, progress func(rows int64)) error {
	rows, err := q.QueryxContext(ctx, t.selection(d.Dialect, "TRUE"))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err returns the error
	t.Rows = 0
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return err
		}
		for i, c := range t.Columns {
			if row[i], err = plain(c.Kind, row[i]); err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		if err := to.line(row); err != nil {
			return err
		}
		if t.Rows++; t.Rows%progressInterval == 0 {
			progress(t.Rows)
		}
	}
	return rows.Err()
}

// selection returns a SELECT of the rows that meet a condition, in an order that is the
// same in both databases.
func (t *table) selection(dialect database.Dialect, condition string) string {
	columns := make([]string, len(t.Columns))
	kinds := map[string]string{}
	for i, c := range t.Columns {
		kinds[c.Name] = c.Kind
		columns[i] = quoted(c.Name)
		if how, other := t.read[c.Name]; other {
			columns[i] = how
		}
	}
	key := t.key
	if len(key) == 0 {
		for _, c := range t.Columns {
			key = append(key, c.Name)
		}
	}
	order := make([]string, len(key))
	for i, k := range key {
		order[i] = t.Name + "." + quoted(k)
		if dialect == database.Postgres && kinds[k] == "text" {
			order[i] += ` COLLATE "C"`
		}
	}
	return `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + t.Name + ` WHERE ` + condition + ` ORDER BY ` + strings.Join(order, ", ")
}

// rawText is a text that JSON cannot represent.
type rawText struct {
	Bytes []byte `json:"bytes"`
}

// plain converts a value of a driver to the kind of its column: nil, int64,
// float64, bool, string, []byte or rawText.
func plain(kind string, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		switch kind {
		case "integer":
			return v, nil
		case "boolean":
			return v != 0, nil
		case "real":
			return float64(v), nil
		}
	case float64:
		if kind == "real" {
			return v, nil
		}
	case bool:
		if kind == "boolean" {
			return v, nil
		}
	case string:
		return plainText(kind, v)
	case []byte:
		return plainText(kind, string(v))
	}
	return nil, fmt.Errorf("a value of type %T does not fit %s", v, kind)
}

func plainText(kind, s string) (any, error) {
	switch {
	case kind == "bytes":
		return []byte(s), nil
	case kind != "text":
		return nil, fmt.Errorf("a text does not fit %s", kind)
	case !utf8.ValidString(s):
		return rawText{[]byte(s)}, nil
	}
	return s, nil
}

// parse parses a value that [plain] has made.
func parse(kind string, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	switch kind {
	case "integer":
		return into[int64](raw)
	case "real":
		return into[float64](raw)
	case "boolean":
		return into[bool](raw)
	case "bytes":
		b, err := into[[]byte](raw)
		return append([]byte{}, b...), err // empty is not nil
	case "text":
		if raw[0] == '{' {
			t, err := into[rawText](raw)
			return string(t.Bytes), err
		}
		return into[string](raw)
	}
	return nil, fmt.Errorf("the kind %q is unknown", kind)
}

func into[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// maxLine is the maximum size of a written row in bytes. It is much more than any
// of our rows needs, and limits the memory.
const maxLine = 128 << 20

// reader reads rows that [table.dump] wrote.
type reader struct {
	lines   *bufio.Scanner
	columns []Column
}

func newReader(r io.Reader, columns []Column) *reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	return &reader{lines, columns}
}

// next returns the values of the next row and the size in which they were written,
// or [io.EOF].
func (r *reader) next() ([]any, int, error) {
	if !r.lines.Scan() {
		err := r.lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return nil, 0, fmt.Errorf("%w: a row has more than %d MiB", ErrDamaged, maxLine>>20)
		case err != nil:
			return nil, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, 0, io.EOF
	}
	line := r.lines.Bytes()
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(raw) != len(r.columns) {
		return nil, 0, fmt.Errorf("%w: a row has %d values for %d columns", ErrDamaged, len(raw), len(r.columns))
	}
	row := make([]any, len(raw))
	for i, c := range r.columns {
		var err error
		if row[i], err = parse(c.Kind, raw[i]); err != nil {
			return nil, 0, fmt.Errorf("%w: column %s: %w", ErrDamaged, c.Name, err)
		}
	}
	return row, len(line), nil
}

// unfit returns an error if PostgreSQL cannot store a row of SQLite.
func unfit(row []any, columns []Column) error {
	for i, c := range columns {
		text, is := row[i].(string)
		switch {
		case !is:
		case strings.ContainsRune(text, 0):
			return fmt.Errorf("%w: column %s has a text with the character NUL", ErrUnfit, c.Name)
		case !utf8.ValidString(text):
			return fmt.Errorf("%w: column %s has a text that is not UTF-8", ErrUnfit, c.Name)
		}
	}
	return nil
}
