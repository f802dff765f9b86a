package usage

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
)

// builtIn are prices of providers' own models, with their source and date.
//
//go:embed prices.json
var builtIn []byte

// builtInTable returns the built-in table. It is parsed when first needed.
var builtInTable = sync.OnceValue(func() *table {
	items, err := ParsePrices(builtIn)
	var about struct{ AsOf string }
	if err = errors.Join(err, json.Unmarshal(builtIn, &about)); err != nil {
		panic("usage: the built-in prices: " + err.Error())
	}
	return newTable(sourceBuiltIn, about.AsOf, items)
})

func newTable(source, version string, items []Price) *table {
	t := &table{source: source, version: version, prices: make(map[modelKey]*Price, len(items))}
	for i := range items {
		t.prices[modelKey{items[i].Provider, items[i].Model}] = &items[i]
	}
	return t
}

// ParsePrices parses a table of prices. It has one of two formats. One is {"items":
// [[Price], …]}, prices in USD per million tokens. The other is that of models.dev
// (api.json): {provider: {"models": {model: {"cost": {"input", "output",
// "cache_read", "cache_write", "reasoning", "tiers"}}}}}. From the latter, models
// without prices and models whose output is not only text are left out. The error
// is an [*Invalid].
func ParsePrices(b []byte) ([]Price, error) {
	var own struct{ Items *[]Price }
	if err := json.Unmarshal(b, &own); err != nil {
		return nil, &Invalid{Field: "prices", Message: "must be a JSON list of prices: " + validText(err)}
	}
	items, err := []Price(nil), error(nil)
	if own.Items != nil {
		items = *own.Items
	} else if items, err = parseModelsDev(b); err != nil {
		return nil, &Invalid{Field: "prices", Message: "must be a JSON list of prices: " + validText(err)}
	}
	if len(items) == 0 {
		return nil, &Invalid{Field: "prices", Message: "must have at least one price"}
	}
	return items, checkPrices(items, maxTable)
}

func validText(err error) string { return truncate(err.Error(), 200) }

// devRate is a price of models.dev, which may have rounding errors of binary
// fractions.
type devRate Rate

// UnmarshalJSON decodes USD per million tokens, rounded to the nearest nano-USD.
func (r *devRate) UnmarshalJSON(b []byte) error {
	v, ok := times(string(b), nano)
	if !ok {
		return errRate
	}
	half := new(big.Int).Rsh(v.Denom(), 1)
	whole := new(big.Int).Quo(half.Add(half, v.Num()), v.Denom())
	if !whole.IsInt64() || whole.Int64() > maxRate {
		return errRate
	}
	*r = devRate(whole.Int64())
	return nil
}

// devRates are the prices of a model in models.dev.
type devRates struct {
	Input      *devRate `json:"input"`
	Output     *devRate `json:"output"`
	CacheRead  *devRate `json:"cache_read"`
	CacheWrite *devRate `json:"cache_write"`
	Reasoning  *devRate `json:"reasoning"`
}

func (r devRates) rates() Rates {
	return Rates{
		or((*Rate)(r.Input), 0), or((*Rate)(r.Output), 0), (*Rate)(r.CacheRead), (*Rate)(r.CacheWrite), nil, (*Rate)(r.Reasoning),
	}
}

type devModel struct {
	Cost *struct {
		devRates
		Tiers []struct {
			Tier struct{ Size int64 }
			devRates
		}
	}
	Modalities struct{ Output []string }
}

func parseModelsDev(b []byte) ([]Price, error) {
	var doc map[string]struct{ Models map[string]devModel }
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	var items []Price
	for provider, p := range doc {
		for name, m := range p.Models {
			if m.Cost == nil || m.Cost.Input == nil || m.Cost.Output == nil || slices.ContainsFunc(m.Modalities.Output, func(s string) bool { return s != "text" }) {
				continue
			}
			price := Price{Provider: provider, Model: name, Rates: m.Cost.rates()}
			for _, t := range m.Cost.Tiers {
				price.Tiers = append(price.Tiers, Tier{t.Tier.Size, t.rates()})
			}
			slices.SortFunc(price.Tiers, func(a, b Tier) int { return int(a.Over - b.Over) })
			items = append(items, price)
		}
	}
	return items, nil
}

// Maximum numbers of prices.
const (
	maxTable  = 50_000
	maxPrices = 1_000 // of an account
	maxTiers  = 8
)

// checkPrices validates prices. The error is an [*Invalid].
func checkPrices(items []Price, limit int) error {
	if len(items) > limit {
		return &Invalid{Field: "items", Message: fmt.Sprintf("must be at most %d", limit)}
	}
	seen := make(map[modelKey]bool, len(items))
	for i := range items {
		p, at := &items[i], fmt.Sprintf("items[%d]", i)
		if bad := p.check(); bad != nil {
			return &Invalid{Field: at + bad.Field, Message: bad.Message}
		}
		key := modelKey{p.Provider, p.Model}
		if seen[key] {
			return &Invalid{Field: at + ".model", Message: "is given twice in the list"}
		}
		seen[key] = true
	}
	return nil
}

func (p *Price) check() *Invalid {
	switch {
	case p.Provider == "" || len(p.Provider) > 64 || !isText(p.Provider):
		return &Invalid{Field: ".provider", Message: "must be from 1 to 64 bytes of text"}
	case p.Model == "" || len(p.Model) > 200 || !isText(p.Model):
		return &Invalid{Field: ".model", Message: "must be from 1 to 200 bytes of text"}
	case len(p.Tiers) > maxTiers:
		return &Invalid{Field: ".tiers", Message: fmt.Sprintf("must be at most %d", maxTiers)}
	}
	if p.SameAs != "" {
		if provider, model, ok := strings.Cut(p.SameAs, "/"); !ok || provider == "" || model == "" || len(p.SameAs) > 265 || !isText(p.SameAs) {
			return &Invalid{Field: ".sameAs", Message: "must be provider/model"}
		}
		if p.Rates != (Rates{}) || len(p.Tiers) > 0 {
			return &Invalid{Field: ".sameAs", Message: "takes no prices beside it"}
		}
	}
	if bad := p.Rates.check(); bad != nil {
		return bad
	}
	over := int64(0)
	for i, t := range p.Tiers {
		at := fmt.Sprintf(".tiers[%d]", i)
		if t.Over <= over || t.Over > maxTokens {
			return &Invalid{Field: at + ".over", Message: "must be more than the one before, and at most 1000000000"}
		}
		if bad := t.check(); bad != nil {
			return &Invalid{Field: at + bad.Field, Message: bad.Message}
		}
		over = t.Over
	}
	return nil
}

func (r *Rates) check() *Invalid {
	for _, f := range []struct {
		name string
		rate *Rate
	}{
		{"input", &r.Input},
		{"output", &r.Output},
		{"cachedInput", r.CachedInput},
		{"cacheWrite", r.CacheWrite},
		{"cacheWrite1h", r.CacheWrite1h},
		{"reasoning", r.Reasoning},
	} {
		if f.rate != nil && (*f.rate < 0 || *f.rate > maxRate) {
			return &Invalid{Field: "." + f.name, Message: "must be from 0 to 100000"}
		}
	}
	return nil
}

// versionOf returns a hash of a table as its version.
func versionOf(b []byte) string {
	sum := sha256.Sum256(bytes.TrimSpace(b))
	return hex.EncodeToString(sum[:6])
}
