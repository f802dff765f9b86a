package usage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Report configures a rollup.
type Report struct {
	Filter
	// GroupBy is one or two of [Groups].
	GroupBy []string
	// Timezone is the IANA name of the zone of hours, days, weeks and months; "":
	// UTC.
	Timezone string
}

// Rollup has the sums of calls by group.
type Rollup struct {
	Items     []Row // never nil, at most 5,000
	Total     Sum   // of all calls, including those of omitted rows
	Truncated bool  // rows were omitted
}

// Row is a group of calls.
type Row struct {
	// Keys are the keys of the group, one for each of Report.GroupBy:
	// "2026-07-02T13:00:00+02:00" is an hour, "2026-07-02" a day, "2026-W27" a week
	// (ISO 8601), "2026-07" a month, "7/ana" a chat of a reference, "" none.
	Keys []string
	Sum
}

// maxRows is the maximum number of rows of a rollup.
const maxRows = 5000

// Groups returns the names by which calls can be grouped.
func Groups() []string {
	return []string{"hour", "day", "week", "month", "model", "provider", "reference", "feature", "flow", "run", "chat", "user"}
}

// columnOf maps the groups that are not times to columns.
var columnOf = map[string]string{
	"model": "model", "provider": "provider", "feature": "feature", "flow": "flow", "run": "run", "user": "caller",
	"reference": `CASE reference WHEN 0 THEN '' ELSE CAST(reference AS TEXT) END`,
	"chat":      `CASE chat_id WHEN '' THEN '' ELSE CAST(reference AS TEXT) || '/' || chat_id END`,
}

// groups are the groups of a report.
type groups struct {
	names   []string
	times   []string // those that are times
	columns []string // columns of the others
}

func (r *Report) groups() (groups, error) {
	g := groups{names: r.GroupBy}
	if len(r.GroupBy) < 1 || len(r.GroupBy) > 2 || len(r.GroupBy) == 2 && r.GroupBy[0] == r.GroupBy[1] {
		return g, &Invalid{Field: "groupBy", Message: "must be one or two of " + strings.Join(Groups(), ", ")}
	}
	for _, name := range r.GroupBy {
		if column, ok := columnOf[name]; ok {
			g.columns = append(g.columns, column)
		} else if slices.Contains(Groups(), name) {
			g.times = append(g.times, name)
		} else {
			return g, &Invalid{Field: "groupBy", Message: "must be one or two of " + strings.Join(Groups(), ", ")}
		}
	}
	return g, nil
}

// Rollup sums calls by group. Every hour, day, week or month between From and To
// has a row, for each value of the other group, ordered by time. Other groups are
// ordered by descending cost. The defaults of From and To are 30 days before To and
// now. The error for an invalid report is an [*Invalid].
func (a *Account) Rollup(ctx context.Context, r Report) (Rollup, error) {
	if err := r.bounds(a.l.opts.Now()); err != nil {
		return Rollup{}, err
	}
	g, err := r.groups()
	if err != nil {
		return Rollup{}, err
	}
	zone, err := loadZone(r.Timezone)
	if err != nil {
		return Rollup{}, err
	}
	q := query{db: a.l.db, groups: g}
	q.where, q.args = r.where(a.id)
	q.whenever, q.any = r.whenever(a.id)
	out := Rollup{Items: []Row{}}
	switch {
	case len(g.times) == 0:
		err = q.byValue(ctx, &out)
	case len(g.columns) == 0:
		err = q.byTime(ctx, r.buckets(g.times, zone), &out)
	default:
		err = q.byBoth(ctx, r.buckets(g.times, zone), &out)
	}
	if err == nil && out.Truncated {
		err = q.db.GetContext(ctx, &out.Total, `SELECT `+sums+` FROM usage_call WHERE `+q.where, q.args...)
	}
	if err != nil {
		return Rollup{}, fmt.Errorf("summing calls of models: %w", err)
	}
	return out, nil
}

func loadZone(name string) (*time.Location, error) {
	if name == "Local" { // not a zone, but that of this machine
		return nil, &Invalid{Field: "timezone", Message: "must be an IANA name such as Europe/Berlin"}
	}
	zone, err := time.LoadLocation(name)
	if err != nil || len(name) > 64 {
		return nil, &Invalid{Field: "timezone", Message: "must be an IANA name such as Europe/Berlin"}
	}
	return zone, nil
}

// query reads the sums of a report.
type query struct {
	db     *database.DB
	groups groups
	where  string
	args   []any
	// whenever and any are where and args without the times, for queries with the
	// times of buckets: a database uses only one pair of bounds.
	whenever string
	any      []any
}

// group is a row of a query.
type group struct {
	Bucket int
	Key    string
	Key2   string
	Sum
}

// dearest orders groups by descending cost.
const dearest = ` ORDER BY cost DESC, output DESC, input DESC, calls DESC`

// byValue fills a report without times.
func (q *query) byValue(ctx context.Context, out *Rollup) error {
	columns, by := q.groups.columns[0]+` AS key`, `1`
	if len(q.groups.columns) == 2 {
		columns, by = columns+`, `+q.groups.columns[1]+` AS key2`, `1, 2`
	}
	var found []group
	err := q.db.SelectContext(ctx, &found, fmt.Sprintf(`SELECT %s, %s FROM usage_call WHERE %s GROUP BY %s%s, %s LIMIT %d`,
		columns, sums, q.where, by, dearest, by, maxRows+1), q.args...)
	if err != nil {
		return err
	}
	for i := range found {
		out.Total.add(&found[i].Sum)
	}
	if out.Truncated = len(found) > maxRows; out.Truncated {
		found = found[:maxRows]
	}
	for _, f := range found {
		out.Items = append(out.Items, Row{[]string{f.Key, f.Key2}[:len(q.groups.names)], f.Sum})
	}
	return nil
}

// byTime fills a report whose groups are times.
func (q *query) byTime(ctx context.Context, bs []bucket, out *Rollup) error {
	if out.Truncated = len(bs) > maxRows; out.Truncated {
		bs = bs[:maxRows]
	}
	found, err := q.inBuckets(ctx, bs, `''`, "", nil)
	if err != nil {
		return err
	}
	for _, b := range bs {
		out.Items = append(out.Items, Row{Keys: b.keys})
	}
	for _, f := range found {
		out.Items[f.Bucket].Sum = f.Sum
		out.Total.add(&f.Sum)
	}
	return nil
}

// inBuckets sums by bucket and a column; bs are not empty, and each begins where the one
// before ends. Without a further condition it returns at most one group more than the
// maximum of rows.
func (q *query) inBuckets(ctx context.Context, bs []bucket, column, and string, more []any) ([]group, error) {
	limit := ""
	if and == "" {
		limit = fmt.Sprintf(" LIMIT %d", maxRows+1)
	}
	number, from := q.numbered(bs)
	var found []group
	err := q.db.SelectContext(ctx, &found, `SELECT `+number+` AS bucket, `+column+` AS key, `+sums+` FROM `+from+
		` AND `+q.whenever+and+` GROUP BY 1, 2`+limit, append(slices.Clone(q.any), more...)...)
	return found, err
}

// numbered returns an expression for the number of a call's bucket, and the tables and
// the condition that give the calls of all buckets. PostgreSQL reads one range of an
// index, and SQLite one for each bucket.
func (q *query) numbered(bs []bucket) (number, from string) {
	var list strings.Builder
	if q.db.Dialect == database.Postgres {
		for _, b := range bs {
			fmt.Fprintf(&list, ",%d", b.starts)
		}
		return `width_bucket(at_us, CAST('{` + list.String()[1:] + `}' AS BIGINT[])) - 1`,
			fmt.Sprintf(`usage_call WHERE at_us >= %d AND at_us < %d`, bs[0].starts, bs[len(bs)-1].ends)
	}
	for i, b := range bs {
		fmt.Fprintf(&list, ",(%d,%d,%d)", i, b.starts, b.ends)
	}
	return `bucket.column1`, `(VALUES ` + list.String()[1:] + `) AS bucket CROSS JOIN usage_call WHERE at_us >= bucket.column2 AND at_us < bucket.column3`
}

// byBoth fills a report by a time and another group.
func (q *query) byBoth(ctx context.Context, bs []bucket, out *Rollup) error {
	column := q.groups.columns[0]
	found, err := q.inBuckets(ctx, bs, column, "", nil)
	if err != nil {
		return err
	}
	var keys []string
	if len(found) <= maxRows && len(bs) <= maxRows {
		keys = keysOf(found, &out.Total)
	} else {
		out.Truncated = true
		if keys, found, err = q.shown(ctx, bs); err != nil {
			return err
		}
	}
	timeFirst := q.groups.names[0] == q.groups.times[0]
	at := make(map[string]map[int]Sum, len(keys))
	for _, f := range found {
		if at[f.Key] == nil {
			at[f.Key] = map[int]Sum{}
		}
		at[f.Key][f.Bucket] = f.Sum
	}
	for i := range len(keys) * len(bs) {
		if i == maxRows {
			out.Truncated = true
			break
		}
		if timeFirst {
			b, key := i/len(keys), keys[i%len(keys)]
			out.Items = append(out.Items, Row{[]string{bs[b].keys[0], key}, at[key][b]})
		} else {
			b, key := i%len(bs), keys[i/len(bs)]
			out.Items = append(out.Items, Row{[]string{key, bs[b].keys[0]}, at[key][b]})
		}
	}
	return nil
}

// keysOf returns the keys of groups by descending cost, and adds the groups to
// total.
func keysOf(found []group, total *Sum) []string {
	by := map[string]*Sum{}
	for i := range found {
		if by[found[i].Key] == nil {
			by[found[i].Key] = &Sum{}
		}
		by[found[i].Key].add(&found[i].Sum)
		total.add(&found[i].Sum)
	}
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		x, y := by[a], by[b]
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.Output, x.Output), cmp.Compare(y.Input, x.Input), cmp.Compare(y.Calls, x.Calls), cmp.Compare(a, b))
	})
}

// shown returns the keys of a report with too many rows, and the groups of the rows
// that remain.
func (q *query) shown(ctx context.Context, bs []bucket) ([]string, []group, error) {
	column := q.groups.columns[0]
	var all []group
	err := q.db.SelectContext(ctx, &all, fmt.Sprintf(`SELECT %s AS key, %s FROM usage_call WHERE %s GROUP BY 1%s, 1 LIMIT %d`,
		column, sums, q.where, dearest, maxRows), q.args...)
	if err != nil {
		return nil, nil, err
	}
	keys := make([]string, len(all))
	for i := range all {
		keys[i] = all[i].Key
	}
	seen, times := keys, bs
	if q.groups.names[0] == q.groups.times[0] {
		times = bs[:min(len(bs), maxRows/max(1, len(keys))+1)]
	} else {
		seen = keys[:min(len(keys), maxRows/len(bs)+1)]
	}
	values := make([]any, len(seen))
	for i, key := range seen {
		values[i] = key
	}
	in, more := q.db.Dialect.In(column, len(q.any)+1, values)
	found, err := q.inBuckets(ctx, times, column, " AND "+in, more)
	return keys, found, err
}
