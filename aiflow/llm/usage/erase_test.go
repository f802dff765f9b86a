package usage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestEraseChat removes the chat from its calls, including one in progress, and
// keeps their cost.
func TestEraseChat(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		const contact = "hush-hush"
		in := func(ref int64, chat string) usage.Call {
			c := reserving("openai/gpt-5", 100, 0)
			c.Reference, c.ChatID = ref, chat
			return c
		}
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{
			{Scope: usage.ScopeChat, Period: usage.PeriodTotal, Tokens: ptr(int64(1000))},
			{Scope: usage.ScopeChat, Reference: 1, ID: contact, Period: usage.PeriodTotal, Tokens: ptr(int64(1000))},
			{Scope: usage.ScopeChat, Reference: 2, ID: "ana", Period: usage.PeriodTotal, Tokens: ptr(int64(1000))},
		}))
		f.make(t, in(1, contact), tokens(10, 0))
		f.make(t, in(2, "ana"), tokens(10, 0))
		e, err := f.Begin(t.Context(), in(1, contact))
		require.NoError(t, err)
		require.NoError(t, f.own.Erase(t.Context(), 1, []string{"other-id", contact, ""}, time.Time{}))
		_, err = f.Complete(t.Context(), e, answer("openai/gpt-5", tokens(20, 0)), nil)
		require.NoError(t, err)
		require.NotContains(t, strings.Join(testkit.Contents(t, f.db), "\n"), contact)
		rs := f.records(t, usage.Filter{})
		require.Len(t, rs, 3)
		require.Equal(t, []string{"", "ana", ""}, []string{rs[0].ChatID, rs[1].ChatID, rs[2].ChatID})
		require.Equal(t, count(20*1250), rs[0].Cost.Nano)
		bs, err := f.own.Budgets(t.Context())
		require.NoError(t, err)
		require.Len(t, bs, 2)

		require.NoError(t, f.own.Erase(t.Context(), 2, nil, time.Time{}), "the line as a whole")
		require.Empty(t, f.records(t, usage.Filter{})[1].ChatID)
		bs, err = f.own.Budgets(t.Context())
		require.NoError(t, err)
		require.Len(t, bs, 1)
	})
}

// TestDeleteAll removes everything of an account, and nothing of another.
func TestDeleteAll(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		fill := func(account string) {
			c := reserving("openai/gpt-5", 10, 0)
			c.Account, c.Reference, c.ChatID = account, 1, "ana"
			a := f.For(account)
			require.NoError(t, a.SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeChat, Period: usage.PeriodDay, Tokens: ptr(int64(1000))}}))
			require.NoError(t, a.SetPricing(t.Context(), []usage.Price{{Provider: "a", Model: "b"}}))
			f.make(t, c, tokens(1, 1))
		}
		fill("kept")
		rows := func() []string { // without what counts rows
			return slices.DeleteFunc(testkit.Contents(t, f.db), func(row string) bool { return strings.HasPrefix(row, "sqlite_sequence") })
		}
		before := rows()
		fill("gone")
		require.NoError(t, f.For("gone").DeleteAll(t.Context()))
		require.NoError(t, f.For("gone").DeleteAll(t.Context()))
		require.Equal(t, before, rows())
	})
}

// TestRun deletes ended windows of budgets.
func TestRun(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := open(t, db, nil)
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{
			{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Tokens: ptr(int64(1000))},
			{Scope: usage.ScopeAccount, Period: usage.PeriodTotal, Tokens: ptr(int64(1000))},
		}))
		f.make(t, reserving("openai/gpt-5", 100, 0), tokens(10, 0))
		f.clock.add(72 * time.Hour)
		stop := f.run(t)
		testkit.UntilCommitted(t, db, func() bool {
			var n int
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM usage_spent`))
			return n == 1
		})
		stop()
		require.Equal(t, "tokens", f.refused(t, reserving("openai/gpt-5", 1000, 0)), "for ever is not over")
	})
}
