package usage

import (
	"math/big"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Rates are the prices of a million tokens by their kind.
type Rates struct {
	Input  Rate `json:"input"`
	Output Rate `json:"output"`
	// CachedInput is the price of input that was read from a cache. nil: unknown;
	// such input then costs as much as other input, and the cost is an estimate.
	CachedInput *Rate `json:"cachedInput,omitempty"`
	// CacheWrite is the price of input that was written to a cache, and
	// CacheWrite1h of input that is cached for an hour. nil: unknown; a call with
	// such input then has no cost.
	CacheWrite   *Rate `json:"cacheWrite,omitempty"`
	CacheWrite1h *Rate `json:"cacheWrite1h,omitempty"`
	// Reasoning is the price of output that is not shown. nil: that of Output.
	Reasoning *Rate `json:"reasoning,omitempty"`
}

// Tier has the rates of a whole call with more than Over tokens of input.
type Tier struct {
	Over int64 `json:"over"`
	Rates
}

// Price has the rates of a model.
type Price struct {
	Provider string `json:"provider"` // as in [llm.Models]
	Model    string `json:"model"`    // as the provider calls it
	Rates
	Tiers []Tier `json:"tiers,omitempty"` // by ascending Over
	// SameAs is another model, "provider/model", with the same prices; all rates
	// are then 0. "": none.
	SameAs string `json:"sameAs,omitempty"`
}

// rates returns the rates of a call by its input tokens.
func (p *Price) rates(input int64) Rates {
	r := p.Rates
	for _, t := range p.Tiers {
		if input > t.Over {
			r = t.Rates
		}
	}
	return r
}

// cost returns the cost of u in nano-USD, and how it was determined.
func (p *Price) cost(u llm.Usage) (int64, CostStatus) {
	r, status := p.rates(u.Input), CostPriced
	if u.CacheWrite > 0 && r.CacheWrite == nil || u.CacheWrite1h > 0 && r.CacheWrite1h == nil {
		return 0, CostUnpricedKind
	}
	if u.CacheRead > 0 && r.CachedInput == nil {
		status = CostEstimated
	}
	return total([]part{
		{u.Input - u.CacheRead - u.CacheWrite - u.CacheWrite1h, r.Input},
		{u.CacheRead, or(r.CachedInput, r.Input)},
		{u.CacheWrite, or(r.CacheWrite, 0)},
		{u.CacheWrite1h, or(r.CacheWrite1h, 0)},
		{u.Output - u.Reasoning, r.Output},
		{u.Reasoning, or(r.Reasoning, r.Output)},
	}), status
}

// worst returns the maximum cost of input and output, of whatever kinds.
func (p *Price) worst(u llm.Usage) int64 {
	var limit int64
	for _, r := range p.from(u.Input) {
		in := max(r.Input, or(r.CachedInput, 0), or(r.CacheWrite, 0), or(r.CacheWrite1h, 0))
		limit = max(limit, total([]part{{u.Input, in}, {u.Output, max(r.Output, or(r.Reasoning, 0))}}))
	}
	return limit
}

// from returns all rates that a call with at most this many input tokens may have.
func (p *Price) from(input int64) []Rates {
	all := []Rates{p.Rates}
	for _, t := range p.Tiers {
		if input > t.Over {
			all = append(all, t.Rates)
		}
	}
	return all
}

func or(r *Rate, otherwise Rate) Rate {
	if r == nil {
		return otherwise
	}
	return *r
}

type part struct {
	tokens int64
	rate   Rate
}

// total returns the sum of parts in nano-USD, rounded half up once.
func total(parts []part) int64 {
	sum := big.NewInt(500_000)
	for _, p := range parts {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(p.tokens), big.NewInt(int64(p.rate))))
	}
	return sum.Quo(sum, big.NewInt(1_000_000)).Int64()
}
