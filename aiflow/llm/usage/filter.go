package usage

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Filter selects calls; zero fields allow all.
type Filter struct {
	From, To        time.Time // started at From or later, and before To
	Reference       int64
	Among           []int64 // only calls of these references; nil: of all
	ChatID          string
	Feature         string
	Flow, Run, User string
	Provider, Model string
}

// where returns the conditions of a filter for an account, and their arguments.
func (f *Filter) where(account string) (string, []any) {
	where, args := f.whenever(account)
	n := len(args)
	return fmt.Sprintf(`%s AND at_us >= $%d AND at_us < $%d`, where, n+1, n+2), append(args, database.Micros(f.From), database.Micros(f.To))
}

// whenever is like where, without the times.
func (f *Filter) whenever(account string) (string, []any) {
	where, args := `account = $1`, []any{account}
	for _, c := range []struct {
		column string
		value  any
		set    bool
	}{
		{"reference", f.Reference, f.Reference != 0},
		{"chat_id", f.ChatID, f.ChatID != ""},
		{"feature", f.Feature, f.Feature != ""},
		{"flow", f.Flow, f.Flow != ""},
		{"run", f.Run, f.Run != ""},
		{"caller", f.User, f.User != ""},
		{"provider", f.Provider, f.Provider != ""},
		{"model", f.Model, f.Model != ""},
	} {
		if c.set {
			args = append(args, c.value)
			where += fmt.Sprintf(" AND %s = $%d", c.column, len(args))
		}
	}
	if f.User != "" {
		where += " AND caller <> ''" // which its index has
	}
	if f.Among != nil { // numbers, which need no parameters
		where += " AND " + among(f.Among)
	}
	return where, args
}

// among returns the condition for the calls of references.
func among(references []int64) string {
	ids := make([]string, len(references))
	for i, id := range references {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return "reference IN (" + strings.Join(ids, ", ") + ")"
}

// usually is the length of a report without From.
const usually = 30 * 24 * time.Hour

// lastInstant is later than any call: the end of the year 9999.
var lastInstant = time.Unix(253402300800, 0)

// bounds fills in From and To, and validates the filter. The error is an
// [*Invalid].
func (f *Filter) bounds(now time.Time) error {
	if f.To.IsZero() {
		f.To = now.Add(time.Microsecond)
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-usually)
	}
	switch {
	case !f.From.Before(f.To):
		return &Invalid{Field: "from", Message: "must be before to"}
	case f.From.Unix() < 0:
		return &Invalid{Field: "from", Message: "must not be before 1970"}
	case f.To.After(lastInstant):
		return &Invalid{Field: "to", Message: "must not be after the year 9999"}
	}
	for _, t := range []struct{ name, value string }{
		{"chat", f.ChatID}, {"feature", f.Feature}, {"flow", f.Flow}, {"run", f.Run}, {"user", f.User}, {"provider", f.Provider}, {"model", f.Model},
	} {
		if !isText(t.value) {
			return &Invalid{Field: t.name, Message: "must be UTF-8 without U+0000"}
		}
	}
	return nil
}

// Sum is the total of several calls.
type Sum struct {
	Calls  int64 `db:"calls"`
	Errors int64 `db:"errors"`
	// Cached is part of Input, Reasoning is part of Output.
	Input     int64 `db:"input"`
	Cached    int64 `db:"cached"`
	Output    int64 `db:"output"`
	Reasoning int64 `db:"reasoning"`
	// Cost is the cost of the calls with a known cost, in nano-USD. If Unpriced is
	// not 0 it is a lower bound of the total.
	Cost     int64 `db:"cost"`
	Unpriced int64 `db:"unpriced"` // calls without a cost
}

func (s *Sum) add(o *Sum) {
	s.Calls += o.Calls
	s.Errors += o.Errors
	s.Input += o.Input
	s.Cached += o.Cached
	s.Output += o.Output
	s.Reasoning += o.Reasoning
	s.Cost += o.Cost
	s.Unpriced += o.Unpriced
}

// sums are the columns of a [Sum], of calls.
const sums = `COUNT(*) AS calls, COUNT(NULLIF(error, '')) AS errors, CAST(COALESCE(SUM(input), 0) AS BIGINT) AS input,
	CAST(COALESCE(SUM(cached), 0) AS BIGINT) AS cached, CAST(COALESCE(SUM(output), 0) AS BIGINT) AS output,
	CAST(COALESCE(SUM(reasoning), 0) AS BIGINT) AS reasoning, CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, COUNT(*) - COUNT(cost) AS unpriced`

// sumsOfSums are the columns of a [Sum], of rows that have them.
const sumsOfSums = `CAST(COALESCE(SUM(calls), 0) AS BIGINT) AS calls, CAST(COALESCE(SUM(errors), 0) AS BIGINT) AS errors,
	CAST(COALESCE(SUM(input), 0) AS BIGINT) AS input, CAST(COALESCE(SUM(cached), 0) AS BIGINT) AS cached,
	CAST(COALESCE(SUM(output), 0) AS BIGINT) AS output, CAST(COALESCE(SUM(reasoning), 0) AS BIGINT) AS reasoning,
	CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, CAST(COALESCE(SUM(unpriced), 0) AS BIGINT) AS unpriced`
