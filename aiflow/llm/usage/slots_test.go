package usage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// slotRow is the sum of the calls of a slot.
type slotRow struct {
	Length    int64 `db:"length_us"`
	At        int64 `db:"at_us"`
	Reference int64
	Feature   string
	Flow      string
	Caller    string
	Provider  string
	Model     string
	usage.Sum
}

// slotsAreTrue compares the slots with the calls before the time up to which they have
// been rolled up, and returns their number.
func (f fixture) slotsAreTrue(t *testing.T) int {
	t.Helper()
	const key = `length_us, at_us, reference, feature, flow, caller, provider, model`
	var want, got []slotRow
	require.NoError(t, f.db.SelectContext(t.Context(), &want, `SELECT slot.column1 AS length_us, c.at_us - c.at_us % slot.column1 AS at_us, reference, feature, flow, caller, provider, model,
		COUNT(*) AS calls, SUM(CASE WHEN error <> '' THEN 1 ELSE 0 END) AS errors, CAST(SUM(input) AS BIGINT) AS input, CAST(SUM(cached) AS BIGINT) AS cached,
		CAST(SUM(output) AS BIGINT) AS output, CAST(SUM(reasoning) AS BIGINT) AS reasoning, CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost,
		SUM(CASE WHEN cost IS NULL THEN 1 ELSE 0 END) AS unpriced
		FROM usage_call AS c JOIN usage_account AS a ON a.account = c.account CROSS JOIN (VALUES (900000000), (3600000000), (86400000000)) AS slot
		WHERE c.at_us < a.rolled_us GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8`))
	require.NoError(t, f.db.SelectContext(t.Context(), &got, `SELECT `+key+`, calls, errors, input, cached, output, reasoning, cost, unpriced
		FROM usage_slot WHERE calls <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8`))
	require.Equal(t, want, got)
	return len(got)
}

// TestSlotsAreTheCalls records calls before and after their time is rolled up, ends some
// of them late or twice, and changes prices. Slots and rollups remain the sums of the
// calls.
func TestSlotsAreTheCalls(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rnd := open(t, db, nil), rand.New(rand.NewPCG(5, 3))
		var parked []*usage.Entry
		for i := range 400 {
			switch n := rnd.IntN(20); {
			case n < 12:
				f.random(t, rnd)
			case n < 15:
				e, err := f.Begin(t.Context(), call(pick(rnd, "openai/gpt-5", "openai/house-model")))
				require.NoError(t, err)
				parked = append(parked, e)
			case n < 18 && len(parked) > 0:
				e := parked[rnd.IntN(len(parked))]
				_, err := f.Complete(t.Context(), e, answer("openai/"+pick(rnd, "gpt-5", "gpt-5-nano", "house-model"), tokens(rnd.Int64N(1000), 7)), nil)
				require.NoError(t, err)
			case n == 18:
				price := usage.Price{Provider: "openai", Model: "house-model", Rates: usage.Rates{Input: usage.Rate(rnd.Int64N(1e9)), Output: 2_000_000_000}}
				require.NoError(t, f.own.SetPricing(t.Context(), []usage.Price{price}))
				_, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
				require.NoError(t, err)
			default:
				at, err := time.Parse(time.RFC3339, moments[min(i/30, len(moments)-1)])
				require.NoError(t, err)
				f.clock.set(at.Add(time.Duration(rnd.IntN(500)) * time.Minute))
				require.NoError(t, f.RollUp(t.Context()))
			}
			if i%50 == 49 {
				f.slotsAreTrue(t)
				f.someAgree(t, rnd)
			}
		}
		f.clock.set(time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC))
		require.NoError(t, f.RollUp(t.Context()))
		require.Positive(t, f.slotsAreTrue(t))
		f.agree(t, rnd)
		require.NoError(t, f.own.Erase(t.Context(), 1, nil, time.Time{}))
		f.slotsAreTrue(t)
		f.someAgree(t, rnd)
		require.NoError(t, f.own.DeleteAll(t.Context()))
		require.NotContains(t, strings.Join(testkit.Contents(t, db), "\n"), "gpt-5")
	})
}

// someAgree compares some random rollups with the ledger.
func (f fixture) someAgree(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	for range 10 {
		by := []string{pick(rnd, usage.Groups()...), pick(rnd, "model", "hour", "day", "chat")}
		if by[0] == by[1] {
			by = by[:1]
		}
		r := usage.Report{GroupBy: by, Timezone: pick(rnd, zones...), Filter: f.randomFilter(rnd, true)}
		got, err := f.own.Rollup(t.Context(), r)
		require.NoError(t, err)
		f.compare(t, r, got)
	}
}

// TestRollUp_Writers has calls begin and end, late ones among them, while several nodes
// roll up, calls are priced again, and reports are read.
func TestRollUp_Writers(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		const writers, calls = 4, 40
		all := usage.Report{GroupBy: []string{"model"}, Filter: usage.Filter{From: f.clock.now().Add(-time.Hour), To: f.clock.now().Add(1000 * time.Hour)}}
		done := make(chan struct{})
		g, ctx := errgroup.WithContext(t.Context())
		others, octx := errgroup.WithContext(t.Context())
		for i := range writers {
			g.Go(func() error { return f.slow(ctx, i, calls) })
		}
		until := func(do func() error) {
			others.Go(func() error {
				for {
					select {
					case <-done:
						return nil
					default:
						if err := do(); err != nil {
							return err
						}
					}
				}
			})
		}
		for range 2 {
			until(func() error { return f.RollUp(octx) })
		}
		rate := usage.Rate(0)
		until(func() error {
			rate += 1_000_000
			err := f.own.SetPricing(octx, []usage.Price{{Provider: "openai", Model: "house-model", Rates: usage.Rates{Input: rate}}})
			if err == nil {
				_, err = f.own.Reprice(octx, time.Time{}, time.Time{})
			}
			return err
		})
		var seen int64
		until(func() error {
			got, err := f.own.Rollup(octx, all)
			if err == nil && got.Total.Calls < seen {
				err = fmt.Errorf("%d calls after %d", got.Total.Calls, seen)
			}
			seen = got.Total.Calls
			return err
		})
		err := g.Wait()
		close(done)
		require.NoError(t, others.Wait())
		require.NoError(t, err)
		f.slotsAreTrue(t)
		got, err := f.own.Rollup(t.Context(), all)
		require.NoError(t, err)
		require.Equal(t, int64(writers*calls), got.Total.Calls)
		f.compare(t, all, got)
	})
}

// slow makes calls, each of which lasts longer than it takes until its time is rolled up.
func (f fixture) slow(ctx context.Context, writer, calls int) error {
	for i := range calls {
		c := call("openai/house-model")
		c.Flow = fmt.Sprint("f", writer%2)
		e, err := f.Begin(ctx, c)
		if err != nil {
			return err
		}
		f.clock.add(time.Duration(i%20) * time.Minute)
		if _, err = f.Complete(ctx, e, answer("openai/house-model", tokens(int64(i), 1)), nil); err != nil {
			return err
		}
	}
	return nil
}

// TestRollUp_Backlog has several nodes roll up what was recorded before, while reports
// are read, and repeats it after a crash.
func TestRollUp_Backlog(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		const calls = 25_000 // more than two steps
		many(t, f.db, f.clock.now(), calls)
		f.db.MustExec(`INSERT INTO usage_account (account) VALUES ('one')`)
		total := usage.Sum{Calls: calls, Input: calls * 10, Output: calls, Cost: calls * (calls + 1) / 2}
		f.clock.add(time.Hour)
		g, ctx := errgroup.WithContext(t.Context())
		for range 3 {
			g.Go(func() error { return f.RollUp(ctx) })
		}
		day := usage.Report{GroupBy: []string{"day"}}
		for range 10 {
			got, err := f.own.Rollup(t.Context(), day)
			require.NoError(t, err)
			require.Equal(t, total, got.Total)
		}
		require.NoError(t, g.Wait())
		require.Equal(t, 100+100+5, f.slotsAreTrue(t), "quarters, hours and days")

		// A process that stopped in between had finished whole steps.
		f.db.MustExec(`DELETE FROM usage_slot WHERE at_us >= 1782777600000000`) // 2026-06-30
		f.db.MustExec(`UPDATE usage_account SET rolled_us = 1782777600000000`)
		got, err := f.own.Rollup(t.Context(), day)
		require.NoError(t, err)
		require.Equal(t, total, got.Total)
		require.NoError(t, f.RollUp(t.Context()))
		require.Equal(t, 100+100+5, f.slotsAreTrue(t), "quarters, hours and days")
	})
}
