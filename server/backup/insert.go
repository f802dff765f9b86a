package backup

import (
	"context"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

// A statement inserts at most so many values, and about so many bytes.
const (
	values = 1000
	heavy  = 4 << 20
)

// inserter inserts rows, many with each statement.
type inserter struct {
	tx      *sqlx.Tx
	into    string // the statement up to its rows
	columns int
	full    *sqlx.Stmt // inserts as many rows as a statement may; nil: not prepared yet
	pending []any
	bytes   int // of what is pending, as it was written
}

// rows is how many rows a statement inserts at most.
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

// flush inserts what is pending.
func (in *inserter) flush(ctx context.Context) error {
	n := len(in.pending) / in.columns
	if n == 0 {
		return nil
	}
	_, err := in.tx.ExecContext(ctx, in.statement(n), in.pending...)
	in.clear()
	return err
}

// clear forgets what was inserted, and keeps none of its bytes.
func (in *inserter) clear() {
	clear(in.pending)
	in.pending, in.bytes = in.pending[:0], 0
}

func (in *inserter) close() {
	if in.full != nil {
		_ = in.full.Close()
	}
}

// statement inserts n rows.
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
	return b.String()
}
