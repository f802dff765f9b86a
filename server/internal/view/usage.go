package view

import (
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/provider"
)

// BudgetItem is a budget for calls of models.
type BudgetItem struct {
	Scope     usage.Scope          `json:"scope" enum:"account,project,flow,chat"`
	ProjectID string               `json:"projectId,omitempty" maxLength:"64" doc:"Id of a project. If absent, the budget applies to each project."`
	FlowID    string               `json:"flowId,omitempty" maxLength:"64" doc:"Id of a flow. If absent, the budget applies to each flow."`
	Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1" doc:"The reference of chatId."`
	ChatID    string               `json:"chatId,omitempty" maxLength:"512" doc:"Id of a chat. If absent, the budget applies to each chat."`
	Period    usage.Period         `json:"period" enum:"day,month,total" doc:"The period after which the budget starts again."`
	Timezone  string               `json:"timezone,omitempty" maxLength:"64" default:"UTC" doc:"IANA name of the time zone of days and months."`
	Cost      *MicroUSD            `json:"cost,omitempty" doc:"Maximum cost. Required without tokens."`
	Tokens    *int64               `json:"tokens,omitempty" minimum:"0" maximum:"1000000000000000000" doc:"Maximum number of input and output tokens together. Required without cost."`
	Unpriced  string               `json:"unpriced,omitempty" enum:"allow,refuse" default:"allow" doc:"What happens to calls of models whose price is unknown."`
}

// PriceRates are prices by kind of token.
type PriceRates struct {
	Input        *Rate `json:"input,omitempty" doc:"Required without sameAs."`
	Output       *Rate `json:"output,omitempty" doc:"Required without sameAs."`
	CachedInput  *Rate `json:"cachedInput,omitempty" doc:"Price of input that was read from a cache. If absent, cached input costs as much as other input, and the cost is an estimate."`
	CacheWrite   *Rate `json:"cacheWrite,omitempty" doc:"Price of input that was written to a cache. If absent, a call with such input has no cost."`
	CacheWrite1h *Rate `json:"cacheWrite1h,omitempty" doc:"Like cacheWrite, for input that is cached for one hour."`
	Reasoning    *Rate `json:"reasoning,omitempty" doc:"Price of output that is not shown. Default: the price of output."`
}

// UsageFilter chooses calls of models.
type UsageFilter struct {
	From      int64  `query:"from" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls that started at this time or later. 0: 30 days before to."`
	To        int64  `query:"to" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls that started before this time. 0: now."`
	Reference int64  `query:"reference" minimum:"0" doc:"Only calls in chats of this reference."`
	Chat      string `query:"chat" maxLength:"512" doc:"Only calls in the chat with this chatId."`
	Feature   string `query:"feature" maxLength:"64" doc:"Only calls for this feature: assistant, agent, extractor, draft, knowledge or another."`
	Flow      string `query:"flow" maxLength:"64" doc:"Only calls of this flow: an id."`
	Run       string `query:"run" maxLength:"64" doc:"Only calls of this run: an id."`
	User      string `query:"user" maxLength:"64" doc:"Only calls that this user requested: an id."`
	Provider  string `query:"provider" maxLength:"64" example:"openai"`
	Model     string `query:"model" maxLength:"200" doc:"The model that answered, as the provider names it."`
}

// UsageSum is what calls took together.
type UsageSum struct {
	Calls             int64    `json:"calls"`
	Errors            int64    `json:"errors"`
	InputTokens       int64    `json:"inputTokens" doc:"All input tokens, including cached ones."`
	CachedInputTokens int64    `json:"cachedInputTokens"`
	OutputTokens      int64    `json:"outputTokens" doc:"All output tokens, including reasoning."`
	ReasoningTokens   int64    `json:"reasoningTokens"`
	Cost              MicroUSD `json:"cost"`
	UnpricedCalls     int64    `json:"unpricedCalls" doc:"Number of calls without a cost."`
}
