package bridge

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// FlowStarter begins runs of flows, for users and for agents.
type FlowStarter struct {
	Flows     *aiflow.Service
	Messaging *messaging.Service
}

// start begins a run, in a chat if chatID is not "".
func (s *FlowStarter) start(ctx context.Context, account string, as child, flowID string, ref provider.ReferenceID, chatID string, input map[string]any) (runtime.Run, error) {
	acc := s.Flows.For(account)
	if _, err := acc.Flows().Get(ctx, flowID); errors.Is(err, aiflow.ErrNotFound) {
		return runtime.Run{}, httpapi.NotFoundAt("body.flowId", "must be the id of a flow of this account")
	} else if err != nil {
		return runtime.Run{}, err
	}
	start := aiflow.Start{ID: as.id, Parent: as.parent, Flow: flowID, Input: input}
	if chatID != "" {
		reference, err := s.referenceOf(ctx, account, flowID, ref, chatID)
		if err != nil {
			return runtime.Run{}, err
		}
		key, id, err := s.Messaging.For(account).ChatKey(ctx, reference, chatID)
		if errors.Is(err, messaging.ErrNotFound) {
			err = httpapi.NotFoundAt("body.reference", "must be the id of a reference of this account")
		}
		if err != nil {
			return runtime.Run{}, err
		}
		start.Chat = view.RunChat(account, reference, key, id)
	} else if ref != 0 {
		if _, err := s.Messaging.For(account).References().Get(ctx, ref); errors.Is(err, messaging.ErrNotFound) {
			return runtime.Run{}, httpapi.NotFoundAt("body.reference", "must be the id of a reference of this account")
		} else if err != nil {
			return runtime.Run{}, err
		}
		start.Chat = runtime.Chat{Reference: int64(ref)}
	}
	return acc.Runs().Start(ctx, start)
}

// referenceOf returns the reference of a run in a chat.
func (s *FlowStarter) referenceOf(ctx context.Context, account, flowID string, ref provider.ReferenceID, chatID string) (provider.ReferenceID, error) {
	if ref != 0 {
		return ref, nil
	}
	bound, err := s.Flows.For(account).Bindings().List(ctx, flowID)
	if err != nil {
		return 0, err
	}
	if len(bound) == 1 {
		return provider.ReferenceID(bound[0].Reference), nil
	}
	refs, err := s.Messaging.For(account).References().WithChat(ctx, chatID)
	if err != nil {
		return 0, err
	}
	if len(refs) != 1 {
		return 0, httpapi.Invalid("body.reference", "is required: the flow is not bound to exactly one reference, and this chat does not exist in exactly one reference")
	}
	return refs[0], nil
}

// RunFlow begins a run for an agent and returns its state after its first turn.
func (s *FlowStarter) RunFlow(ctx context.Context, account string, run functions.FlowRun) (functions.FlowResult, error) {
	if httpapi.IsNested(ctx) {
		return functions.FlowResult{}, httpapi.NewProblem(httpapi.CodeForbidden, "a flow that is called as a tool cannot start another flow")
	}
	raw, err := json.Marshal(run.Input)
	if err != nil {
		return functions.FlowResult{}, httpapi.Invalid("body.input", "must have JSON values only")
	}
	var input httpapi.ExactObject
	if err := input.UnmarshalJSON(raw); err != nil {
		return functions.FlowResult{}, httpapi.Invalid("body.input", "must be an object")
	}
	started, err := s.start(ctx, account, childOf(ctx), run.FlowID, run.Reference, run.ChatID, input)
	if err != nil {
		return functions.FlowResult{}, err
	}
	return functions.FlowResult{RunID: started.ID, Status: string(started.Status), Output: outputObject(started.Output)}, nil
}

// outputObject returns the output of a run as an object. Any other value becomes
// its member "result".
func outputObject(raw json.RawMessage) map[string]json.RawMessage {
	if raw == nil {
		return nil
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil || out == nil {
		return map[string]json.RawMessage{"result": raw}
	}
	return out
}

// Begin begins a run for a user.
func (s *FlowStarter) Begin(ctx context.Context, account, flowID string, ref provider.ReferenceID, chatID string, input map[string]any) (runtime.Run, error) {
	return s.start(ctx, account, child{}, flowID, ref, chatID, input)
}
