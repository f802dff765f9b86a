package usage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
)

// query reads the sums of a report.
type query struct {
	db       *database.DB
	groups   groups
	from, to int64 // microseconds
	rolled   int64 // calls before are in slots; 0: the report needs each call
	// where and args are the conditions without the times.
	where string
	args  []any
}

// span is a range of times that is read from one table.
type span struct {
	length   int64 // of the slots in usage_slot; 0: of usage_call
	from, to int64
}

// rolled returns the time before which the calls of the account are in slots.
func (a *Account) rolled(ctx context.Context) (at int64, err error) {
	err = a.l.db.GetContext(ctx, &at, `SELECT COALESCE(MAX(rolled_us), 0) FROM usage_account WHERE account = $1`, a.id)
	if err != nil {
		return 0, fmt.Errorf("summing calls of models: %w", err)
	}
	return at, nil
}

// perCall reports whether the report has groups or filters that slots lack: there
// would be almost as many slots as calls.
func (r *Report) perCall() bool {
	return r.ChatID != "" || r.Run != "" || slices.Contains(r.GroupBy, "chat") || slices.Contains(r.GroupBy, "run")
}

// spans divides a range into the slots that it covers, of some lengths, the longest
// first, and the calls before and after them.
func (q *query) spans(from, to int64, lengths ...int64) []span {
	if from == to {
		return nil
	}
	for i, length := range lengths {
		first, last := slotOf(from+length-1, length), slotOf(min(to, q.rolled), length)
		if first < last {
			shorter := lengths[i+1:]
			return slices.Concat(q.spans(from, first, shorter...), []span{{length, first, last}}, q.spans(last, to, shorter...))
		}
	}
	return []span{{0, from, to}}
}

// sum returns a SELECT of the sums of the report by columns, with the names "key" and
// "key2".
func (q *query) sum(columns []string) string {
	spans, names := q.spans(q.from, q.to, daySlot, hourSlot, quarterSlot), []string{"key", "key2"}[:len(columns)]
	selects := make([]string, len(spans))
	for i, p := range spans {
		selects[i] = `SELECT ` + named(columns, names) + p.sums() + fmt.Sprintf(` FROM %s WHERE at_us >= %d AND at_us < %d AND `, p.table(), p.from, p.to) +
			q.where + p.only() + groupBy(names)
	}
	return together(selects, names)
}

// inBuckets sums by bucket and a column; bs are not empty, and each begins where the one
// before ends. Without a further condition it returns at most one group more than the
// maximum of rows.
func (q *query) inBuckets(ctx context.Context, bs []bucket, column, and string, more []any) ([]group, error) {
	limit, names := "", []string{"bucket", "key"}
	if and == "" {
		limit = fmt.Sprintf(" LIMIT %d", maxRows+1)
	}
	lengths := slices.DeleteFunc([]int64{daySlot, hourSlot, quarterSlot}, func(length int64) bool {
		return slices.ContainsFunc(bs[1:], func(b bucket) bool { return b.starts%length != 0 }) // quarters, in years when clocks showed odd times
	})
	spans := q.spans(bs[0].starts, bs[len(bs)-1].ends, lengths...)
	selects := make([]string, len(spans))
	for i, p := range spans {
		number, from := q.numbered(bs, p)
		selects[i] = `SELECT ` + named([]string{number, column}, names) + p.sums() + ` FROM ` + from + ` AND ` + q.where + p.only() + and + groupBy(names)
	}
	var found []group
	err := q.db.SelectContext(ctx, &found, together(selects, names)+limit, append(slices.Clone(q.args), more...)...)
	return found, err
}

// numbered returns an expression for the number of a row's bucket, and the tables and
// the condition that give the rows of a span. PostgreSQL reads one range of an index,
// and SQLite one for each bucket.
func (q *query) numbered(bs []bucket, p span) (number, from string) {
	var list strings.Builder
	if q.db.Dialect == database.Postgres {
		for _, b := range bs {
			fmt.Fprintf(&list, ",%d", b.starts)
		}
		return `width_bucket(at_us, CAST('{` + list.String()[1:] + `}' AS BIGINT[])) - 1`,
			fmt.Sprintf(`%s WHERE at_us >= %d AND at_us < %d`, p.table(), p.from, p.to)
	}
	for i, b := range bs {
		if from, to := max(b.starts, p.from), min(b.ends, p.to); from < to {
			fmt.Fprintf(&list, ",(%d,%d,%d)", i, from, to)
		}
	}
	return `bucket.column1`, `(VALUES ` + list.String()[1:] + `) AS bucket CROSS JOIN ` + p.table() + ` WHERE at_us >= bucket.column2 AND at_us < bucket.column3`
}

func (p span) table() string {
	if p.length > 0 {
		return `usage_slot`
	}
	return `usage_call`
}

func (p span) sums() string {
	if p.length > 0 {
		return sumsOfSums
	}
	return sums
}

// only chooses slots of the length, without those that all calls have left because
// their model was another.
func (p span) only() string {
	if p.length > 0 {
		return fmt.Sprintf(` AND length_us = %d AND calls > 0`, p.length)
	}
	return ""
}

// named returns columns with their names, each before a comma.
func named(columns, names []string) string {
	var b strings.Builder
	for i, c := range columns {
		b.WriteString(c + ` AS ` + names[i] + `, `)
	}
	return b.String()
}

// groupBy groups by the first columns, which have names.
func groupBy(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ` GROUP BY ` + strings.Join([]string{"1", "2"}[:len(names)], ", ")
}

// together adds the sums of several SELECTs by their columns.
func together(selects, names []string) string {
	if len(selects) == 1 {
		return selects[0]
	}
	return `SELECT ` + named(names, names) + sumsOfSums + ` FROM (` + strings.Join(selects, ` UNION ALL `) + `) AS part` + groupBy(names)
}
