package usage_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

func date(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

// keysOf returns the keys of rows.
func keysOf(items []usage.Row) (keys []string) {
	for _, row := range items {
		keys = append(keys, fmt.Sprint(row.Keys))
	}
	return keys
}

// TestBuckets checks that each interval has a row, also where clocks change.
func TestBuckets(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		for _, c := range []struct {
			by, zone, from, to string
			want               []string
		}{
			{"hour", "Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29T02:00:00Z", []string{"[2026-03-29T00:00:00+01:00]", "[2026-03-29T01:00:00+01:00]", "[2026-03-29T03:00:00+02:00]"}},
			{"hour", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z", []string{"[2026-10-25T02:00:00+02:00]", "[2026-10-25T02:00:00+01:00]"}},
			{"hour", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", "2026-04-04T16:00:00Z", []string{"[2026-04-05T01:00:00+11:00]", "[2026-04-05T01:30:00+10:30]", "[2026-04-05T02:00:00+10:30]"}},
			{"day", "Africa/Cairo", "2026-04-22T22:00:00Z", "2026-04-24T20:59:59Z", []string{"[2026-04-23]", "[2026-04-24]"}},
			{"day", "America/Havana", "2026-10-31T04:00:00Z", "2026-11-02T05:00:00Z", []string{"[2026-10-31]", "[2026-11-01]"}},
			{"week", "UTC", "2026-12-27T00:00:00Z", "2027-01-05T00:00:00Z", []string{"[2026-W52]", "[2026-W53]", "[2027-W01]"}},
			{"month", "Pacific/Auckland", "2026-01-31T10:59:00Z", "2026-02-28T11:00:01Z", []string{"[2026-01]", "[2026-02]", "[2026-03]"}},
		} {
			got, err := f.own.Rollup(t.Context(), usage.Report{GroupBy: []string{c.by}, Timezone: c.zone, Filter: usage.Filter{From: date(t, c.from), To: date(t, c.to)}})
			require.NoError(t, err)
			require.Equal(t, c.want, keysOf(got.Items), "%+v", c)
		}
	})
}

// TestRows fills every day for each model, and puts the most expensive first.
func TestRows(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		start := f.clock.now()
		f.make(t, call("openai/gpt-5-nano"), tokens(1000, 0))
		f.clock.add(48 * time.Hour)
		f.make(t, call("openai/gpt-5"), tokens(1000, 0))
		f.clock.add(time.Hour)
		r := usage.Report{GroupBy: []string{"day", "model"}, Filter: usage.Filter{From: start}}
		got, err := f.own.Rollup(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, []string{
			"[2026-07-02 gpt-5]", "[2026-07-02 gpt-5-nano]", "[2026-07-03 gpt-5]", "[2026-07-03 gpt-5-nano]", "[2026-07-04 gpt-5]", "[2026-07-04 gpt-5-nano]",
		}, keysOf(got.Items))
		require.Equal(t, usage.Sum{Calls: 1, Input: 1000, Cost: 50_000}, got.Items[1].Sum)
		require.Zero(t, got.Items[2].Sum)
		require.Equal(t, usage.Sum{Calls: 2, Input: 2000, Cost: 1_300_000}, got.Total)
		slices.Reverse(r.GroupBy)
		got, err = f.own.Rollup(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, "[gpt-5 2026-07-02]", keysOf(got.Items)[0])
		require.Equal(t, "[gpt-5-nano 2026-07-02]", keysOf(got.Items)[3])
		r.GroupBy = []string{"model"}
		got, err = f.own.Rollup(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, []string{"[gpt-5]", "[gpt-5-nano]"}, keysOf(got.Items))
	})
}

// many records calls of several chats, at times before the clock.
func many(t *testing.T, db *sqlx.DB, at time.Time, chats int) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO usage_call (id, account, at_us, reference, chat_id, feature, project, flow, run, caller, provider, model,
		cost_status, error, measured, input, cached, cache_write, cache_write_1h, output, reasoning, cost, price_source, price_version, held_tokens, held_cost, duration_us)
		WITH RECURSIVE n (i, id) AS (SELECT 0, 'c00000' UNION ALL SELECT i + 1, 'c' || substr(CAST(100001 + i AS TEXT), 2) FROM n WHERE i < %d)
		SELECT id, 'one', %d - i %% 100 * 3600000000, 1, id, 'agent', '', '', '', '', 'openai', 'gpt-5', 'priced', '', TRUE, 10, 0, 0, 0, 1, 0, i + 1, '', '', 0, 0, 1 FROM n`,
		chats-1, at.UnixMicro()))
	require.NoError(t, err)
}

// TestTruncated limits the rows, but not the total.
func TestTruncated(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		const chats = 5100
		many(t, f.db, f.clock.now(), chats)
		total := usage.Sum{Calls: chats, Input: chats * 10, Output: chats, Cost: chats * (chats + 1) / 2}
		for _, c := range []struct {
			by    []string
			rows  int
			first string
		}{
			{[]string{"chat"}, 5000, "[1/c05099]"},
			{[]string{"chat", "model"}, 5000, "[1/c05099 gpt-5]"},
			{[]string{"chat", "day"}, 5000, "[1/c05099 2026-06-28]"},
			{[]string{"day", "chat"}, 5000, "[2026-06-28 1/c05099]"},
			{[]string{"hour", "feature"}, 100, "[2026-06-28T07:00:00Z agent]"},
		} {
			got, err := f.own.Rollup(t.Context(), usage.Report{GroupBy: c.by, Filter: usage.Filter{From: f.clock.now().Add(-99*time.Hour - time.Second), To: f.clock.now().Add(time.Second)}})
			require.NoError(t, err)
			require.Equal(t, total, got.Total, c.by)
			require.Len(t, got.Items, c.rows, "%v", c.by)
			require.Equal(t, c.rows == 5000, got.Truncated)
			require.Equal(t, c.first, fmt.Sprint(got.Items[0].Keys))
		}
		got, err := f.own.Rollup(t.Context(), usage.Report{GroupBy: []string{"day", "chat"}, Filter: usage.Filter{From: f.clock.now().Add(-99*time.Hour - time.Second), To: f.clock.now().Add(time.Second)}})
		require.NoError(t, err)
		shown := 0
		for _, row := range got.Items { // of the first day's rows those have calls that were made then
			if row.Calls > 0 {
				shown++
			}
		}
		require.InDelta(t, 5000*17/100, shown, 60, "what is shown is summed")
		for _, by := range []string{"hour", "day", "week", "month"} {
			got, err := f.own.Rollup(t.Context(), usage.Report{GroupBy: []string{by}, Filter: usage.Filter{From: time.Unix(0, 0), To: time.Unix(253402300800, 0)}})
			require.NoError(t, err)
			require.Len(t, got.Items, 5000)
			require.True(t, got.Truncated)
			require.Equal(t, total, got.Total)
		}
	})
}

// TestDetail lists calls page by page, by the same filters.
func TestDetail(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		for i := range 7 { // several at one time
			c := call("openai/gpt-5")
			c.Flow, c.Run, c.User = fmt.Sprintf("f%d", i%2), "r1", "u1"
			f.make(t, c, llm.Usage{Known: true, Input: int64(i)})
			if i%3 == 2 {
				f.clock.add(time.Minute)
			}
		}
		f.clock.add(time.Minute)
		var seen []int64
		for cursor := ""; ; {
			p, err := f.own.Detail(t.Context(), usage.Filter{}, usage.List{Limit: 2, Cursor: cursor})
			require.NoError(t, err)
			for _, r := range p.Items {
				seen = append(seen, r.Input)
			}
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, []int64{6, 5, 4, 3, 2, 1, 0}, seen)
		require.Len(t, f.records(t, usage.Filter{Flow: "f1"}), 3)
		sums, err := f.own.OfRuns(t.Context(), []string{"r1", "r2", ""})
		require.NoError(t, err)
		require.Equal(t, map[string]usage.Sum{"r1": {Calls: 7, Input: 21, Cost: 21 * 1250}}, sums)
		other, err := f.For("another").Detail(t.Context(), usage.Filter{}, usage.List{})
		require.NoError(t, err)
		require.Empty(t, other.Items)
		sums, err = f.For("another").OfRuns(t.Context(), []string{"r1"})
		require.NoError(t, err)
		require.Empty(t, sums)
	})
}

func TestInvalidReports(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		day := []string{"day"}
		for field, r := range map[string]usage.Report{
			"groupBy":  {GroupBy: []string{"day", "day"}},
			"timezone": {GroupBy: day, Timezone: "Local"},
			"from":     {GroupBy: day, Filter: usage.Filter{From: time.Unix(2, 0), To: time.Unix(2, 0)}},
			"to":       {GroupBy: day, Filter: usage.Filter{To: time.Unix(1<<40, 0)}},
			"model":    {GroupBy: day, Filter: usage.Filter{Model: "\xff"}},
		} {
			_, err := f.own.Rollup(t.Context(), r)
			var bad *usage.Invalid
			require.ErrorAs(t, err, &bad, field)
			require.Equal(t, field, bad.Field)
		}
		for _, by := range [][]string{nil, {"day", "model", "flow"}, {"price"}, {"caller"}} {
			_, err := f.own.Rollup(t.Context(), usage.Report{GroupBy: by})
			require.Error(t, err, by)
		}
		_, err := f.own.Detail(t.Context(), usage.Filter{}, usage.List{Limit: -1})
		require.ErrorContains(t, err, "limit")
		_, err = f.own.Detail(t.Context(), usage.Filter{}, usage.List{Cursor: "-"})
		require.ErrorContains(t, err, "cursor")
	})
}

// TestInvalidCalls checks that an invalid call is refused before anything is
// stored.
func TestInvalidCalls(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		for field, change := range map[string]func(*usage.Call){
			"account":  func(c *usage.Call) { c.Account = "" },
			"feature":  func(c *usage.Call) { c.Feature = "" },
			"provider": func(c *usage.Call) { c.Provider = "" },
			"model":    func(c *usage.Call) { c.Model = string(make([]byte, 201)) },
			"chatId":   func(c *usage.Call) { c.ChatID = "a\x00" },
			"run":      func(c *usage.Call) { c.Run = "\xff" },
		} {
			c := call("openai/gpt-5")
			change(&c)
			_, err := f.Begin(t.Context(), c)
			var bad *usage.Invalid
			require.ErrorAs(t, err, &bad, field)
			require.Equal(t, field, bad.Field)
		}
		e, err := f.Begin(t.Context(), call("openai/gpt-5"))
		require.NoError(t, err)
		_, err = f.Complete(t.Context(), e, answer("openai/\xffgpt\x00-5", tokens(1, 1)), nil)
		require.NoError(t, err, "what a provider says is kept as far as it can be")
		require.Equal(t, "gpt-5", f.records(t, usage.Filter{})[0].Model)
	})
}
