package store

import "github.com/trunklinehq/trunkline/aiflow/llm"

// Usage sums up calls of models.
type Usage struct {
	Calls    int
	Tokens   llm.Usage // of all calls together
	CostNano int64     // of the calls with a known price, in nano-USD
	Unpriced int       // calls with an unknown price
}

// add counts a call.
func (u *Usage) add(t llm.Usage, costNano int64, known bool) {
	u.Calls++
	u.Tokens.Known = true
	u.Tokens.Input += t.Input
	u.Tokens.Output += t.Output
	u.Tokens.CacheRead += t.CacheRead
	u.Tokens.CacheWrite += t.CacheWrite
	u.Tokens.CacheWrite1h += t.CacheWrite1h
	u.Tokens.Reasoning += t.Reasoning
	u.CostNano += costNano
	if !known {
		u.Unpriced++
	}
}
