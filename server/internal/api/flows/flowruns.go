package flows

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Runs answers what concerns the runs of flows and bots.
type Runs struct {
	Agents    *agent.Service
	Begin     func(ctx context.Context, account, flowID string, ref provider.ReferenceID, chatID string, input map[string]any) (runtime.Run, error)
	Bots      *botengine.Service
	Flows     *aiflow.Service
	Messaging *messaging.Service
	Usage     *usage.Ledger
}

// Register adds the operations of the resource.
func (a *Runs) Register(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	ended := []int{http.StatusNotFound, http.StatusConflict}
	const path = "/aiflow/run/{runId}"
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Start", Method: http.MethodPost, Path: "/aiflow/run", Status: http.StatusCreated, Summary: "Run a flow",
		About: "Runs the published version. Without `chatId` the flow cannot send messages. The default `reference` is the only one that the flow is bound to, or else the only one " +
			"that has the chat. Answers after the first turn, and after 10 seconds at the latest.",
		Errors: ended,
	}, auth.FlowsManage, a.startFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Runs", Method: http.MethodGet, Path: "/aiflow/run", Summary: "List runs of flows, newest first", Errors: missing,
	}, auth.FlowsManage, a.listFlowRuns)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Detail", Method: http.MethodGet, Path: path, Summary: "Show a run with its steps", Errors: missing,
	}, auth.FlowsManage, a.showFlowRun)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Cancel", Method: http.MethodPost, Path: path + "/cancel", Summary: "End a run", Errors: ended,
	}, auth.FlowsManage, a.cancelRun)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Retry", Method: http.MethodPost, Path: path + "/retry", Summary: "Retry a failed run at the step that failed",
		About: "Completed steps are not repeated. A call that must not be made twice, and whose outcome is unknown, is repeated only with `repeat`, with the same " +
			"`Idempotency-Key` as before. Answers 409 if the run did not fail with an error, or another run is active in its chat. Answers after the turn, and after 10 seconds at the latest.",
		Errors: ended,
	}, auth.FlowsManage, a.retryRun)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Event", Method: http.MethodPost, Path: path + "/event", Summary: "Send an event to a run that waits for it", Errors: ended,
	}, auth.FlowsManage, a.notifyRun)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Approve", Method: http.MethodPost, Path: path + "/approve", Summary: "Approve or refuse a tool call of an agent", Errors: ended, Login: true,
		About: "The approval is for the call in the step, with its arguments. Answers 404 if the run has no step with this id that waits for approval.",
	}, auth.FlowsManage, a.approveRun)
	a.registerBotRuns(api)
}

type startFlow struct {
	Body struct {
		FlowID    string               `json:"flowId" minLength:"1" maxLength:"64"`
		ChatID    *string              `json:"chatId,omitempty" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		Input     httpapi.ExactObject  `json:"input,omitempty" doc:"Available in expressions as start and input."`
		Reference provider.ReferenceID `json:"reference,omitempty" minimum:"1"`
	}
}

func (a *Runs) startFlow(ctx context.Context, c httpapi.Call, in *startFlow) (view.RunView, error) {
	b := in.Body
	chatID := ""
	if b.ChatID != nil {
		chatID = *b.ChatID
	}
	r, err := a.Begin(ctx, c.Account, b.FlowID, b.Reference, chatID, b.Input)
	return a.shownRun(ctx, c, r, err)
}

type flowRunFilter struct {
	FlowID string         `query:"flowId" maxLength:"64" doc:"Only runs of this flow. Runs of functions that it calls are listed only with parent."`
	Parent string         `query:"parent" maxLength:"64" doc:"Only runs that this run started, including those of functions."`
	Status runtime.Status `query:"status" enum:"running,waiting,completed,failed,cancelled"`
	Limit  int            `query:"limit" minimum:"1" maximum:"200" default:"20"`
	Cursor string         `query:"cursor" maxLength:"200" doc:"The next of the previous page."`
}

func (a *Runs) listFlowRuns(ctx context.Context, c httpapi.Call, in *flowRunFilter) (view.Page[view.RunView], error) {
	p, err := a.Flows.For(c.Account).Runs().List(ctx, aiflow.RunFilter{Flow: in.FlowID, Parent: in.Parent, Status: in.Status, List: aiflow.List{Limit: in.Limit, Cursor: in.Cursor}})
	return a.shownRuns(ctx, c, p, err)
}

func (a *Runs) showFlowRun(ctx context.Context, c httpapi.Call, in *runID) (runDetail, error) {
	d, err := a.Flows.For(c.Account).Runs().Get(ctx, in.ID)
	if err != nil {
		return runDetail{}, err
	}
	return a.viewDetail(ctx, c, d)
}

// runAction names a run to do something with; it takes no body, or {}.
type runAction struct {
	ID   string    `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body *struct{} `json:"body,omitempty"`
}

func (a *Runs) cancelRun(ctx context.Context, c httpapi.Call, in *runAction) (view.RunView, error) {
	r, err := a.Flows.For(c.Account).Runs().Cancel(ctx, in.ID)
	return a.shownRun(ctx, c, r, err)
}

type runRetry struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body *struct {
		Repeat bool `json:"repeat,omitempty" doc:"Whether to repeat a call that must not be made twice and whose outcome is unknown."`
	} `json:"body,omitempty"`
}

func (a *Runs) retryRun(ctx context.Context, c httpapi.Call, in *runRetry) (view.RunView, error) {
	r, err := a.Flows.For(c.Account).Runs().Retry(ctx, in.ID, in.Body != nil && in.Body.Repeat)
	return a.shownRun(ctx, c, r, err)
}

type runEvent struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body struct {
		Name string              `json:"name" minLength:"1" maxLength:"64" example:"paid"`
		Data httpapi.ExactObject `json:"data,omitempty"`
	}
}

func (a *Runs) notifyRun(ctx context.Context, c httpapi.Call, in *runEvent) (view.RunView, error) {
	r, err := a.Flows.For(c.Account).Runs().Event(ctx, in.ID, flow.Event{Name: in.Body.Name, Data: in.Body.Data})
	return a.shownRun(ctx, c, r, err)
}

type runApproval struct {
	ID   string `path:"runId" maxLength:"64" doc:"Id of the run."`
	Body struct {
		StepID   string `json:"stepId" minLength:"1" maxLength:"64"`
		Approved bool   `json:"approved"`
	}
}

func (a *Runs) approveRun(ctx context.Context, c httpapi.Call, in *runApproval) (view.RunView, error) {
	r, err := a.Flows.For(c.Account).Runs().Approve(ctx, in.ID, in.Body.StepID, in.Body.Approved)
	return a.shownRun(ctx, c, r, err)
}
