package modelusage

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// API answers what language models took, and what they may take.
type API struct {
	Usage     *usage.Ledger
	Flows     *aiflow.Service
	Messaging *messaging.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	a.usageRoutes(api)
	a.pricingRoutes(api)
	a.budgetRoutes(api)
}

// usageRoutes show what models were used and what that cost.
func (a *API) usageRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_Rollup", On: httpapi.Listing("query.reference"), Method: http.MethodGet, Path: "/aiusage/rollup", Summary: "Sum up calls of language models",
		About: "Groups by one or two keys. Hours, days, weeks and months are in `timezone`; there is a row for each one between `from` and `to` and each value of the " +
			"other group, in order of time. Other groups are sorted by cost, highest first. There are at most 5,000 rows; `truncated` is true if some are left out. " +
			"`total` includes all calls. `cost` includes only calls with a known cost: it is a lower bound if `unpricedCalls` is not 0.",
	}, auth.UsageRead, a.usageRollup)
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_Detail", On: httpapi.Listing("query.reference"), Method: http.MethodGet, Path: "/aiusage/detail", Summary: "List calls of language models, newest first",
		About: "A call is listed from before it is made. Prompts and answers are not stored.",
	}, auth.UsageRead, a.usageDetail)
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_MissingPricing", On: httpapi.OfAccount, Method: http.MethodGet, Path: "/aiusage/missing-pricing", Summary: "List used models without a price",
		About: "Sorted by number of calls, highest first. Set prices with PUT /aiusage/pricing, then apply them with POST /aiusage/reprice.",
	}, auth.UsageRead, a.missingPricing)
}

// Problem translates the errors of package usage.
func Problem(err error) *httpapi.Problem {
	var over *usage.Exceeded
	switch {
	case errors.As(err, &over):
		return httpapi.NewProblem(httpapi.CodeBudgetExceeded, over.Error())
	}
	return nil
}

// usageFilter reads a filter. With a reference a chat may be named by any of
// its ids.
func (a *API) usageFilter(ctx context.Context, c httpapi.Call, f *view.UsageFilter) (usage.Filter, error) {
	out := usage.Filter{
		From: view.Instant(f.From), To: view.Instant(f.To), Reference: f.Reference, ChatID: f.Chat, Feature: f.Feature, Flow: f.Flow, Run: f.Run,
		User: f.User, Provider: f.Provider, Model: f.Model, Among: c.Only,
	}
	if f.Chat == "" || f.Reference == 0 {
		return out, nil
	}
	chat, err := a.Messaging.For(c.Account).Chat(ctx, provider.ReferenceID(f.Reference), f.Chat)
	switch {
	case err == nil:
		out.ChatID = chat.ID
	case !errors.Is(err, messaging.ErrNotFound): // calls may outlive their chat
		return out, httpapi.Relocate(err, "body.chatId", "query.chat")
	}
	return out, nil
}

type rollupInput struct {
	view.UsageFilter
	GroupBy  []string `query:"groupBy" default:"day" minItems:"1" maxItems:"2" enum:"hour,day,week,month,model,provider,reference,feature,flow,run,chat,user" doc:"One or two groups, separated by a comma."`
	Timezone string   `query:"timezone" default:"UTC" maxLength:"64" doc:"IANA name of the time zone." example:"Europe/Berlin"`
}

func viewSum(s usage.Sum) view.UsageSum {
	return view.UsageSum{
		Calls: s.Calls, Errors: s.Errors, InputTokens: s.Input, CachedInputTokens: s.Cached, OutputTokens: s.Output, ReasoningTokens: s.Reasoning,
		Cost: view.MicroUSD(s.Cost), UnpricedCalls: s.Unpriced,
	}
}

type usageRow struct {
	Key  string            `json:"key" doc:"The keys, separated by |." example:"2026-07-02|gpt-5"`
	Keys map[string]string `json:"keys" doc:"The value of each group: an hour as 2026-07-02T13:00:00+02:00, a day as 2026-07-02, an ISO 8601 week as 2026-W27, a month as 2026-07, a chat as 7/ana (reference and chatId). Empty if the calls have no value."`
	view.UsageSum
}

type usageRollup struct {
	Items     []usageRow    `json:"items"`
	Total     view.UsageSum `json:"total"`
	Truncated bool          `json:"truncated"`
}

func (a *API) usageRollup(ctx context.Context, c httpapi.Call, in *rollupInput) (usageRollup, error) {
	f, err := a.usageFilter(ctx, c, &in.UsageFilter)
	if err != nil {
		return usageRollup{}, err
	}
	r, err := a.Usage.For(c.Account).Rollup(ctx, usage.Report{Filter: f, GroupBy: in.GroupBy, Timezone: in.Timezone})
	v := usageRollup{Items: make([]usageRow, len(r.Items)), Total: viewSum(r.Total), Truncated: r.Truncated}
	for i, row := range r.Items {
		keys := make(map[string]string, len(row.Keys))
		for j, key := range row.Keys {
			keys[in.GroupBy[j]] = key
		}
		v.Items[i] = usageRow{strings.Join(row.Keys, "|"), keys, viewSum(row.Sum)}
	}
	return v, httpapi.InQuery(err)
}

type detailInput struct {
	view.UsageFilter

	httpapi.PageInput
}

// usageCall is a call of a model.
type usageCall struct {
	ID                string             `json:"id"`
	At                messaging.UnixTime `json:"at" doc:"Time when the call started."`
	Feature           string             `json:"feature" example:"assistant"`
	Reference         *int64             `json:"reference"`
	ChatID            *string            `json:"chatId" doc:"null if there is no chat, or it was erased."`
	ProjectID         *string            `json:"projectId"`
	FlowID            *string            `json:"flowId"`
	RunID             *string            `json:"runId"`
	UserID            *string            `json:"userId" doc:"Id of the user who requested it; null if a contact or the server did."`
	Provider          string             `json:"provider"`
	Model             string             `json:"model" doc:"The model that answered. While the call is in progress, the model that was asked."`
	InputTokens       int64              `json:"inputTokens" doc:"All input tokens, including cached ones."`
	CachedInputTokens int64              `json:"cachedInputTokens"`
	OutputTokens      int64              `json:"outputTokens" doc:"All output tokens, including reasoning."`
	ReasoningTokens   int64              `json:"reasoningTokens"`
	Cost              *view.MicroUSD     `json:"cost"`
	CostStatus        usage.CostStatus   `json:"costStatus" doc:"priced; estimated: an upper bound, because the price of cached input is unknown; unpriced_model, unpriced_usage_kind: a price is missing; no_usage: the provider did not report the usage; unknown: the call has not ended, or its end was not recorded. More values may be added." example:"priced"`
	PriceSource       *string            `json:"priceSource" doc:"account, file or built-in."`
	PriceVersion      *string            `json:"priceVersion"`
	ReservedTokens    int64              `json:"reservedTokens" doc:"Tokens that budgets count for a call without reported usage; otherwise 0."`
	DurationMS        float64            `json:"durationMs" doc:"Milliseconds; 0 while the call is in progress."`
	Error             *string            `json:"error" doc:"An error code; null if the call succeeded or is in progress." example:"llm.timeout"`
}

func viewUsageCall(r usage.Record) usageCall {
	v := usageCall{
		ID: r.ID, At: messaging.UnixTime{Time: r.At}, Feature: r.Feature, ChatID: view.OrNull(r.ChatID), ProjectID: view.OrNull(r.Project), FlowID: view.OrNull(r.Flow),
		RunID: view.OrNull(r.Run), UserID: view.OrNull(r.User), Provider: r.Provider, Model: r.Model, InputTokens: r.Input, CachedInputTokens: r.Cached,
		OutputTokens: r.Output, ReasoningTokens: r.Reasoning, CostStatus: r.Cost.Status, PriceSource: view.OrNull(r.Cost.Source),
		PriceVersion: view.OrNull(r.Cost.Version), ReservedTokens: r.Reserved, DurationMS: float64(r.Duration.Microseconds()) / 1e3, Error: view.OrNull(r.Error),
	}
	if r.Reference != 0 {
		v.Reference = &r.Reference
	}
	if r.Cost.Known {
		cost := view.MicroUSD(r.Cost.Nano)
		v.Cost = &cost
	}
	return v
}

func (a *API) usageDetail(ctx context.Context, c httpapi.Call, in *detailInput) (view.Page[usageCall], error) {
	f, err := a.usageFilter(ctx, c, &in.UsageFilter)
	if err != nil {
		return view.Page[usageCall]{}, err
	}
	p, err := a.Usage.For(c.Account).Detail(ctx, f, in.List())
	return view.PageOf(p, viewUsageCall), httpapi.InQuery(err)
}

type missingPrice struct {
	Provider     string             `json:"provider"`
	Model        string             `json:"model"`
	Calls        int64              `json:"calls"`
	InputTokens  int64              `json:"inputTokens"`
	OutputTokens int64              `json:"outputTokens"`
	FirstSeen    messaging.UnixTime `json:"firstSeen"`
	LastSeen     messaging.UnixTime `json:"lastSeen"`
}

type missingPrices struct {
	Items []missingPrice `json:"items"`
}

func (a *API) missingPricing(ctx context.Context, c httpapi.Call, _ *struct{}) (missingPrices, error) {
	ms, err := a.Usage.For(c.Account).MissingPricing(ctx)
	v := missingPrices{make([]missingPrice, len(ms))}
	for i, m := range ms {
		v.Items[i] = missingPrice{m.Provider, m.Model, m.Calls, m.Input, m.Output, messaging.UnixTime{Time: m.FirstSeen}, messaging.UnixTime{Time: m.LastSeen}}
	}
	return v, err
}
