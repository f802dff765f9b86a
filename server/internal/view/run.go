package view

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/messaging"
)

// RunView is a run as lists and the stream show it.
type RunView struct {
	ID         string              `json:"id"`
	Engine     string              `json:"engine" enum:"botengine,aiflow"`
	FlowID     string              `json:"flowId" doc:"Id of the flow or the bot."`
	Version    int64               `json:"version" doc:"0 for a draft."`
	Parent     *string             `json:"parent" doc:"Id of the run that started it: an agent of that run called a function or run_flow."`
	Function   *string             `json:"function" doc:"Slug of the function that the run executes. Such a run belongs to the flow of its parent and is not in lists by flow."`
	Reference  *int64              `json:"reference"`
	ChatID     *string             `json:"chatId"`
	Status     runtime.Status      `json:"status" enum:"running,waiting,completed,failed,cancelled"`
	WaitingFor *string             `json:"waitingFor" enum:"reply,timer,event,handoff,effect,approval"`
	Input      Document            `json:"input"`
	Output     json.RawMessage     `json:"output" doc:"Any JSON value."`
	Error      *flow.Error         `json:"error"`
	Usage      *RunUsage           `json:"usage" doc:"Usage of language models; null on the stream."`
	StartedAt  messaging.UnixTime  `json:"startedAt"`
	EndedAt    *messaging.UnixTime `json:"endedAt"`
}

// NewRunView returns a run as lists and the stream show it, without its usage.
func NewRunView(r runtime.Run) RunView {
	v := RunView{
		ID: r.ID, Engine: r.Engine, FlowID: r.Owner, Version: r.Version, ChatID: OrNull(r.Chat.ID), Status: r.Status,
		WaitingFor: OrNull(string(r.WaitsFor)), Input: Document(r.Input), Output: r.Output, Error: r.Error,
		Parent: OrNull(r.Parent), Function: OrNull(r.Function), StartedAt: messaging.UnixTime{Time: r.StartedAt},
	}
	if r.Chat.Reference != 0 {
		v.Reference = &r.Chat.Reference
	}
	if v.Output == nil {
		v.Output = json.RawMessage("null")
	}
	if !r.EndedAt.IsZero() {
		v.EndedAt = &messaging.UnixTime{Time: r.EndedAt}
	}
	return v
}

// RunUsage is what the language models of a run took.
type RunUsage struct {
	Calls             int64     `json:"calls"`
	InputTokens       int64     `json:"inputTokens" doc:"Including cached tokens."`
	CachedInputTokens int64     `json:"cachedInputTokens"`
	OutputTokens      int64     `json:"outputTokens" doc:"Including reasoning."`
	ReasoningTokens   int64     `json:"reasoningTokens"`
	Cost              *MicroUSD `json:"cost" doc:"In micro-USD, for the calls whose cost is known; null if no cost is known."`
	UnpricedCalls     int64     `json:"unpricedCalls"`
}

// ProjectView is a project as it is shown.
type ProjectView struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	CreatedAt   messaging.UnixTime `json:"createdAt"`
	UpdatedAt   messaging.UnixTime `json:"updatedAt"`
}
