package usage_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// count is n as the type that ledgers count in.
func count(n int64) int64 { return n }

// TestCost prices calls by the built-in table, in nano-USD.
func TestCost(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		for _, c := range []struct {
			name, model string
			u           llm.Usage
			nano        int64
			status      usage.CostStatus
		}{
			{"input and output", "openai/gpt-5", tokens(1000, 100), 1000*1250 + 100*10_000, usage.CostPriced},
			{"cached input costs less", "openai/gpt-5", llm.Usage{Known: true, Input: 1000, CacheRead: 600}, 400*1250 + 600*125, usage.CostPriced},
			{"reasoning is output", "openai/gpt-5", llm.Usage{Known: true, Output: 100, Reasoning: 60}, 100 * 10_000, usage.CostPriced},
			{"a version with a date", "openai/gpt-5-2025-08-07", tokens(8, 0), 8 * 1250, usage.CostPriced},
			{"a version with prices of its own", "openai/gpt-4o-2024-05-13", tokens(1, 1), 5000 + 15_000, usage.CostPriced},
			{"up to the bound of a tier", "openai/gpt-5.4", tokens(272_000, 1), 272_000*2500 + 15_000, usage.CostPriced},
			{"beyond it all costs more", "openai/gpt-5.4", tokens(272_001, 1), 272_001*5000 + 22_500, usage.CostPriced},
			{"writing to a cache", "anthropic/claude-haiku-4-5", llm.Usage{Known: true, Input: 100, CacheRead: 50, CacheWrite: 20, CacheWrite1h: 10}, 20*1000 + 50*100 + 20*1250 + 10*2000, usage.CostPriced},
			{"halves are rounded up", "openai/text-embedding-3-small", tokens(1, 0), 20, usage.CostPriced},
			{"models of ours are free", "mock/echo", tokens(1_000_000, 1_000_000), 0, usage.CostPriced},
			{"no price for cached input", "openai/gpt-4", llm.Usage{Known: true, Input: 10, CacheRead: 5}, 10 * 30_000, usage.CostEstimated},
			{"parts that are more than the whole", "openai/gpt-5", llm.Usage{Known: true, Input: 10, CacheRead: 50, Output: -3}, 10 * 125, usage.CostPriced},
		} {
			got := f.make(t, call(c.model), c.u)
			require.Equal(t, c.nano, got.Nano, c.name)
			require.Equal(t, c.status, got.Status, c.name)
			require.True(t, got.Known, c.name)
			require.Equal(t, "built-in", got.Source, c.name)
			require.NotEmpty(t, got.Version, c.name)
		}
		for _, c := range []struct {
			name, model string
			u           llm.Usage
			status      usage.CostStatus
		}{
			{"an unknown model", "openai/gpt-17", tokens(10, 10), usage.CostUnpricedModel},
			{"a name that is only like one", "openai/gpt-5-fine", tokens(10, 10), usage.CostUnpricedModel},
			{"another provider's", "azure/gpt-5", tokens(10, 10), usage.CostUnpricedModel},
			{"a kind without a price", "openai/gpt-5", llm.Usage{Known: true, Input: 10, CacheWrite: 5}, usage.CostUnpricedKind},
			{"nobody knows", "openai/gpt-5", llm.Usage{}, usage.CostNoUsage},
		} {
			got := f.make(t, call(c.model), c.u)
			require.Equal(t, c.status, got.Status, c.name)
			require.False(t, got.Known, c.name)
			require.Zero(t, got.Nano, c.name)
		}
		missing, err := f.own.MissingPricing(t.Context())
		require.NoError(t, err)
		var names []string
		for _, m := range missing {
			names = append(names, m.Provider+"/"+m.Model)
			require.Equal(t, f.clock.now(), m.FirstSeen)
			require.Equal(t, f.clock.now(), m.LastSeen)
		}
		require.Equal(t, []string{"azure/gpt-5", "openai/gpt-17", "openai/gpt-5", "openai/gpt-5-fine"}, names)
	})
}

// TestBuiltInPrices compares the built-in table with what it was taken from.
func TestBuiltInPrices(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(testkit.Shared(t), "data", "prices", "models.dev.first-party.json"))
	require.NoError(t, err)
	theirs, err := usage.ParsePrices(b)
	require.NoError(t, err)
	own, err := os.ReadFile("prices.json")
	require.NoError(t, err)
	ours, err := usage.ParsePrices(own)
	require.NoError(t, err)
	by := map[string]usage.Price{}
	for _, p := range theirs {
		by[p.Provider+"/"+p.Model] = p
	}
	for _, p := range ours {
		want, ok := by[p.Provider+"/"+p.Model]
		require.True(t, ok, "%s/%s", p.Provider, p.Model)
		p.CacheWrite1h = nil
		if want.Reasoning != nil && *want.Reasoning == want.Output {
			want.Reasoning = nil
		}
		require.Equal(t, want, p)
	}
}

// TestRepricingIsBounded prices more calls again than a transaction does.
func TestRepricingIsBounded(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		const n = 1100
		for range n {
			f.make(t, call("house/llama"), tokens(1000, 0))
		}
		require.NoError(t, f.own.SetPricing(t.Context(), []usage.Price{{Provider: "house", Model: "llama", Rates: usage.Rates{Input: 1_000_000}}}))
		commits := testkit.ObserveCommits(t, f.db)
		changed, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, n, changed)
		commits.RequireBounded(t, n, 1010)
	})
}

// TestOwnPrices has prices of an account go before all others, for that account
// alone.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	onLedgers(t, func(t *testing.T, f fixture) {
		f.make(t, call("openai/gpt-5-2025-08-07"), tokens(1000, 0))
		f.make(t, call("openai/deployment"), tokens(1000, 0))
		f.make(t, call("house/llama"), llm.Usage{Known: true, Input: 10, CacheWrite: 10})
		f.make(t, call("openai/gpt-5"), llm.Usage{})
		_, err := f.Begin(t.Context(), call("openai/gpt-5"))
		require.NoError(t, err)

		one := usage.Rate(1)
		prices := []usage.Price{
			{Provider: "house", Model: "llama", Rates: usage.Rates{Input: 100_000_000, Output: 1, CacheWrite: &one}},
			{Provider: "openai", Model: "deployment", SameAs: "openai/gpt-5-mini"},
			{Provider: "openai", Model: "gpt-5", Rates: usage.Rates{Input: 1_000_000_000, Output: 2_000_000_000}},
		}
		require.NoError(t, f.own.SetPricing(t.Context(), prices))
		got, err := f.own.Pricing(t.Context())
		require.NoError(t, err)
		require.Equal(t, prices, got)
		require.Equal(t, count(1_000_000), f.make(t, call("openai/gpt-5-2025-09-09"), tokens(1000, 0)).Nano)
		other := call("openai/gpt-5")
		other.Account = "another"
		require.Equal(t, count(1_250_000), f.make(t, other, tokens(1000, 0)).Nano)

		changed, err := f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Equal(t, 3, changed)
		rs := f.records(t, usage.Filter{})
		var costs []int64
		for _, r := range rs {
			costs = append(costs, r.Cost.Nano)
		}
		require.Equal(t, []int64{1_000_000, 0, 0, 0, 250_000, 1_000_000}, costs)
		require.Equal(t, usage.CostUnknown, rs[1].Cost.Status)
		require.Equal(t, usage.CostNoUsage, rs[2].Cost.Status)
		changed, err = f.own.Reprice(t.Context(), time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Zero(t, changed)

		require.NoError(t, f.own.SetPricing(t.Context(), nil))
		changed, err = f.own.Reprice(t.Context(), f.clock.now().Add(time.Second), time.Time{})
		require.NoError(t, err)
		require.Zero(t, changed, "none is so young")
		changed, err = f.own.Reprice(t.Context(), time.Time{}, f.clock.now().Add(time.Second))
		require.NoError(t, err)
		require.Equal(t, 4, changed)
	})
}

func TestInvalidPrices(t *testing.T) {
	t.Parallel()
	f := open(t, testkit.Open(t, testkit.SQLiteURL(t)), nil)
	p := func(change func(*usage.Price)) []usage.Price {
		out := usage.Price{Provider: "openai", Model: "gpt-5"}
		change(&out)
		return []usage.Price{{Provider: "openai", Model: "first"}, out}
	}
	low := usage.Rate(-1)
	for field, items := range map[string][]usage.Price{
		"items[1].provider":      p(func(p *usage.Price) { p.Provider = "" }),
		"items[1].model":         p(func(p *usage.Price) { p.Model = "a\x00" }),
		"items[1].input":         p(func(p *usage.Price) { p.Input = -1 }),
		"items[1].output":        p(func(p *usage.Price) { p.Output = 1 << 60 }),
		"items[1].cachedInput":   p(func(p *usage.Price) { p.CachedInput = &low }),
		"items[1].sameAs":        p(func(p *usage.Price) { p.SameAs = "gpt-4" }),
		"items[1].tiers[0].over": p(func(p *usage.Price) { p.Tiers = []usage.Tier{{}} }),
		"items":                  make([]usage.Price, 1001),
	} {
		err := f.own.SetPricing(t.Context(), items)
		var bad *usage.Invalid
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, field, bad.Field)
	}
	err := f.own.SetPricing(t.Context(), []usage.Price{{Provider: "a", Model: "b"}, {Provider: "a", Model: "b"}})
	require.ErrorContains(t, err, "items[1].model is given twice")
}

// TestMoney reads and writes decimals exactly.
func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "1.25": 1_250_000_000, "0.075": 75_000_000, "1e-9": 1, "100000": 100_000_000_000_000, "3E-2": 30_000_000} {
		var r usage.Rate
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		require.Equal(t, want, int64(r), text)
	}
	for _, text := range []string{"-1", "100000.1", "1e-10", `"1"`, "1e99", "null", "0.0000000001", "true"} {
		require.Error(t, new(usage.Rate).UnmarshalJSON([]byte(text)), text)
	}
	for nano, want := range map[int64]string{0: "0", 1: "0.001", 1000: "1", 1_234_567: "1234.567", 1_234_500: "1234.5", -20: "-0.02", 1 << 62: "4611686018427387.904"} {
		b, err := json.Marshal(usage.Nano(nano))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
		if nano < 0 || nano > 1e18 {
			continue
		}
		var back usage.Nano
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, nano, int64(back))
	}
	b, err := json.Marshal(usage.Rate(75_000_000))
	require.NoError(t, err)
	require.Equal(t, "0.075", string(b))
}

// FuzzParsePrices reads foreign tables: what is read can be written and read
// again.
func FuzzParsePrices(f *testing.F) {
	f.Add(`{"items": [{"provider": "a", "model": "b", "input": 1.5, "output": 2, "tiers": [{"over": 5, "input": 2, "output": 3}]}]}`)
	f.Add(`{"openai": {"models": {"gpt": {"cost": {"input": 1, "output": 2e-3, "tiers": [{"tier": {"size": 9}, "input": 1, "output": 1}]}, "modalities": {"output": ["text"]}}}}}`)
	f.Add(`{"items": [{"provider": "a", "model": "b", "sameAs": "c/d"}]}`)
	f.Add(`{"items": null}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		items, err := usage.ParsePrices([]byte(text))
		var bad *usage.Invalid
		if err != nil {
			require.ErrorAs(t, err, &bad)
			return
		}
		b, err := json.Marshal(map[string]any{"items": items})
		require.NoError(t, err)
		again, err := usage.ParsePrices(b)
		require.NoError(t, err, strings.ToValidUTF8(text, "?"))
		require.Equal(t, items, again)
	})
}
