package usage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// million is how many calls a month of the benchmarks has.
const million = 1_000_000

// fill writes a month of calls of one account, one every 2.6 s, of 20 models and
// in 5,000 chats.
func fill(b *testing.B, db *sqlx.DB, from time.Time) {
	b.Helper()
	numbers := `SELECT n FROM generate_series(1, CAST($1 AS BIGINT)) AS n`
	if db.DriverName() != "postgres" {
		numbers = `WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < $1) SELECT n FROM counter`
	}
	_, err := db.ExecContext(b.Context(), `INSERT INTO usage_call (id, account, at_us, reference, chat_id, feature, project, flow, run, caller, provider, model,
		cost_status, error, measured, input, cached, cache_write, cache_write_1h, output, reasoning, cost, price_source, price_version, held_tokens, held_cost, duration_us)
		SELECT CAST(n AS TEXT), $2, CAST($3 AS BIGINT) + CAST(n AS BIGINT) * 2592000, 1 + n % 7, CAST(n % 5000 AS TEXT), 'agent', CAST(n % 3 AS TEXT), CAST(n % 40 AS TEXT), CAST(n / 5 AS TEXT), '', 'openai', 'model-' || CAST(n % 20 AS TEXT),
		'priced', '', TRUE, n % 9000, n % 4000, 0, 0, n % 700, 0, n % 90000, 'built-in', '2026-07-02', 0, 0, 900000 FROM (`+numbers+`) AS all_of_them`,
		million, usage.OneAccount, from.UnixMicro())
	require.NoError(b, err)
	_, err = db.ExecContext(b.Context(), `ANALYZE`)
	require.NoError(b, err)
}

// BenchmarkRollup measures reports of a month of a million calls.
func BenchmarkRollup(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		f := open(b, db, nil)
		from := time.Date(2026, 5, 31, 22, 0, 0, 0, time.UTC)
		fill(b, db, from)
		_, err := db.ExecContext(b.Context(), `INSERT INTO usage_account (account) VALUES ($1)`, usage.OneAccount)
		require.NoError(b, err)
		f.clock.set(from.Add(31 * 24 * time.Hour))
		began := testkit.CPUTime(b)
		require.NoError(b, f.RollUp(b.Context()))
		b.Logf("rolling up takes %v of CPU time", testkit.CPUTime(b)-began)
		for _, r := range []usage.Report{
			{GroupBy: []string{"day", "model"}, Timezone: "Europe/Berlin"},
			{GroupBy: []string{"model"}},
			{GroupBy: []string{"hour"}, Timezone: "Europe/Berlin"},
			{GroupBy: []string{"day", "chat"}},
		} {
			r.From, r.To = from, from.Add(30*24*time.Hour)
			b.Run(fmt.Sprint(r.GroupBy), func(b *testing.B) {
				before, n := testkit.CPUTime(b), 0
				for ; b.Loop(); n++ {
					got, err := f.own.Rollup(b.Context(), r)
					require.NoError(b, err)
					require.EqualValues(b, million-1, got.Total.Calls)
				}
				b.ReportMetric(float64((testkit.CPUTime(b)-before).Milliseconds())/float64(n), "cpu-ms/op")
			})
		}
	})
}

// BenchmarkCall measures what the ledger adds to a call of a model: with a
// budget that counts a month of a million calls, and without.
func BenchmarkCall(b *testing.B) {
	testkit.BenchmarkEach(b, func(b *testing.B, db *sqlx.DB) {
		f := open(b, db, nil)
		fill(b, db, f.clock.now().Add(-24*time.Hour))
		run := func(b *testing.B) {
			c := call("openai/gpt-5")
			c.Reference, c.ChatID, c.Reserve = 1, "17", tokens(4000, 1000)
			f.make(b, c, tokens(2000, 300)) // counts what was spent before
			for b.Loop() {
				f.make(b, c, tokens(2000, 300))
			}
		}
		b.Run("plain", run)
		limit := int64(1 << 50)
		require.NoError(b, f.own.SetBudgets(b.Context(), []usage.Budget{
			{Scope: usage.ScopeAccount, Period: usage.PeriodMonth, Cost: &limit},
			{Scope: usage.ScopeChat, Period: usage.PeriodDay, Tokens: &limit},
		}))
		b.Run("budgets", run)
	})
}
