package modelusage

import (
	"context"
	"fmt"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// pricingRoutes are the prices by which calls of models are counted.
func (a *API) pricingRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_Pricing", On: httpapi.OfAccount, Method: http.MethodGet, Path: "/aiusage/pricing", Summary: "Show the account's own prices of language models",
		About: "They take precedence over `sources`, which apply to all accounts: a file of the operator and the built-in table.",
	}, auth.UsageRead, a.showPricing)
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_SetPricing", Method: http.MethodPut, Path: "/aiusage/pricing", Summary: "Set the account's own prices of language models",
		About: "Replaces all of them. They apply to calls from now on; POST /aiusage/reprice applies them to earlier calls. A price is found by the model's name in " +
			"the provider's answer, or by that name without a date at its end (-2026-01-05, -20260105).",
		Login: true,
	}, auth.UsersManage, a.setPricing)
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_Reprice", Method: http.MethodPost, Path: "/aiusage/reprice", Summary: "Recalculate the cost of calls with the current prices",
		About: "`changed` counts the calls whose cost, or cost status, has changed.",
	}, auth.UsersManage, a.reprice)
}

type priceTier struct {
	Over int64 `json:"over" minimum:"1" maximum:"1000000000" doc:"Number of input tokens. A call with more input tokens has these prices for all of its tokens."`
	view.PriceRates
}

type priceItem struct {
	Provider string `json:"provider" minLength:"1" maxLength:"64" example:"openai"`
	Model    string `json:"model" minLength:"1" maxLength:"200" example:"gpt-5"`
	view.PriceRates
	Tiers  []priceTier `json:"tiers,omitempty" maxItems:"8" nullable:"false" doc:"Tiers, in ascending order of over."`
	SameAs string      `json:"sameAs,omitempty" maxLength:"265" doc:"Another model with the same prices, as provider/model. Cannot be combined with prices." example:"openai/gpt-5"`
}

type pricing struct {
	Items   []priceItem   `json:"items"`
	Sources []priceSource `json:"sources"`
}

type priceSource struct {
	Source  string `json:"source" doc:"file or built-in."`
	Version string `json:"version" example:"2026-07-02"`
	Models  int    `json:"models"`
}

func (a *API) showPricing(ctx context.Context, c httpapi.Call, _ *struct{}) (pricing, error) {
	items, err := a.Usage.For(c.Account).Pricing(ctx)
	v := pricing{make([]priceItem, len(items)), []priceSource{}}
	for i, p := range items {
		v.Items[i] = viewPrice(p)
	}
	for _, source := range a.Usage.Sources() {
		v.Sources = append(v.Sources, priceSource{source.Name, source.Version, source.Models})
	}
	return v, err
}

func viewPrice(p usage.Price) priceItem {
	v := priceItem{Provider: p.Provider, Model: p.Model, SameAs: p.SameAs}
	if p.SameAs != "" {
		return v
	}
	v.PriceRates = viewRates(p.Rates)
	for _, t := range p.Tiers {
		v.Tiers = append(v.Tiers, priceTier{t.Over, viewRates(t.Rates)})
	}
	return v
}

func viewRates(r usage.Rates) view.PriceRates {
	return view.PriceRates{
		Input: (*view.Rate)(&r.Input), Output: (*view.Rate)(&r.Output), CachedInput: (*view.Rate)(r.CachedInput),
		CacheWrite: (*view.Rate)(r.CacheWrite), CacheWrite1h: (*view.Rate)(r.CacheWrite1h), Reasoning: (*view.Rate)(r.Reasoning),
	}
}

type setPricing struct {
	Body struct {
		Items []priceItem `json:"items" maxItems:"1000" nullable:"false"`
	}
}

func (a *API) setPricing(ctx context.Context, c httpapi.Call, in *setPricing) (pricing, error) {
	items := make([]usage.Price, len(in.Body.Items))
	for i := range in.Body.Items {
		var err error
		if items[i], err = in.Body.Items[i].price(fmt.Sprintf("body.items[%d]", i)); err != nil {
			return pricing{}, err
		}
	}
	if err := a.Usage.For(c.Account).SetPricing(ctx, items); err != nil {
		return pricing{}, err
	}
	return a.showPricing(ctx, c, nil)
}

func (v *priceItem) price(at string) (usage.Price, error) {
	p := usage.Price{Provider: v.Provider, Model: v.Model, SameAs: v.SameAs}
	if v.SameAs != "" && v.PriceRates != (view.PriceRates{}) {
		return p, httpapi.Invalid(at+".sameAs", "cannot be combined with sameAs")
	}
	if v.SameAs != "" && len(v.Tiers) == 0 {
		return p, nil
	}
	var err error
	if p.Rates, err = ratesOf(&v.PriceRates, at); err != nil {
		return p, err
	}
	for i, t := range v.Tiers {
		rates, err := ratesOf(&t.PriceRates, fmt.Sprintf("%s.tiers[%d]", at, i))
		if err != nil {
			return p, err
		}
		p.Tiers = append(p.Tiers, usage.Tier{Over: t.Over, Rates: rates})
	}
	return p, nil
}

func ratesOf(v *view.PriceRates, at string) (usage.Rates, error) {
	switch {
	case v.Input == nil:
		return usage.Rates{}, httpapi.Invalid(at+".input", "is required")
	case v.Output == nil:
		return usage.Rates{}, httpapi.Invalid(at+".output", "is required")
	}
	return usage.Rates{
		Input: usage.Rate(*v.Input), Output: usage.Rate(*v.Output), CachedInput: (*usage.Rate)(v.CachedInput), CacheWrite: (*usage.Rate)(v.CacheWrite),
		CacheWrite1h: (*usage.Rate)(v.CacheWrite1h), Reasoning: (*usage.Rate)(v.Reasoning),
	}, nil
}

type reprice struct {
	Body struct {
		From int64 `json:"from,omitempty" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls that started at this time or later. 0: no limit."`
		To   int64 `json:"to,omitempty" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls that started before this time. 0: no limit."`
	}
}

type repriced struct {
	Changed int `json:"changed"`
}

func (a *API) reprice(ctx context.Context, c httpapi.Call, in *reprice) (repriced, error) {
	n, err := a.Usage.For(c.Account).Reprice(ctx, view.Instant(in.Body.From), view.Instant(in.Body.To))
	return repriced{n}, err
}
