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
	q := query{db: a.l.db, groups: g, from: database.Micros(r.From), to: database.Micros(r.To)}
	q.where, q.args = r.whenever(a.id)
	if !r.perCall() {
		q.rolled, err = a.rolled(ctx)
	}
	if err != nil {
		return Rollup{}, err
	}
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
		err = q.db.GetContext(ctx, &out.Total, q.sum(nil), q.args...)
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
	by := `1`
	if len(q.groups.columns) == 2 {
		by = `1, 2`
	}
	var found []group
	err := q.db.SelectContext(ctx, &found, fmt.Sprintf(`%s%s, %s LIMIT %d`,
		q.sum(q.groups.columns), dearest, by, maxRows+1), q.args...)
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
	err := q.db.SelectContext(ctx, &all, fmt.Sprintf(`%s%s, 1 LIMIT %d`, q.sum(q.groups.columns), dearest, maxRows), q.args...)
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
	in, more := q.db.Dialect.In(column, len(q.args)+1, values)
	found, err := q.inBuckets(ctx, times, column, " AND "+in, more)
	return keys, found, err
}
