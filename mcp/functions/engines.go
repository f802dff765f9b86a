package functions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/provider"
)

func (s *service) engines(r *mcp.Registry) error {
	return errors.Join(
		add(r, mcp.Function[setBotActive, botActive]{
			Name: "set_bot_active", Title: "Switch a bot on or off", Permission: botsManage, Reference: "reference", Idempotent: true,
			Description: "Switches one bot on or off for all chats of its reference. Returns the new state (active) and the previous one (previousState). " +
				"To switch off all bots in one chat only, use toggle_bot.",
			Handler: s.setBotActive, Plan: s.planBot,
		}, nil),
		add(r, mcp.Function[runFlow, flowRun]{
			Name: "run_flow", Title: "Run a flow", Permission: flowsManage, Destructive: true,
			Description: "Starts a published flow, which may send messages and call other systems. Returns the run's id and its status after the first turn: " +
				"waiting (for an answer of the contact, or a time), completed with its output, failed, or running if it takes longer than 10 seconds. " +
				"A flow that sends messages needs chatId, and reference if it is bound to several references. Calling it twice runs it twice.",
			Handler: s.runFlow, Plan: s.planRun,
		}, nil),
	)
}

type setBotActive struct {
	referenceArgument
	BotID  string `json:"botId" minLength:"1" maxLength:"64" doc:"Id of the bot."`
	Active bool   `json:"active" doc:"true: the bot answers; false: it does not."`
}

type botActive struct {
	BotID         string               `json:"botId" doc:"Id of the bot."`
	Reference     provider.ReferenceID `json:"reference" doc:"Id of the reference."`
	Active        bool                 `json:"active" doc:"Whether the bot answers now."`
	PreviousState bool                 `json:"previousState" doc:"Whether the bot answered before."`
}

func (s *service) setBotActive(ctx context.Context, c mcp.Call, in setBotActive) (botActive, error) {
	if s.bots == nil {
		return botActive{}, unavailable("bots")
	}
	before, err := s.bots.SwitchBot(ctx, c.Account, in.Reference, in.BotID, in.Active)
	return botActive{in.BotID, in.Reference, in.Active, before}, err
}

func (s *service) planBot(ctx context.Context, c mcp.Call, in setBotActive) (any, error) {
	if s.bots == nil {
		return nil, unavailable("bots")
	}
	_, err := s.account(c).References().Get(ctx, in.Reference)
	return map[string]any{"botId": in.BotID, "reference": in.Reference, "active": in.Active}, err
}

type runFlow struct {
	FlowID    string                     `json:"flowId" minLength:"1" maxLength:"64" doc:"Id of the flow."`
	Reference provider.ReferenceID       `json:"reference,omitempty" minimum:"1" doc:"Id of the reference. Default: the only reference that the flow is bound to, or the only one that has this chat."`
	ChatID    string                     `json:"chatId,omitempty" minLength:"1" maxLength:"512" doc:"Id of the chat. Omit it if the flow sends nothing."`
	Input     map[string]json.RawMessage `json:"input,omitempty" private:"true" doc:"The flow's input: an object of values by name."`
}

type flowRun struct {
	RunID  string                     `json:"runId" doc:"Id of the run."`
	Status string                     `json:"status" enum:"running,waiting,completed,failed,cancelled" doc:"Status of the run."`
	Output map[string]json.RawMessage `json:"output" doc:"Output of the flow; empty until the run is completed."`
}

func (s *service) runFlow(ctx context.Context, c mcp.Call, in runFlow) (flowRun, error) {
	if s.flows == nil {
		return flowRun{}, unavailable("flows")
	}
	run, err := s.flows.RunFlow(ctx, c.Account, FlowRun(in))
	return flowRun(run), err
}

// planRun returns the run that would be started, if its reference belongs to the
// account.
func (s *service) planRun(ctx context.Context, c mcp.Call, in runFlow) (any, error) {
	if s.flows == nil {
		return nil, unavailable("flows")
	}
	if in.Reference != 0 {
		if _, err := s.account(c).References().Get(ctx, in.Reference); err != nil {
			return nil, err
		}
	}
	return in, nil
}
