package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
)

// table holds prices by provider and model.
type table struct {
	source  string // "built-in", "file", "account"
	version string
	prices  map[modelKey]*Price
}

type modelKey struct{ provider, model string }

// tables are the prices for an account, in order of precedence.
type tables []*table

// The sources of prices.
const (
	sourceAccount = "account"
	sourceFile    = "file"
	sourceBuiltIn = "built-in"
)

// free is the provider whose models cost nothing: it is part of this module.
const free = "mock"

// dated matches the date at the end of a fixed version of a model:
// gpt-4o-2024-08-06, claude-sonnet-4-20250514.
var dated = regexp.MustCompile(`[-@](20[0-9]{2}-[01][0-9]-[0-3][0-9]|20[0-9]{2}[01][0-9][0-3][0-9])$`)

// names returns the names of a model in a table, in order of precedence.
func names(model string) []string {
	if end := dated.FindStringIndex(model); end != nil && end[0] > 0 {
		return []string{model, model[:end[0]]}
	}
	return []string{model}
}

// find looks a model up by its name, then by its name without a date. It does not
// guess.
func (t *table) find(provider, model string) *Price {
	for _, name := range names(model) {
		if p := t.prices[modelKey{provider, name}]; p != nil {
			return p
		}
	}
	return nil
}

// quote is a price with its source.
type quote struct {
	*Price
	source, version string
}

// find looks a model up in all tables. A model with SameAs has the prices of the
// first table that has the other model.
func (ts tables) find(provider, model string, hops int) (quote, bool) {
	if provider == free {
		return quote{&Price{Provider: provider, Model: model}, sourceBuiltIn, "0"}, true
	}
	for _, t := range ts {
		p := t.find(provider, model)
		switch {
		case p == nil:
			continue
		case p.SameAs == "":
			return quote{p, t.source, t.versionOf(p)}, true
		case hops == 0:
			return quote{}, false
		}
		other, name, _ := strings.Cut(p.SameAs, "/")
		q, ok := ts.find(other, name, hops-1)
		return q, ok
	}
	return quote{}, false
}

// versionOf returns the version of a price. An account's prices change one by one,
// so each has its own.
func (t *table) versionOf(p *Price) string {
	if t.version != "" {
		return t.version
	}
	text, _ := json.Marshal(p) // encoding a price cannot fail
	return versionOf(text)
}

// maxHops is the maximum length of a chain of SameAs.
const maxHops = 3

// priceTx returns the price of a model for an account.
func (l *Ledger) priceTx(ctx context.Context, tx database.Reader, account, provider, model string) (quote, bool, error) {
	if provider == free {
		q, ok := tables(nil).find(provider, model, 0)
		return q, ok, nil
	}
	own, err := l.ownTable(ctx, tx, account)
	if err != nil {
		return quote{}, false, err
	}
	q, ok := append(tables{own}, *l.prices.Load()...).find(provider, model, maxHops)
	return q, ok, nil
}

// ownTable returns the account's own prices. The table is small: see [maxPrices].
func (l *Ledger) ownTable(ctx context.Context, tx database.Reader, account string) (*table, error) {
	var texts []string
	if err := tx.SelectContext(ctx, &texts, `SELECT price FROM usage_price WHERE account = $1`, account); err != nil {
		return nil, err
	}
	t := &table{source: sourceAccount, prices: make(map[modelKey]*Price, len(texts))}
	for _, text := range texts {
		p := &Price{}
		if err := json.Unmarshal([]byte(text), p); err != nil {
			return nil, err
		}
		t.prices[modelKey{p.Provider, p.Model}] = p
	}
	return t, nil
}

// costOf returns the cost of a usage at a price, if there is one.
func costOf(q quote, ok bool, u llm.Usage) Cost {
	if !ok {
		return Cost{Status: CostUnpricedModel}
	}
	cost, status := q.cost(u)
	return Cost{Nano: cost, Known: status != CostUnpricedKind, Status: status, Source: q.source, Version: q.version}
}

// costTx computes the cost of a call.
func (l *Ledger) costTx(ctx context.Context, tx database.Reader, account string, o *outcome) (Cost, error) {
	switch {
	case o.free:
		return Cost{Known: true, Status: CostPriced}, nil
	case !o.usage.Known:
		return Cost{Status: CostNoUsage}, nil
	}
	q, ok, err := l.priceTx(ctx, tx, account, o.provider, o.model)
	if err != nil {
		return Cost{}, err
	}
	return costOf(q, ok, o.usage), nil
}

func (k modelKey) compare(o modelKey) int {
	return cmp.Or(strings.Compare(k.provider, o.provider), strings.Compare(k.model, o.model))
}
