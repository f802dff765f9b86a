package backup

import (
	"context"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Limits of the values and the bytes of one statement.
const (
	values = 1000
	heavy  = 4 << 20
)

// inserter inserts rows, many in one statement.
type inserter struct {
	tx      *sqlx.Tx
	into    string // the statement before its rows
	after   string // … and after them
	columns int
	full    *sqlx.Stmt // inserts the maximum number of rows; nil: not prepared yet
	pending []any
	bytes   int // written size of the pending rows
}

// rows returns the maximum number of rows of a statement.
func (in *inserter) rows() int { return max(values/in.columns, 1) }

func (in *inserter) add(ctx context.Context, row []any, bytes int) (err error) {
	in.pending = append(in.pending, row...)
	in.bytes += bytes
	if len(in.pending) < in.rows()*in.columns {
		if in.bytes < heavy {
			return nil
		}
		return in.flush(ctx)
	}
	if in.full == nil {
		if in.full, err = in.tx.PreparexContext(ctx, in.statement(in.rows())); err != nil {
			return err
		}
	}
	_, err = in.full.ExecContext(ctx, in.pending...)
	in.clear()
	return err
}

// flush inserts the pending rows.
func (in *inserter) flush(ctx context.Context) error {
	n := len(in.pending) / in.columns
	if n == 0 {
		return nil
	}
	_, err := in.tx.ExecContext(ctx, in.statement(n), in.pending...)
	in.clear()
	return err
}

// clear removes the pending rows and releases their memory.
func (in *inserter) clear() {
	clear(in.pending)
	in.pending, in.bytes = in.pending[:0], 0
}

func (in *inserter) close() {
	if in.full != nil {
		_ = in.full.Close()
	}
}

// statement returns the statement for n rows.
func (in *inserter) statement(n int) string {
	var b strings.Builder
	b.WriteString(in.into)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		for j := range in.columns {
			b.WriteString(map[bool]string{true: "($", false: ", $"}[j == 0])
			b.WriteString(strconv.Itoa(i*in.columns + j + 1))
		}
		b.WriteString(")")
	}
	b.WriteString(in.after)
	return b.String()
}

// insertion returns the beginning of the statement that fills a table.
func insertion(dialect database.Dialect, t Table) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quoted(c.Name)
	}
	how := ""
	if dialect == database.Postgres {
		how = " OVERRIDING SYSTEM VALUE" // the numbers of automatic keys are given
	}
	return `INSERT INTO ` + t.Name + ` (` + strings.Join(names, ", ") + `)` + how + ` VALUES `
}
