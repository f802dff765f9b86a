package usage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func ptr[T any](v T) *T { return &v }

// reserving returns a call with a reservation.
func reserving(model string, in, out int64) usage.Call {
	c := call(model)
	c.Reserve = tokens(in, out)
	return c
}

// refused returns why a call is refused; "": it is not.
func (f fixture) refused(t *testing.T, c usage.Call) string {
	t.Helper()
	_, err := f.Begin(t.Context(), c)
	if over, ok := errors.AsType[*usage.Exceeded](err); ok {
		require.ErrorContains(t, err, usage.CodeExceeded)
		return over.Reason
	}
	require.NoError(t, err)
	return ""
}

// TestBudget reserves the worst case before a call, and counts the actual usage
// after it.
func TestBudget(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		f.make(t, call("openai/gpt-5"), tokens(300, 100)) // before there was a budget
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Timezone: "Europe/Berlin", Tokens: ptr(int64(1000))}}))
		e, err := f.Begin(t.Context(), reserving("openai/gpt-5", 400, 100))
		require.NoError(t, err)
		require.Equal(t, "tokens", f.refused(t, reserving("openai/gpt-5", 90, 11)), "900 are spent or reserved")
		_, err = f.Complete(t.Context(), e, answer("openai/gpt-5", tokens(50, 50)), nil)
		require.NoError(t, err)
		_, err = f.Complete(t.Context(), e, answer("openai/gpt-5", tokens(50, 50)), nil)
		require.NoError(t, err, "a second time it is not kept")
		bs, err := f.own.Budgets(t.Context())
		require.NoError(t, err)
		require.Equal(t, count(500), *bs[0].SpentTokens)
		require.Equal(t, count(350*1250+150*10_000), *bs[0].Spent)
		require.Equal(t, time.Date(2026, 7, 2, 22, 0, 0, 0, time.UTC), bs[0].Until)

		e, err = f.Begin(t.Context(), reserving("openai/gpt-5", 490, 10)) // to the last token
		require.NoError(t, err)
		require.Equal(t, "tokens", f.refused(t, call("openai/gpt-5")), "nobody knows what it takes")
		_, err = f.Complete(t.Context(), e, nil, &llm.Error{Code: llm.CodeTimeout})
		require.NoError(t, err)
		require.Equal(t, "tokens", f.refused(t, reserving("openai/gpt-5", 1, 0)), "it may have taken all that it reserved")
		f.clock.set(time.Date(2026, 7, 2, 22, 0, 0, 0, time.UTC))
		e, err = f.Begin(t.Context(), reserving("openai/gpt-5", 1000, 0))
		require.NoError(t, err, "a new day")
		_, err = f.Complete(t.Context(), e, nil, &llm.Error{Code: llm.CodeRateLimited})
		require.NoError(t, err)
		require.Empty(t, f.refused(t, reserving("openai/gpt-5", 1000, 0)), "what was turned down cost nothing")
		require.Len(t, f.records(t, usage.Filter{}), 5, "a call that is not made is not in the ledger")
	})
}

// TestBudgetScopes limits each chat, one flow and the money of a project.
func TestBudgetScopes(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{
			{Scope: usage.ScopeChat, Period: usage.PeriodTotal, Tokens: ptr(int64(100))},
			{Scope: usage.ScopeChat, Reference: 1, ID: "vip", Period: usage.PeriodMonth, Tokens: ptr(int64(60))},
			{Scope: usage.ScopeFlow, ID: "f1", Period: usage.PeriodDay, Tokens: ptr(int64(150))},
			{Scope: usage.ScopeProject, Period: usage.PeriodDay, Cost: ptr(int64(1_000_000)), RefuseUnpriced: true},
		}))
		in := func(ref int64, chat, flow, project string) usage.Call {
			c := reserving("openai/gpt-5", 80, 0) // 100,000 nano-USD
			c.Reference, c.ChatID, c.Flow, c.Project = ref, chat, flow, project
			return c
		}
		require.Empty(t, f.refused(t, in(1, "ana", "", "")))
		require.Equal(t, "tokens", f.refused(t, in(1, "ana", "", "")))
		require.Empty(t, f.refused(t, in(2, "ana", "", "")), "the chat of another line")
		require.Equal(t, "tokens", f.refused(t, in(1, "vip", "", "")))
		require.Empty(t, f.refused(t, in(2, "vip", "", "")))
		require.Empty(t, f.refused(t, in(0, "", "f1", "")))
		require.Equal(t, "tokens", f.refused(t, in(0, "", "f1", "")))
		require.Empty(t, f.refused(t, in(0, "", "f2", "")))
		for range 10 {
			require.Empty(t, f.refused(t, in(0, "", "", "p1")))
		}
		require.Equal(t, "cost", f.refused(t, in(0, "", "", "p1")))
		c := in(0, "", "", "p2")
		c.Model = "unheard-of"
		require.Equal(t, "unpriced", f.refused(t, c))
		c.Project = ""
		require.Empty(t, f.refused(t, c), "only where a budget says so")
		c.Provider, c.Project = "mock", "p1"
		require.Empty(t, f.refused(t, c), "what costs nothing needs no money")
		other := in(1, "ana", "f1", "p1")
		other.Account = "another"
		require.Empty(t, f.refused(t, other))
	})
}

// TestRepricedBudget checks that a budget counts repriced calls by the new prices.
func TestRepricedBudget(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Cost: ptr(int64(1_000_000))}}))
		f.make(t, reserving("openai/house", 500, 0), tokens(500, 0))
		require.Empty(t, f.refused(t, reserving("openai/gpt-5", 400, 0)))
		require.NoError(t, f.own.SetPricing(t.Context(), []usage.Price{{Provider: "openai", Model: "house", Rates: usage.Rates{Input: 2_000_000_000}}}))
		_, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, "cost", f.refused(t, reserving("openai/gpt-5", 1, 0)))
	})
}

// TestBudgetRace has two nodes compete for the rest of a budget, which suffices for
// one call.
func TestBudgetRace(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		nodes := []fixture{open(t, testkit.Open(t, url), nil), open(t, testkit.Open(t, url), nil)}
		if nodes[0].db.DriverName() != "postgres" {
			nodes[1] = nodes[0] // a file has one process
		}
		require.NoError(t, nodes[0].own.SetBudgets(t.Context(), []usage.Budget{
			{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Tokens: ptr(int64(1000))},
			{Scope: usage.ScopeChat, Period: usage.PeriodDay, Tokens: ptr(int64(100))},
		}))
		for round := range testkit.Rounds(20) {
			nodes[0].clock.set(time.Date(2026, 7, 2+round, 12, 0, 0, 0, time.UTC))
			nodes[1].clock.set(nodes[0].clock.now())
			var made, refused atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					c := reserving("openai/gpt-5", 60, 0)
					c.Reference, c.ChatID = 1, "ana"
					_, err := nodes[i%2].Begin(t.Context(), c)
					var over *usage.Exceeded
					switch {
					case errors.As(err, &over):
						refused.Add(1)
					case err == nil:
						made.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			require.Equal(t, count(1), made.Load())
			require.Equal(t, count(7), refused.Load())
		}
	})
}

func TestInvalidBudgets(t *testing.T) {
	t.Parallel()
	for field, b := range map[string]usage.Budget{
		"scope":     {Scope: "world", Period: usage.PeriodDay, Cost: ptr(int64(1))},
		"period":    {Scope: usage.ScopeFlow, Period: "year", Cost: ptr(int64(1))},
		"cost":      {Scope: usage.ScopeFlow, Period: usage.PeriodDay},
		"tokens":    {Scope: usage.ScopeFlow, Period: usage.PeriodDay, Tokens: ptr(int64(-1))},
		"timezone":  {Scope: usage.ScopeFlow, Period: usage.PeriodDay, Tokens: ptr(int64(1)), Timezone: "Mars/Olympus"},
		"reference": {Scope: usage.ScopeChat, ID: "ana", Period: usage.PeriodDay, Tokens: ptr(int64(1))},
		"flowId":    {Scope: usage.ScopeFlow, ID: "a\x00", Period: usage.PeriodDay, Tokens: ptr(int64(1))},
	} {
		err := usage.CheckBudgets([]usage.Budget{b})
		var bad *usage.Invalid
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, "items[0]."+field, bad.Field)
	}
	require.Error(t, usage.CheckBudgets(make([]usage.Budget, 201)))
}

// TestMetered records the calls of a model, and makes none that would exceed a
// budget.
func TestMetered(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		asked := 0
		var fail error
		m := f.Metered(scripted(func(*llm.Request) (*llm.Response, error) {
			asked++
			rs := f.records(t, usage.Filter{})
			require.Equal(t, usage.CostUnknown, rs[0].Cost.Status, "it stands there before it is made")
			require.Positive(t, rs[0].Reserved)
			f.clock.add(2 * time.Second)
			if fail != nil {
				return nil, fail
			}
			return answer("openai/gpt-5-2025-08-07", tokens(120, 30)), nil
		}), call("openai/gpt-5"))
		ask := &llm.Request{Model: "gpt-5", System: "Be brief.", Messages: []llm.Message{llm.User("Where is my parcel?")}, MaxTokens: 100}
		got, err := m.Generate(t.Context(), ask)
		require.NoError(t, err)
		require.Equal(t, "Hello", got.Message.Text())
		r := f.records(t, usage.Filter{})[0]
		require.Equal(t, "gpt-5-2025-08-07", r.Model)
		require.Equal(t, usage.CostPriced, r.Cost.Status)
		require.Equal(t, 2*time.Second, r.Duration)
		require.Zero(t, r.Reserved)
		require.Empty(t, r.Error)

		for code, failed := range map[string]error{
			"llm.timeout": context.DeadlineExceeded, "cancelled": context.Canceled, "error": errors.New("boom"), "llm.cut": &llm.Error{Code: llm.CodeTruncated, Usage: tokens(3, 4)},
		} {
			fail = failed
			_, err = m.Generate(t.Context(), ask)
			require.ErrorIs(t, err, failed)
			require.Equal(t, code, f.records(t, usage.Filter{})[0].Error)
		}
		worst := usage.WorstCase(ask)
		require.NoError(t, f.own.SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodTotal, Tokens: ptr(worst.Input + worst.Output - 1)}}))
		before := asked
		_, err = m.Generate(t.Context(), ask)
		var over *usage.Exceeded
		require.ErrorAs(t, err, &over)
		require.True(t, over.Until.IsZero())
		require.Equal(t, before, asked)
	})
}

// TestUnfinishedCall checks that a call of a dead process stays in the ledger and
// the budget with its reservation.
func TestUnfinishedCall(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		_, err := f.Begin(t.Context(), reserving("openai/gpt-5", 700, 200))
		require.NoError(t, err)
		again := open(t, f.db, nil)
		r := again.records(t, usage.Filter{})[0]
		require.Equal(t, usage.CostUnknown, r.Cost.Status)
		require.False(t, r.Cost.Known)
		require.Equal(t, []int64{0, 900, 700*1250 + 200*10_000}, []int64{r.Input, r.Reserved, r.ReservedCost})
		require.NoError(t, again.own.SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Tokens: ptr(int64(1000))}}))
		require.Equal(t, "tokens", again.refused(t, reserving("openai/gpt-5", 101, 0)))
	})
}
