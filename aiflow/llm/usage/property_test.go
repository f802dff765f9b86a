package usage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// zones have clocks that change by an hour or by half an hour, at midnight, or
// never; some have an offset with a fraction of an hour.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Asia/Beirut", "Pacific/Chatham",
}

// moments are the clock changes of 2026, and the turns of a month and a year.
var moments = []string{
	"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z", "2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z",
	"2026-03-08T05:00:00Z", "2026-11-01T05:00:00Z", "2026-04-23T22:00:00Z", "2026-10-29T21:00:00Z", "2026-03-28T22:00:00Z", "2026-06-30T23:00:00Z",
	"2026-12-31T23:30:00Z",
}

// TestRollupIsTheLedger records random calls and compares every rollup, by each
// group and each pair of them, in every zone and with random filters, with the sums
// of the calls in the ledger.
func TestRollupIsTheLedger(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rnd := open(t, db, nil), rand.New(rand.NewPCG(7, 11))
		for range 300 {
			f.random(t, rnd)
		}
		f.clock.set(time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC))
		f.agree(t, rnd)

		price := usage.Price{Provider: "openai", Model: "house-model", Rates: usage.Rates{Input: 1_500_000_001, Output: 2_000_000_000}}
		require.NoError(t, f.own.SetPricing(t.Context(), []usage.Price{price}))
		changed, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Positive(t, changed)
		again, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Zero(t, again, "the second time there is nothing to change")
		f.agree(t, rnd)
	})
}

// agree compares rollups with the ledger.
func (f fixture) agree(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	var groupings [][]string
	for _, a := range usage.Groups() {
		groupings = append(groupings, []string{a})
		for _, b := range usage.Groups() {
			if a != b {
				groupings = append(groupings, []string{a, b})
			}
		}
	}
	for _, by := range groupings {
		timed := slices.ContainsFunc(by, func(g string) bool { return slices.Contains(units, g) })
		for _, zone := range zones {
			r := usage.Report{GroupBy: by, Timezone: zone, Filter: f.randomFilter(rnd, slices.Contains(by, "hour"))}
			got, err := f.own.Rollup(t.Context(), r)
			require.NoError(t, err)
			f.compare(t, r, got)
			if !timed {
				break
			}
		}
	}
}

var units = []string{"hour", "day", "week", "month"}

// compare reports whether a rollup equals the sum of the calls in the ledger.
func (f fixture) compare(t *testing.T, r usage.Report, got usage.Rollup) {
	t.Helper()
	zone, err := time.LoadLocation(r.Timezone)
	require.NoError(t, err)
	want, total := map[string]usage.Sum{}, usage.Sum{}
	for _, c := range f.records(t, r.Filter) {
		keys := make([]string, len(r.GroupBy))
		for i, g := range r.GroupBy {
			keys[i] = keyOf(c, g, zone)
		}
		s := want[strings.Join(keys, "|")]
		for _, to := range []*usage.Sum{&s, &total} {
			plus(to, c)
		}
		want[strings.Join(keys, "|")] = s
	}
	require.Equal(t, total, got.Total, "%+v", r)
	require.LessOrEqual(t, len(got.Items), 5000)
	seen, sum := map[string]bool{}, usage.Sum{}
	for _, row := range got.Items {
		key := strings.Join(row.Keys, "|")
		require.False(t, seen[key], "%s is given twice in %+v", key, r)
		seen[key] = true
		require.Equal(t, want[key], row.Sum, "%s of %+v", key, r)
		sum.Calls += row.Calls
	}
	if !got.Truncated {
		require.Equal(t, total.Calls, sum.Calls, "%+v", r)
	}
}

func plus(s *usage.Sum, c usage.Record) {
	s.Calls++
	if c.Error != "" {
		s.Errors++
	}
	s.Input += c.Input
	s.Cached += c.Cached
	s.Output += c.Output
	s.Reasoning += c.Reasoning
	if c.Cost.Known {
		s.Cost += c.Cost.Nano
	} else {
		s.Unpriced++
	}
}

// keyOf returns the key of a call in a group, computed in another way than by the
// ledger.
func keyOf(c usage.Record, group string, zone *time.Location) string {
	local := c.At.In(zone)
	switch group {
	case "hour":
		began := local // by steps back, until the clock shows another hour or was moved
		for began.Second() != 0 || began.Nanosecond() != 0 {
			began = began.Truncate(time.Second).Add(-time.Second * time.Duration(min(1, began.Second())))
		}
		for prev := began.Add(-time.Minute); prev.Format("15 -07:00") == local.Format("15 -07:00"); prev = prev.Add(-time.Minute) {
			began = prev
		}
		return began.Format(time.RFC3339)
	case "day":
		return local.Format("2006-01-02")
	case "week":
		year, week := local.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	case "month":
		return local.Format("2006-01")
	case "reference":
		if c.Reference == 0 {
			return ""
		}
		return strconv.FormatInt(c.Reference, 10)
	case "chat":
		if c.ChatID == "" {
			return ""
		}
		return fmt.Sprintf("%d/%s", c.Reference, c.ChatID)
	}
	return map[string]string{
		"model": c.Model, "provider": c.Provider, "feature": c.Feature, "flow": c.Flow, "run": c.Run, "user": c.User,
	}[group]
}

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// random records some call at some time.
func (f fixture) random(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, pick(rnd, moments...))
	require.NoError(t, err)
	at = at.Add(time.Duration(rnd.Int64N(int64(8*time.Hour))) - 4*time.Hour).Truncate(time.Microsecond)
	if rnd.IntN(4) == 0 {
		at = at.Truncate(30 * time.Minute) // where pieces of time meet
	}
	f.clock.set(at)
	c := call(pick(rnd, "openai/gpt-5", "openai/gpt-5.4", "openai/house-model", "anthropic/claude-haiku-4-5", "mock/echo", "groq/unheard-of"))
	c.Feature = pick(rnd, "assistant", "agent", "extractor")
	if rnd.IntN(3) > 0 {
		c.Reference, c.ChatID = pick[int64](rnd, 1, 2), pick(rnd, "ana", "ben|1", "", "čeněk")
	}
	c.Flow, c.Run, c.User = pick(rnd, "", "f1", "f2"), pick(rnd, "", "r1", "r2", "r3"), pick(rnd, "", "u1")
	e, err := f.Begin(t.Context(), c)
	require.NoError(t, err)
	f.clock.add(time.Duration(rnd.IntN(5000)) * time.Millisecond)
	served := pick(rnd, c.Model, c.Model, c.Model+"-2026-01-05", "unheard-of")
	u := llm.Usage{Known: rnd.IntN(8) > 0, Input: rnd.Int64N(400_000), Output: rnd.Int64N(9_000)}
	u.CacheRead, u.Reasoning = pick(rnd, 0, u.Input/3), pick(rnd, 0, u.Output/2)
	u.CacheWrite, u.CacheWrite1h = pick(rnd, 0, 0, u.Input/5), pick(rnd, 0, 0, u.Input/7)
	switch rnd.IntN(10) {
	case 0: // its end is not seen
		return
	case 1:
		_, err = f.Complete(t.Context(), e, nil, &llm.Error{Code: pick(rnd, llm.CodeRateLimited, llm.CodeTimeout, llm.CodeTruncated), Usage: u})
	default:
		_, err = f.Complete(t.Context(), e, answer(c.Provider+"/"+served, u), nil)
	}
	require.NoError(t, err)
}

// randomFilter returns some filter. For hours it covers only some weeks, because
// there are at most 5,000 rows.
func (f fixture) randomFilter(rnd *rand.Rand, short bool) usage.Filter {
	r := usage.Filter{From: time.Date(2026, 2, 27, 22, 10, 0, 0, time.UTC), To: time.Date(2027, 1, 2, 0, 0, 0, 1000, time.UTC)}
	if short {
		at, _ := time.Parse(time.RFC3339, pick(rnd, moments...))
		r.From, r.To = at.Add(-50*time.Hour-13*time.Minute), at.Add(47*time.Hour)
	}
	for _, set := range []func(){
		func() { r.Model = pick(rnd, "gpt-5", "house-model", "none") },
		func() { r.Provider = pick(rnd, "openai", "mock") },
		func() { r.Feature = pick(rnd, "agent", "extractor") },
		func() { r.Reference = pick[int64](rnd, 1, 2) },
		func() { r.ChatID = pick(rnd, "ana", "čeněk") },
		func() { r.Flow = pick(rnd, "f1", "f2") },
		func() { r.Run = "r1" },
		func() { r.User = "u1" },
	} {
		if rnd.IntN(10) == 0 {
			set()
		}
	}
	return r
}
