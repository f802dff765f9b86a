package flows

import (
	"context"
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// agentEntry is something that an agent of a run did.
type agentEntry struct {
	Session      string              `json:"session" doc:"Id of one visit to the node."`
	Seq          int64               `json:"seq" doc:"Number within the session, from 1."`
	Node         string              `json:"node"`
	Kind         string              `json:"kind" enum:"turn,tool,told" doc:"turn: an answer of the model; tool: a call of a tool; told: a message to the model."`
	Status       string              `json:"status" enum:"asked,approved,denied,started,done,failed,unknown" doc:"asked: it waits for approval; unknown: its outcome is unknown."`
	Text         string              `json:"text" doc:"Text of the answer or message. Like result, it has at most 2 KiB; a longer text is shortened in the middle."`
	Calls        []string            `json:"calls" nullable:"false" doc:"Names of the tools that the answer calls."`
	Tool         *string             `json:"tool" doc:"Name of the tool, as in flows."`
	Arguments    json.RawMessage     `json:"arguments" doc:"An object; null if there are no arguments or they exceed 2 KiB."`
	Result       string              `json:"result"`
	Size         int                 `json:"size" doc:"Size of the complete result, in bytes."`
	IsError      bool                `json:"isError" doc:"Whether the call failed or was not made."`
	Model        *string             `json:"model" example:"openai/gpt-5"`
	InputTokens  int64               `json:"inputTokens"`
	OutputTokens int64               `json:"outputTokens"`
	Cost         *view.MicroUSD      `json:"cost"`
	Stop         *string             `json:"stop" doc:"The reason why the model stopped."`
	Error        *string             `json:"error" doc:"Error code of a failed attempt."`
	StartedAt    *messaging.UnixTime `json:"startedAt"`
	EndedAt      *messaging.UnixTime `json:"endedAt"`
}

// agentEntries are what the agents of a run did. Bots have none.
func (a *Runs) agentEntries(ctx context.Context, r runtime.Run) ([]agentEntry, error) {
	out := []agentEntry{}
	if r.Engine != flow.EngineFlow {
		return out, nil
	}
	entries, err := a.Agents.For(r.Chat.Account).Entries(ctx, r.ID, "")
	for _, e := range entries {
		out = append(out, viewEntry(e))
	}
	return out, err
}

func viewEntry(e agent.Entry) agentEntry {
	v := agentEntry{
		Session: e.Session, Seq: e.Seq, Node: e.Node, Kind: e.Kind, Status: e.Status, Text: e.Text, Calls: e.Calls, Tool: view.OrNull(e.Tool),
		Arguments: e.Arguments, Result: e.Result, Size: e.Size, IsError: e.IsError, Model: view.OrNull(e.Model),
		InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output, Stop: view.OrNull(e.Stop), Error: view.OrNull(e.Error),
	}
	if v.Calls == nil {
		v.Calls = []string{}
	}
	if v.Arguments == nil {
		v.Arguments = json.RawMessage("null")
	}
	if e.Cost != nil {
		cost := view.MicroUSD(*e.Cost)
		v.Cost = &cost
	}
	if !e.StartedAt.IsZero() {
		v.StartedAt = &messaging.UnixTime{Time: e.StartedAt}
	}
	if !e.DoneAt.IsZero() {
		v.EndedAt = &messaging.UnixTime{Time: e.DoneAt}
	}
	return v
}
