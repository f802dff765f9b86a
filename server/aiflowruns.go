package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/mcp/functions"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// flowRunRoutes are the runs of flows.
func (s *Server) flowRunRoutes(a *httpapi.API) {
	missing := []int{http.StatusNotFound}
	ended := []int{http.StatusNotFound, http.StatusConflict}
	const path = "/aiflow/run/{runId}"
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Start", Method: http.MethodPost, Path: "/aiflow/run", Status: http.StatusCreated, Summary: "Run a flow",
		About: "What is published of it. Without `chatId` it sends nothing. Without `reference` it is the one line that the flow is bound to, else the one " +
			"that has the chat. Answers after the first turn, at the latest after 10 s.",
		Errors: ended,
	}, auth.FlowsManage, s.startFlow)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Runs", Method: http.MethodGet, Path: "/aiflow/run", Summary: "List runs of flows, the newest first", Errors: missing,
	}, auth.FlowsManage, s.listFlowRuns)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Detail", Method: http.MethodGet, Path: path, Summary: "Show a run with its steps", Errors: missing,
	}, auth.FlowsManage, s.showFlowRun)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Cancel", Method: http.MethodPost, Path: path + "/cancel", Summary: "End a run", Errors: ended,
	}, auth.FlowsManage, s.cancelRun)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Retry", Method: http.MethodPost, Path: path + "/retry", Summary: "Have a failed run go on with the step that failed",
		About: "What it did before stays done. A call that must not be made twice, and may have been made, is made again only with `repeat`; it has the " +
			"`Idempotency-Key` of its first attempt. 409 if the run did not fail by an error, or another one is active in its chat. Answers after the turn, at the latest after 10 s.",
		Errors: ended,
	}, auth.FlowsManage, s.retryRun)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Event", Method: http.MethodPost, Path: path + "/event", Summary: "Give a run an event that it waits for", Errors: ended,
	}, auth.FlowsManage, s.tellRun)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Approve", Method: http.MethodPost, Path: path + "/approve", Summary: "Let an agent use a tool, or not", Errors: ended, Login: true,
		About: "The consent is for the call that the step shows, with these arguments. 404 if the run has no step of this id that asks.",
	}, auth.FlowsManage, s.approveRun)
}

type startFlow struct {
	Body struct {
		FlowID    string               `json:"flowId" minLength:"1" maxLength:"64"`
		ChatID    *string              `json:"chatId,omitempty" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		Input     httpapi.ExactObject  `json:"input,omitempty" doc:"What expressions see as start and input."`
		Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1"`
	}
}

func (s *Server) startFlow(ctx context.Context, c httpapi.Call, in *startFlow) (view.RunView, error) {
	b := in.Body
	chatID := ""
	if b.ChatID != nil {
		chatID = *b.ChatID
	}
	r, err := s.runFlow(ctx, c.Account, child{}, b.FlowID, b.Reference, chatID, b.Input)
	return s.shownRun(ctx, c, r, err)
}

// runFlow begins a run, in a chat if chatID is not "".
func (s *Server) runFlow(ctx context.Context, account string, as child, flowID string, ref provider.ReferenceID, chatID string, input map[string]any) (runtime.Run, error) {
	acc := s.Flows.For(account)
	if _, err := acc.Flow(ctx, flowID); errors.Is(err, aiflow.ErrNotFound) {
		return runtime.Run{}, httpapi.NotFoundAt("body.flowId", "names no flow")
	} else if err != nil {
		return runtime.Run{}, err
	}
	start := aiflow.Start{ID: as.id, Parent: as.parent, Flow: flowID, Input: input}
	if chatID != "" {
		line, err := s.lineOf(ctx, account, flowID, ref, chatID)
		if err != nil {
			return runtime.Run{}, err
		}
		key, id, err := s.Messaging.For(account).ChatKey(ctx, line, chatID)
		if errors.Is(err, messaging.ErrNotFound) {
			err = httpapi.NotFoundAt("body.reference", "names no line")
		}
		if err != nil {
			return runtime.Run{}, err
		}
		start.Chat = chatOf(account, line, key, id)
	} else if ref != 0 {
		if _, err := s.Messaging.For(account).Reference(ctx, ref); errors.Is(err, messaging.ErrNotFound) {
			return runtime.Run{}, httpapi.NotFoundAt("body.reference", "names no line")
		} else if err != nil {
			return runtime.Run{}, err
		}
		start.Chat = runtime.Chat{Reference: int64(ref)}
	}
	return acc.Start(ctx, start)
}

// lineOf is the line of a run in a chat.
func (s *Server) lineOf(ctx context.Context, account, flowID string, ref provider.ReferenceID, chatID string) (provider.ReferenceID, error) {
	if ref != 0 {
		return ref, nil
	}
	bound, err := s.Flows.For(account).Bindings(ctx, flowID)
	if err != nil {
		return 0, err
	}
	if len(bound) == 1 {
		return provider.ReferenceID(bound[0].Reference), nil
	}
	lines, err := s.Messaging.For(account).ReferencesWithChat(ctx, chatID)
	if err != nil {
		return 0, err
	}
	if len(lines) != 1 {
		return 0, httpapi.Invalid("body.reference", "is needed: the flow is not bound to one line, and not one line alone has this chat")
	}
	return lines[0], nil
}

type flowRunFilter struct {
	FlowID string         `query:"flowId" maxLength:"64" doc:"Only runs of this flow. Those of functions that it calls are left out, unless parent is given."`
	Parent string         `query:"parent" maxLength:"64" doc:"Only runs that this run began, those of functions included."`
	Status runtime.Status `query:"status" enum:"running,waiting,completed,failed,cancelled"`
	Limit  int            `query:"limit" minimum:"1" maximum:"200" default:"20"`
	Cursor string         `query:"cursor" maxLength:"200" doc:"next of the page before."`
}

func (s *Server) listFlowRuns(ctx context.Context, c httpapi.Call, in *flowRunFilter) (messaging.Page[view.RunView], error) {
	p, err := s.flows(c).Runs(ctx, aiflow.RunFilter{Flow: in.FlowID, Parent: in.Parent, Status: in.Status, List: aiflow.List{Limit: in.Limit, Cursor: in.Cursor}})
	return s.shownRuns(ctx, c, p.Items, p.Next, err)
}

func (s *Server) showFlowRun(ctx context.Context, c httpapi.Call, in *runID) (runDetail, error) {
	d, err := s.flows(c).Detail(ctx, in.ID)
	if err != nil {
		return runDetail{}, err
	}
	return s.viewDetail(ctx, c, d)
}

// runAction names a run to do something with; it takes no body, or {}.
type runAction struct {
	ID   string    `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body *struct{} `json:"body,omitempty"`
}

func (s *Server) cancelRun(ctx context.Context, c httpapi.Call, in *runAction) (view.RunView, error) {
	r, err := s.flows(c).Cancel(ctx, in.ID)
	return s.shownRun(ctx, c, r, err)
}

type runRetry struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body *struct {
		Repeat bool `json:"repeat,omitempty" doc:"Make a call again that must not be made twice, and may have been made."`
	} `json:"body,omitempty"`
}

func (s *Server) retryRun(ctx context.Context, c httpapi.Call, in *runRetry) (view.RunView, error) {
	r, err := s.flows(c).Retry(ctx, in.ID, in.Body != nil && in.Body.Repeat)
	return s.shownRun(ctx, c, r, err)
}

type runEvent struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body struct {
		Name string              `json:"name" minLength:"1" maxLength:"64" example:"paid"`
		Data httpapi.ExactObject `json:"data,omitempty"`
	}
}

func (s *Server) tellRun(ctx context.Context, c httpapi.Call, in *runEvent) (view.RunView, error) {
	r, err := s.flows(c).Event(ctx, in.ID, flow.Event{Name: in.Body.Name, Data: in.Body.Data})
	return s.shownRun(ctx, c, r, err)
}

type runApproval struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body struct {
		StepID   string `json:"stepId" minLength:"1" maxLength:"64"`
		Approved bool   `json:"approved"`
	}
}

func (s *Server) approveRun(ctx context.Context, c httpapi.Call, in *runApproval) (view.RunView, error) {
	r, err := s.flows(c).Approve(ctx, in.ID, in.Body.StepID, in.Body.Approved)
	return s.shownRun(ctx, c, r, err)
}

// flowRunner lets agents run flows.
type flowRunner struct{ s *Server }

// RunFlow begins a run and returns how it stands after its first turn.
func (r flowRunner) RunFlow(ctx context.Context, account string, run functions.FlowRun) (functions.FlowResult, error) {
	if isNested(ctx) {
		return functions.FlowResult{}, httpapi.NewProblem(httpapi.CodeForbidden, "what a flow calls as a tool may begin no flow")
	}
	raw, err := json.Marshal(run.Input)
	if err != nil {
		return functions.FlowResult{}, httpapi.Invalid("body.input", "must hold JSON values")
	}
	var input httpapi.ExactObject
	if err := input.UnmarshalJSON(raw); err != nil {
		return functions.FlowResult{}, httpapi.Invalid("body.input", "must be an object")
	}
	begun, err := r.s.runFlow(ctx, account, childOf(ctx), run.FlowID, run.Reference, run.ChatID, input)
	if err != nil {
		return functions.FlowResult{}, err
	}
	return functions.FlowResult{RunID: begun.ID, Status: string(begun.Status), Output: outputObject(begun.Output)}, nil
}

// outputObject is what a run gave as an object: what is none stands under
// "result".
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
