package view

import (
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/provider"
)

// BudgetItem is a budget for calls of models.
type BudgetItem struct {
	Scope     usage.Scope          `json:"scope" enum:"account,project,flow,chat"`
	ProjectID string               `json:"projectId,omitempty" maxLength:"64" doc:"Of one project; without it each."`
	FlowID    string               `json:"flowId,omitempty" maxLength:"64" doc:"Of one flow; without it each."`
	Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1" doc:"The line of chatId."`
	ChatID    string               `json:"chatId,omitempty" maxLength:"512" doc:"Of one chat; without it each."`
	Period    usage.Period         `json:"period" enum:"day,month,total" doc:"When it begins anew."`
	Timezone  string               `json:"timezone,omitempty" maxLength:"64" default:"UTC" doc:"IANA name: whose days and months."`
	Cost      *MicroUSD            `json:"cost,omitempty" doc:"The most that calls may cost. At least one of cost and tokens is there."`
	Tokens    *int64               `json:"tokens,omitempty" minimum:"0" maximum:"1000000000000000000" doc:"The most tokens, of input and output together."`
	Unpriced  string               `json:"unpriced,omitempty" enum:"allow,refuse" default:"allow" doc:"What becomes of calls of models whose price is not known."`
}

// PriceRates are prices by kind of token.
type PriceRates struct {
	Input        *Rate `json:"input,omitempty" doc:"Required, unless there is sameAs."`
	Output       *Rate `json:"output,omitempty" doc:"Required, unless there is sameAs."`
	CachedInput  *Rate `json:"cachedInput,omitempty" doc:"Input that was read from a cache. Without it such input counts like any other, and the cost is an estimate."`
	CacheWrite   *Rate `json:"cacheWrite,omitempty" doc:"Input that was written to a cache. Without it a call with such input has no cost."`
	CacheWrite1h *Rate `json:"cacheWrite1h,omitempty" doc:"As cacheWrite, of what is kept for an hour."`
	Reasoning    *Rate `json:"reasoning,omitempty" doc:"Output that is not shown; without it as output."`
}

// UsageFilter chooses calls of models.
type UsageFilter struct {
	From      int64  `query:"from" minimum:"0" maximum:"253402300799" doc:"UNIX seconds: begun then or later; 0: 30 days before to."`
	To        int64  `query:"to" minimum:"0" maximum:"253402300799" doc:"UNIX seconds: begun before; 0: now."`
	Reference int64  `query:"reference" minimum:"0" doc:"Only calls in chats of this line."`
	Chat      string `query:"chat" maxLength:"512" doc:"Only calls in this chat, by its chatId."`
	Feature   string `query:"feature" maxLength:"64" doc:"Only calls for this: assistant, agent, extractor, draft, knowledge, …"`
	Flow      string `query:"flow" maxLength:"64" doc:"Only calls of this flow, by id."`
	Run       string `query:"run" maxLength:"64" doc:"Only calls of this run, by id."`
	User      string `query:"user" maxLength:"64" doc:"Only calls that this user asked for, by id."`
	Provider  string `query:"provider" maxLength:"64" example:"openai"`
	Model     string `query:"model" maxLength:"200" doc:"The model that answered, as the provider calls it."`
}

// UsageSum is what calls took together.
type UsageSum struct {
	Calls             int64    `json:"calls"`
	Errors            int64    `json:"errors"`
	InputTokens       int64    `json:"inputTokens" doc:"All of the input, cached or not."`
	CachedInputTokens int64    `json:"cachedInputTokens"`
	OutputTokens      int64    `json:"outputTokens" doc:"All of the output, with reasoning."`
	ReasoningTokens   int64    `json:"reasoningTokens"`
	Cost              MicroUSD `json:"cost"`
	UnpricedCalls     int64    `json:"unpricedCalls" doc:"Calls without a cost."`
}
