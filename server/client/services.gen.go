// Code generated from the OpenAPI document; DO NOT EDIT.

package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
)

// services are what the API consists of.
type services struct {
	Aiflow     *Aiflow     // Projects, flows, their versions and runs.
	Auth       *Auth       // Users, their permissions and their tokens.
	Billing    *Billing    // Subscriptions of accounts.
	Botengine  *Botengine  // Bots, which have one flow each.
	Credential *Credential // Secrets for flows and foreign MCP servers.
	Extractor  *Extractor  // Extractors, which find values in messages.
	Knowledge  *Knowledge  // Files that assistants use for answers.
	MCP        *MCP        // Functions that AI agents call.
	Messaging  *Messaging  // References, their sessions, chats, messages, groups and templates.
	Remote     *Remote     // Foreign MCP servers whose tools agents may use.
	Sandbox    *Sandbox    // Simulated contacts of a sandbox reference.
	Server     *Server     // The server and the account.
	Usage      *Usage      // Usage and cost of language models.
	Webhooks   *Webhooks   // Webhooks and their deliveries.
}

func (c *Client) bind() {
	c.services = services{
		Aiflow:     &Aiflow{c},
		Auth:       &Auth{c},
		Billing:    &Billing{c},
		Botengine:  &Botengine{c},
		Credential: &Credential{c},
		Extractor:  &Extractor{c},
		Knowledge:  &Knowledge{c},
		MCP:        &MCP{c},
		Messaging:  &Messaging{c},
		Remote:     &Remote{c},
		Sandbox:    &Sandbox{c},
		Server:     &Server{c},
		Usage:      &Usage{c},
		Webhooks:   &Webhooks{c},
	}
}

// Aiflow: Projects, flows, their versions and runs.
type Aiflow struct{ c *Client }

// Approve is POST /aiflow/run/{runId}/approve: Approve or refuse a tool call of an agent.
//
// The approval is for the call in the step, with its arguments. Answers 404 if the run has no step
// with this id that waits for approval.
//
// Needs the permission `flows.manage`.
//
// A scoped token is refused.
//
// A step that has been answered does not change. Answers 409 if the run has ended.
func (s *Aiflow) Approve(ctx context.Context, runID string, in ApproveRequest) (*Run, error) {
	r := request{id: "Aiflow_Approve", method: http.MethodPost, path: "/aiflow/run/{runId}/approve", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Bind is PUT /aiflow/flow/{flowId}/bind: Bind a flow to a reference, or unbind it.
//
// The trigger node of the published version says which events start the flow. A function cannot be
// bound.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) Bind(ctx context.Context, flowID string, in BindRequest) (*Page[Binding], error) {
	r := request{id: "Aiflow_Bind", method: http.MethodPut, path: "/aiflow/flow/{flowId}/bind", body: in}
	r.inPath("flowId", flowID)
	return answer[Page[Binding]](ctx, s.c, &r)
}

// Bindings is GET /aiflow/flow/{flowId}/bind: List the references that a flow is bound to.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Bindings(ctx context.Context, flowID string) (*Page[Binding], error) {
	r := request{id: "Aiflow_Bindings", method: http.MethodGet, path: "/aiflow/flow/{flowId}/bind"}
	r.inPath("flowId", flowID)
	return answer[Page[Binding]](ctx, s.c, &r)
}

// Cancel is POST /aiflow/run/{runId}/cancel: End a run.
//
// Needs the permission `flows.manage`.
//
// Answers 409 if the run has ended.
func (s *Aiflow) Cancel(ctx context.Context, runID string, in CancelRequest) (*Run, error) {
	r := request{id: "Aiflow_Cancel", method: http.MethodPost, path: "/aiflow/run/{runId}/cancel", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Create is POST /aiflow/flow: Create a flow or a function.
//
// `kind` says which of them it is. The draft may be any object; `problems` lists its errors.
//
// Needs the permission `flows.manage`.
//
// A repeated request creates another flow, or is refused if the slug is taken.
func (s *Aiflow) Create(ctx context.Context, in AiflowCreateRequest) (*Flow, error) {
	r := request{id: "Aiflow_Create", method: http.MethodPost, path: "/aiflow/flow", body: in}
	return answer[Flow](ctx, s.c, &r)
}

// CreateProject is POST /aiflow/project: Create a project for flows.
//
// Needs the permission `flows.manage`.
//
// A repeated request creates another project.
func (s *Aiflow) CreateProject(ctx context.Context, in CreateProjectRequest) (*Project, error) {
	r := request{id: "Aiflow_CreateProject", method: http.MethodPost, path: "/aiflow/project", body: in}
	return answer[Project](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/flow/{flowId}: Delete a flow.
//
// Ends its runs. Published flows that use a deleted function keep their copy of it.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 404.
func (s *Aiflow) Delete(ctx context.Context, flowID string) (*Done, error) {
	r := request{id: "Aiflow_Delete", method: http.MethodDelete, path: "/aiflow/flow/{flowId}"}
	r.inPath("flowId", flowID)
	return answer[Done](ctx, s.c, &r)
}

// DeleteProject is DELETE /aiflow/project/{projectId}: Delete a project with its flows.
//
// Ends their runs.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 404.
func (s *Aiflow) DeleteProject(ctx context.Context, projectID string) (*Done, error) {
	r := request{id: "Aiflow_DeleteProject", method: http.MethodDelete, path: "/aiflow/project/{projectId}"}
	r.inPath("projectId", projectID)
	return answer[Done](ctx, s.c, &r)
}

// Detail is GET /aiflow/run/{runId}: Show a run with its steps.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Detail(ctx context.Context, runID string) (*RunDetail, error) {
	r := request{id: "Aiflow_Detail", method: http.MethodGet, path: "/aiflow/run/{runId}"}
	r.inPath("runId", runID)
	return answer[RunDetail](ctx, s.c, &r)
}

// DiffParams are what [Aiflow.Diff] may be told; nil: nothing.
type DiffParams struct {
	// The version to compare from. Default, and 0: the published version.
	From *int64 `query:"from"`
	// The version to compare to. Default, and 0: the draft.
	To *int64 `query:"to"`
}

// Diff is GET /aiflow/flow/{flowId}/diff: Compare two versions of a flow.
//
// Without parameters, it shows what publishing the draft would change. Differences without a
// meaning are left out: the order of members, the notation of numbers, and `ui`. Lists of the same
// length are compared item by item, other lists as a whole.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Diff(ctx context.Context, flowID string, p *DiffParams) (*FlowDiff, error) {
	r := request{id: "Aiflow_Diff", method: http.MethodGet, path: "/aiflow/flow/{flowId}/diff", params: p}
	r.inPath("flowId", flowID)
	return answer[FlowDiff](ctx, s.c, &r)
}

// DraftFromText is POST /aiflow/flow/{flowId}/draft-from-text: Propose a draft of a flow from a
// description.
//
// A model writes the draft and corrects it up to three times while it has problems. Nothing is
// saved or published: to use the draft, PATCH the flow with it. For `mock/…` models, and if the
// server has no model, a few rules create a small draft that asks for the values that the
// description mentions.
//
// Needs the permission `flows.manage`.
//
// Changes nothing. A repeated request asks the model again, at a further cost.
func (s *Aiflow) DraftFromText(ctx context.Context, flowID string, in DraftFromTextRequest) (*DraftProposal, error) {
	r := request{id: "Aiflow_DraftFromText", method: http.MethodPost, path: "/aiflow/flow/{flowId}/draft-from-text", body: in}
	r.inPath("flowId", flowID)
	return answer[DraftProposal](ctx, s.c, &r)
}

// Event is POST /aiflow/run/{runId}/event: Send an event to a run that waits for it.
//
// Needs the permission `flows.manage`.
//
// A run that does not wait for the event does not change. Answers 409 if the run has ended.
func (s *Aiflow) Event(ctx context.Context, runID string, in EventRequest) (*Run, error) {
	r := request{id: "Aiflow_Event", method: http.MethodPost, path: "/aiflow/run/{runId}/event", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Export is GET /aiflow/project/{projectId}/export: Export a project as one document.
//
// Contains its flows, each with its draft and its published version with the functions of that
// version. References, runs, tests, earlier versions and credentials are not included. A project
// with more than 500 flows, or more than 8 MiB of them, answers 409.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Export(ctx context.Context, projectID string) (*ProjectFile, error) {
	r := request{id: "Aiflow_Export", method: http.MethodGet, path: "/aiflow/project/{projectId}/export"}
	r.inPath("projectId", projectID)
	return answer[ProjectFile](ctx, s.c, &r)
}

// Flow is GET /aiflow/flow/{flowId}: Show a flow.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Flow(ctx context.Context, flowID string) (*Flow, error) {
	r := request{id: "Aiflow_Flow", method: http.MethodGet, path: "/aiflow/flow/{flowId}"}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// FlowsParams are what [Aiflow.Flows] may be told; nil: nothing.
type FlowsParams struct {
	// Only flows of this project.
	ProjectID string `query:"projectId"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Flows is GET /aiflow/flow/list: List flows, oldest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Flows(ctx context.Context, p *FlowsParams) (*Page[Flow], error) {
	r := request{id: "Aiflow_Flows", method: http.MethodGet, path: "/aiflow/flow/list", params: p}
	return answer[Page[Flow]](ctx, s.c, &r)
}

// AllFlows walks through all pages of [Aiflow.Flows]. After an error it ends.
func (s *Aiflow) AllFlows(ctx context.Context, p *FlowsParams) iter.Seq2[Flow, error] {
	var q FlowsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Flow], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Flows(ctx, &q)
	})
}

// Import is POST /aiflow/project/import: Import a project from such a document, or from an export
// of Typebot.
//
// Imports all or nothing, with new ids. Drafts are imported unchanged. Published versions are
// published again; if that is not possible, the flow stays a draft and `problems` has the reasons.
// An export of Typebot, versions 3 to 6, becomes one flow that stays a draft. Its `problems` list
// what has no counterpart, with the position in the export, and the problems of the draft.
//
// Needs the permission `flows.manage`.
//
// A repeated request creates another project.
func (s *Aiflow) Import(ctx context.Context, in ImportRequest) (*ImportedProject, error) {
	r := request{id: "Aiflow_Import", method: http.MethodPost, path: "/aiflow/project/import", body: in}
	return answer[ImportedProject](ctx, s.c, &r)
}

// Models is GET /aiflow/model: List the language models that flows can use.
//
// Asks each provider for its models. A provider that fails is listed with an error; flows can still
// use its models.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Models(ctx context.Context) (*Models, error) {
	r := request{id: "Aiflow_Models", method: http.MethodGet, path: "/aiflow/model"}
	return answer[Models](ctx, s.c, &r)
}

// Palette is GET /aiflow/palette: List the node types of flows and bots.
//
// Describes for an editor the group, outputs and engines of each type, and the JSON Schema of its
// configuration. `x-kind` marks texts with a special form (template, expression, data, duration,
// bytes, schema).
//
// Changes nothing.
func (s *Aiflow) Palette(ctx context.Context) (*FlowPalette, error) {
	r := request{id: "Aiflow_Palette", method: http.MethodGet, path: "/aiflow/palette"}
	return answer[FlowPalette](ctx, s.c, &r)
}

// Project is GET /aiflow/project/{projectId}: Show a project.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Project(ctx context.Context, projectID string) (*Project, error) {
	r := request{id: "Aiflow_Project", method: http.MethodGet, path: "/aiflow/project/{projectId}"}
	r.inPath("projectId", projectID)
	return answer[Project](ctx, s.c, &r)
}

// ProjectsParams are what [Aiflow.Projects] may be told; nil: nothing.
type ProjectsParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Projects is GET /aiflow/project/list: List projects, oldest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Projects(ctx context.Context, p *ProjectsParams) (*Page[Project], error) {
	r := request{id: "Aiflow_Projects", method: http.MethodGet, path: "/aiflow/project/list", params: p}
	return answer[Page[Project]](ctx, s.c, &r)
}

// AllProjects walks through all pages of [Aiflow.Projects]. After an error it ends.
func (s *Aiflow) AllProjects(ctx context.Context, p *ProjectsParams) iter.Seq2[Project, error] {
	var q ProjectsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Project], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Projects(ctx, &q)
	})
}

// Publish is POST /aiflow/flow/{flowId}/publish: Publish the draft of a flow.
//
// Saves the draft as a numbered version, together with the published versions of the functions that
// it calls. Runs in progress continue with the version that they started with. A draft with errors
// is refused with a list of them.
//
// Needs the permission `flows.manage`.
//
// A draft that is published already with the same functions creates no new version.
func (s *Aiflow) Publish(ctx context.Context, flowID string, in FlowAction) (*Flow, error) {
	r := request{id: "Aiflow_Publish", method: http.MethodPost, path: "/aiflow/flow/{flowId}/publish", body: in}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// Rename is POST /aiflow/flow/{flowId}/rename: Change the slug of a flow or a function.
//
// Changes its draft and, in the same transaction, all drafts of the project that call it or jump to
// it. Published versions do not change: `published` lists those with the old slug. Versions that
// call the function keep working, because they contain it. Versions that jump to the flow must be
// published again.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) Rename(ctx context.Context, flowID string, in RenameRequest) (*RenamedFlow, error) {
	r := request{id: "Aiflow_Rename", method: http.MethodPost, path: "/aiflow/flow/{flowId}/rename", body: in}
	r.inPath("flowId", flowID)
	return answer[RenamedFlow](ctx, s.c, &r)
}

// Replay is POST /aiflow/flow/{flowId}/replay: Replay past runs with the draft.
//
// Sends the events of each run again, at the same times, to the version that it used and to the
// draft, and returns what the draft does differently. Nothing is sent and no call is made: calls
// get the recorded answers. Without `runs` and `chats`, the last 20 runs are replayed. Events that
// are older than 30 days are no longer stored.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Replay(ctx context.Context, flowID string, in PastRuns) (*Page[Replay], error) {
	r := request{id: "Aiflow_Replay", method: http.MethodPost, path: "/aiflow/flow/{flowId}/replay", body: in}
	r.inPath("flowId", flowID)
	return answer[Page[Replay]](ctx, s.c, &r)
}

// Retry is POST /aiflow/run/{runId}/retry: Retry a failed run at the step that failed.
//
// Completed steps are not repeated. A call that must not be made twice, and whose outcome is
// unknown, is repeated only with `repeat`, with the same `Idempotency-Key` as before. Answers 409
// if the run did not fail with an error, or another run is active in its chat. Answers after the
// turn, and after 10 seconds at the latest.
//
// Needs the permission `flows.manage`.
//
// Answers 409 if the run has not failed again.
func (s *Aiflow) Retry(ctx context.Context, runID string, in RetryRequest) (*Run, error) {
	r := request{id: "Aiflow_Retry", method: http.MethodPost, path: "/aiflow/run/{runId}/retry", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Rollback is POST /aiflow/flow/{flowId}/rollback: Roll a flow and its draft back to an earlier
// version.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) Rollback(ctx context.Context, flowID string, in RollbackRequest) (*Flow, error) {
	r := request{id: "Aiflow_Rollback", method: http.MethodPost, path: "/aiflow/flow/{flowId}/rollback", body: in}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// AiflowRunsParams are what [Aiflow.Runs] may be told; nil: nothing.
type AiflowRunsParams struct {
	// Only runs of this flow. Runs of functions that it calls are listed only with parent.
	FlowID string `query:"flowId"`
	// Only runs that this run started, including those of functions.
	Parent string `query:"parent"`
	// Only runs in this state. One of running, waiting, completed, failed, cancelled.
	Status string `query:"status"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Runs is GET /aiflow/run: List runs of flows, newest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Runs(ctx context.Context, p *AiflowRunsParams) (*Page[Run], error) {
	r := request{id: "Aiflow_Runs", method: http.MethodGet, path: "/aiflow/run", params: p}
	return answer[Page[Run]](ctx, s.c, &r)
}

// AllRuns walks through all pages of [Aiflow.Runs]. After an error it ends.
func (s *Aiflow) AllRuns(ctx context.Context, p *AiflowRunsParams) iter.Seq2[Run, error] {
	var q AiflowRunsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Run], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Runs(ctx, &q)
	})
}

// SetTests is PUT /aiflow/flow/{flowId}/test: Store tests.
//
// Replaces the stored tests. A test that cannot be run is refused, with its position in `errors`.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) SetTests(ctx context.Context, flowID string, in TestList) (*TestList, error) {
	r := request{id: "Aiflow_SetTests", method: http.MethodPut, path: "/aiflow/flow/{flowId}/test", body: in}
	r.inPath("flowId", flowID)
	return answer[TestList](ctx, s.c, &r)
}

// Simulate is POST /aiflow/flow/{flowId}/simulate: Simulate one step of a conversation.
//
// Without `state` a new run starts, regardless of the trigger, with `input` or `message`. Otherwise
// give the `state` of the previous response and exactly one event: `input`, `message`, `advance`,
// `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or stored. Calls get the answers
// of `given.mocks`; a call without one fails with `simulate.no_mock`. A state of another draft
// answers 409: start a new simulation.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Simulate(ctx context.Context, flowID string, in SimulationInput) (*Simulation, error) {
	r := request{id: "Aiflow_Simulate", method: http.MethodPost, path: "/aiflow/flow/{flowId}/simulate", body: in}
	r.inPath("flowId", flowID)
	return answer[Simulation](ctx, s.c, &r)
}

// Start is POST /aiflow/run: Run a flow.
//
// Runs the published version. Without `chatId` the flow cannot send messages. The default
// `reference` is the only one that the flow is bound to, or else the only one that has the chat.
// Answers after the first turn, and after 10 seconds at the latest.
//
// Needs the permission `flows.manage`.
//
// A repeated request starts another run.
func (s *Aiflow) Start(ctx context.Context, in StartRequest) (*Run, error) {
	r := request{id: "Aiflow_Start", method: http.MethodPost, path: "/aiflow/run", body: in}
	return answer[Run](ctx, s.c, &r)
}

// Test is POST /aiflow/flow/{flowId}/test: Run its tests.
//
// Runs the stored tests, or `tests`, with the draft or with `version`. Nothing is sent or stored.
// All tests together may take 10,000 steps.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Test(ctx context.Context, flowID string, in TestRun) (*TestReport, error) {
	r := request{id: "Aiflow_Test", method: http.MethodPost, path: "/aiflow/flow/{flowId}/test", body: in}
	r.inPath("flowId", flowID)
	return answer[TestReport](ctx, s.c, &r)
}

// Tests is GET /aiflow/flow/{flowId}/test: List the stored tests.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Tests(ctx context.Context, flowID string) (*TestList, error) {
	r := request{id: "Aiflow_Tests", method: http.MethodGet, path: "/aiflow/flow/{flowId}/test"}
	r.inPath("flowId", flowID)
	return answer[TestList](ctx, s.c, &r)
}

// AiflowUpdateParams are what [Aiflow.Update] may be told; nil: nothing.
type AiflowUpdateParams struct {
	// The ETag of the revision that you changed. The request is refused if the object has changed
	// since.
	IfMatch string `header:"If-Match"`
}

// Update is PATCH /aiflow/flow/{flowId}: Change the name or the draft of a flow.
//
// With `If-Match` = the flow's `ETag` (its revision), the change is refused if the flow was changed
// since. The published version does not change.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) Update(ctx context.Context, flowID string, in AiflowUpdateRequest, p *AiflowUpdateParams) (*Flow, error) {
	r := request{id: "Aiflow_Update", method: http.MethodPatch, path: "/aiflow/flow/{flowId}", body: in, params: p}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// UpdateProject is PATCH /aiflow/project/{projectId}: Change a project.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Aiflow) UpdateProject(ctx context.Context, projectID string, in UpdateProjectRequest) (*Project, error) {
	r := request{id: "Aiflow_UpdateProject", method: http.MethodPatch, path: "/aiflow/project/{projectId}", body: in}
	r.inPath("projectId", projectID)
	return answer[Project](ctx, s.c, &r)
}

// UsedByParams are what [Aiflow.UsedBy] may be told; nil: nothing.
type UsedByParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// UsedBy is GET /aiflow/flow/{flowId}/usedby: List the flows and functions that use a function,
// oldest first.
//
// Lists published versions that contain it, directly or through another function, and drafts that
// call it.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) UsedBy(ctx context.Context, flowID string, p *UsedByParams) (*Page[FunctionUse], error) {
	r := request{id: "Aiflow_UsedBy", method: http.MethodGet, path: "/aiflow/flow/{flowId}/usedby", params: p}
	r.inPath("flowId", flowID)
	return answer[Page[FunctionUse]](ctx, s.c, &r)
}

// AllUsedBy walks through all pages of [Aiflow.UsedBy]. After an error it ends.
func (s *Aiflow) AllUsedBy(ctx context.Context, flowID string, p *UsedByParams) iter.Seq2[FunctionUse, error] {
	var q UsedByParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[FunctionUse], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.UsedBy(ctx, flowID, &q)
	})
}

// Validate is POST /aiflow/flow/{flowId}/validate: Validate the draft of a flow.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Validate(ctx context.Context, flowID string, in FlowAction) (*ProblemList, error) {
	r := request{id: "Aiflow_Validate", method: http.MethodPost, path: "/aiflow/flow/{flowId}/validate", body: in}
	r.inPath("flowId", flowID)
	return answer[ProblemList](ctx, s.c, &r)
}

// AiflowVersionsParams are what [Aiflow.Versions] may be told; nil: nothing.
type AiflowVersionsParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Versions is GET /aiflow/flow/{flowId}/versions: List the published versions of a flow, oldest
// first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Versions(ctx context.Context, flowID string, p *AiflowVersionsParams) (*Page[Version], error) {
	r := request{id: "Aiflow_Versions", method: http.MethodGet, path: "/aiflow/flow/{flowId}/versions", params: p}
	r.inPath("flowId", flowID)
	return answer[Page[Version]](ctx, s.c, &r)
}

// AllVersions walks through all pages of [Aiflow.Versions]. After an error it ends.
func (s *Aiflow) AllVersions(ctx context.Context, flowID string, p *AiflowVersionsParams) iter.Seq2[Version, error] {
	var q AiflowVersionsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Version], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Versions(ctx, flowID, &q)
	})
}

// Auth: Users, their permissions and their tokens.
type Auth struct{ c *Client }

// AcceptInvitation is POST /user/invitation/accept: Accept an invitation.
//
// Creates the user, even if sign-up is closed. With `cookie: true`, for browsers, the response also
// sets a session cookie. It is valid for 12 hours after the last request, and 7 days at most.
//
// A repeated request answers 422: the link works once.
func (s *Auth) AcceptInvitation(ctx context.Context, in AcceptInvitationRequest) (*SessionView, error) {
	r := request{id: "Auth_AcceptInvitation", method: http.MethodPost, path: "/user/invitation/accept", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// AddPasskey is POST /user/passkeys: Add the passkey that the browser has created.
//
// The passkey then signs the user in without a password and without a second factor. A user can
// have 20 passkeys.
//
// A scoped token is refused.
//
// A repeated request answers 422: the challenge was answered.
func (s *Auth) AddPasskey(ctx context.Context, in AddPasskeyRequest) (*PasskeyView, error) {
	r := request{id: "Auth_AddPasskey", method: http.MethodPost, path: "/user/passkeys", body: in}
	return answer[PasskeyView](ctx, s.c, &r)
}

// BeginPasskey is POST /user/passkeys/begin: Start to add a passkey.
//
// Pass `publicKey` to `PublicKeyCredential.parseCreationOptionsFromJSON` of the browser. The
// challenge is valid for one answer, to any node, within 5 minutes. Passkeys need a base URL with
// https and a host name, or http://localhost; otherwise the answer is 404.
//
// A scoped token is refused.
//
// A repeated request creates another challenge; previous ones stay valid for 5 minutes.
func (s *Auth) BeginPasskey(ctx context.Context, in Password) (*Ceremony, error) {
	r := request{id: "Auth_BeginPasskey", method: http.MethodPost, path: "/user/passkeys/begin", body: in}
	return answer[Ceremony](ctx, s.c, &r)
}

// BeginPasskeyLogin is POST /user/login/passkey/begin: Start to log in with a passkey.
//
// Pass `publicKey` to `PublicKeyCredential.parseRequestOptionsFromJSON` of the browser. The
// challenge is valid for one answer, to any node, within 5 minutes. It does not name a user: the
// passkey does. Passkeys need a base URL with https and a host name, or http://localhost; otherwise
// the answer is 404.
//
// A repeated request creates another challenge; previous ones stay valid for 5 minutes.
func (s *Auth) BeginPasskeyLogin(ctx context.Context) (*Ceremony, error) {
	r := request{id: "Auth_BeginPasskeyLogin", method: http.MethodPost, path: "/user/login/passkey/begin"}
	return answer[Ceremony](ctx, s.c, &r)
}

// ConfirmSecondFactor is POST /user/second-factor/confirm: Confirm the authenticator app with a
// code.
//
// From then on, POST /user/login needs a code. The response has ten recovery codes, which are not
// shown again. Each replaces one code of the app.
//
// A scoped token is refused.
//
// A repeated request answers 409: the second factor is active.
func (s *Auth) ConfirmSecondFactor(ctx context.Context, in ConfirmSecondFactorRequest) (*Recovery, error) {
	r := request{id: "Auth_ConfirmSecondFactor", method: http.MethodPost, path: "/user/second-factor/confirm", body: in}
	return answer[Recovery](ctx, s.c, &r)
}

// ConfirmSignUp is POST /user/signup/confirm: Confirm a sign-up with the link of its mail.
//
// Requires the password of the sign-up. The link works once. With `cookie: true`, for browsers, the
// response also sets a session cookie. It is valid for 12 hours after the last request, and 7 days
// at most.
//
// A repeated request answers 422: the link works once.
func (s *Auth) ConfirmSignUp(ctx context.Context, in ConfirmSignUpRequest) (*SessionView, error) {
	r := request{id: "Auth_ConfirmSignUp", method: http.MethodPost, path: "/user/signup/confirm", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// ConnectOIDC is POST /user/oidc/connect: Connect the caller with an identity at the sign-in
// provider.
//
// Open `url` in the same browser, in which the response sets a cookie. The caller can then sign in
// with the provider, too.
//
// A scoped token is refused.
//
// A repeated request starts another sign-in and ends the previous one.
func (s *Auth) ConnectOIDC(ctx context.Context, in Password) (*Connect, error) {
	r := request{id: "Auth_ConnectOIDC", method: http.MethodPost, path: "/user/oidc/connect", body: in}
	return answer[Connect](ctx, s.c, &r)
}

// CreateToken is POST /user/token: Create a token for a program.
//
// It has the given permissions as long as the caller has them, and is shown only once. It ends at
// `expiresAt`, at most a year from now, when it is revoked, or when its owner gets a new password.
// A user can have 100 of them.
//
// A scoped token is refused.
//
// A repeated request creates another token.
func (s *Auth) CreateToken(ctx context.Context, in CreateTokenRequest) (*NewToken, error) {
	r := request{id: "Auth_CreateToken", method: http.MethodPost, path: "/user/token", body: in}
	return answer[NewToken](ctx, s.c, &r)
}

// CreateUser is POST /user: Add a user to the account.
//
// Requires `permissions` or a `role`. The caller must have all of these permissions; only an owner
// can add an owner. To let the new user choose the password, send an invitation: `POST
// /user/invitation`.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request answers 409: the e-mail has a user.
func (s *Auth) CreateUser(ctx context.Context, in CreateUserRequest) (*User, error) {
	r := request{id: "Auth_CreateUser", method: http.MethodPost, path: "/user", body: in}
	return answer[User](ctx, s.c, &r)
}

// DeleteUser is DELETE /user/{userId}: Delete a user.
//
// The user's tokens and cookies end at once. The caller must have every permission of the user;
// only an owner can delete an owner. An account keeps at least one owner who can log in.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) DeleteUser(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_DeleteUser", method: http.MethodDelete, path: "/user/{userId}"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// EnrolSecondFactor is POST /user/second-factor: Start to set up an authenticator app.
//
// Creates a secret for an app that shows codes (TOTP: RFC 6238, SHA-1, 6 digits, 30 seconds). The
// second factor is active after POST /user/second-factor/confirm has received a code.
//
// A scoped token is refused.
//
// A repeated request creates another secret; the previous one is no longer valid.
func (s *Auth) EnrolSecondFactor(ctx context.Context, in Password) (*Enrolment, error) {
	r := request{id: "Auth_EnrolSecondFactor", method: http.MethodPost, path: "/user/second-factor", body: in}
	return answer[Enrolment](ctx, s.c, &r)
}

// InvitationsParams are what [Auth.Invitations] may be told; nil: nothing.
type InvitationsParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Invitations is GET /user/invitation: List the open invitations of the account, oldest first.
//
// Needs the permission `users.manage`.
//
// Changes nothing.
func (s *Auth) Invitations(ctx context.Context, p *InvitationsParams) (*Page[Invitation], error) {
	r := request{id: "Auth_Invitations", method: http.MethodGet, path: "/user/invitation", params: p}
	return answer[Page[Invitation]](ctx, s.c, &r)
}

// AllInvitations walks through all pages of [Auth.Invitations]. After an error it ends.
func (s *Auth) AllInvitations(ctx context.Context, p *InvitationsParams) iter.Seq2[Invitation, error] {
	var q InvitationsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Invitation], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Invitations(ctx, &q)
	})
}

// Invite is POST /user/invitation: Invite a person into the account.
//
// The link works once, within 7 days. If the server sends mail, the person gets the link by mail,
// which proves the address, and `link` is null. Otherwise, or with `mail: false`, only this
// response has the `link`. The invitation has `permissions` or a `role`, and the caller must have
// all of its permissions; only an owner can invite an owner. The link stops working when its sender
// may no longer add such a user.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request creates another invitation and sends another mail.
func (s *Auth) Invite(ctx context.Context, in InviteRequest) (*Invited, error) {
	r := request{id: "Auth_Invite", method: http.MethodPost, path: "/user/invitation", body: in}
	return answer[Invited](ctx, s.c, &r)
}

// Login is POST /user/login: Log in.
//
// The token is valid for 12 hours. After ten failures in 15 minutes, the server refuses the address
// until the 15 minutes have passed, except for a user who has logged in from it before, and except
// for a browser in which the user has. A user with a second factor also needs a `code`: without it,
// a correct password answers 401 `second_factor_required`. With `cookie: true`, for browsers, the
// response also sets a session cookie. It is valid for 12 hours after the last request, and 7 days
// at most.
//
// A repeated request creates another token; the first stays valid.
func (s *Auth) Login(ctx context.Context, in LoginRequest) (*SessionView, error) {
	r := request{id: "Auth_Login", method: http.MethodPost, path: "/user/login", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// LoginPasskey is POST /user/login/passkey: Log in with a passkey.
//
// An unknown or invalid passkey answers 401 `unauthorized`. A passkey whose signature counter
// decreased answers 401 `passkey_copied`, with its name. After ten failures in 15 minutes, the
// server refuses the address until the 15 minutes have passed, except for a browser in which the
// user has logged in. With `cookie: true`, for browsers, the response also sets a session cookie.
// It is valid for 12 hours after the last request, and 7 days at most.
//
// A repeated request answers 401: the challenge was answered.
func (s *Auth) LoginPasskey(ctx context.Context, in LoginPasskeyRequest) (*SessionView, error) {
	r := request{id: "Auth_LoginPasskey", method: http.MethodPost, path: "/user/login/passkey", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// Logout is POST /user/logout: Log out.
//
// Ends the session of the request's token and that of its cookie, on every node at once. A login
// with `cookie: true` is one session: its token and its cookie end together.
//
// A repeated request answers 401: the session has ended.
func (s *Auth) Logout(ctx context.Context) (*Done, error) {
	r := request{id: "Auth_Logout", method: http.MethodPost, path: "/user/logout"}
	return answer[Done](ctx, s.c, &r)
}

// Methods is GET /user/methods: Show how users can sign in to this server.
//
// Changes nothing.
func (s *Auth) Methods(ctx context.Context) (*Methods, error) {
	r := request{id: "Auth_Methods", method: http.MethodGet, path: "/user/methods"}
	return answer[Methods](ctx, s.c, &r)
}

// Passkeys is GET /user/passkeys: List the caller's passkeys, oldest first.
//
// A scoped token is refused.
//
// Changes nothing.
func (s *Auth) Passkeys(ctx context.Context) (*Page[PasskeyView], error) {
	r := request{id: "Auth_Passkeys", method: http.MethodGet, path: "/user/passkeys"}
	return answer[Page[PasskeyView]](ctx, s.c, &r)
}

// Permissions is GET /user/permissions: List the caller's permissions, and all permissions and
// roles.
//
// Changes nothing.
func (s *Auth) Permissions(ctx context.Context) (*Permissions, error) {
	r := request{id: "Auth_Permissions", method: http.MethodGet, path: "/user/permissions"}
	return answer[Permissions](ctx, s.c, &r)
}

// RemovePasskey is DELETE /user/passkeys/{passkeyId}: Remove a passkey of the caller.
//
// It can no longer be used to sign in. Existing sessions continue: end them with DELETE
// /user/sessions.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RemovePasskey(ctx context.Context, passkeyID string, in Password) (*Done, error) {
	r := request{id: "Auth_RemovePasskey", method: http.MethodDelete, path: "/user/passkeys/{passkeyId}", body: in}
	r.inPath("passkeyId", passkeyID)
	return answer[Done](ctx, s.c, &r)
}

// RemoveSecondFactor is DELETE /user/second-factor: Remove the caller's second factor.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RemoveSecondFactor(ctx context.Context, in Password) (*Done, error) {
	r := request{id: "Auth_RemoveSecondFactor", method: http.MethodDelete, path: "/user/second-factor", body: in}
	return answer[Done](ctx, s.c, &r)
}

// RenewRecoveryCodes is POST /user/second-factor/recovery: Replace the recovery codes.
//
// A scoped token is refused.
//
// A repeated request creates other codes; the previous ones are no longer valid.
func (s *Auth) RenewRecoveryCodes(ctx context.Context, in Password) (*Recovery, error) {
	r := request{id: "Auth_RenewRecoveryCodes", method: http.MethodPost, path: "/user/second-factor/recovery", body: in}
	return answer[Recovery](ctx, s.c, &r)
}

// Reset is POST /user/reset: Set a new password without the old one.
//
// With an e-mail: sends its user, if there is one, a link that works once within 30 minutes. The
// response is the same for every e-mail. An address gets at most three mails an hour. With the
// token of a link and a password: sets the password, and ends all earlier tokens and cookies.
//
// A repeated request with an e-mail sends another link. A repeated request with a token is refused:
// a link works once.
func (s *Auth) Reset(ctx context.Context, in ResetRequest) (*Done, error) {
	r := request{id: "Auth_Reset", method: http.MethodPost, path: "/user/reset", body: in}
	return answer[Done](ctx, s.c, &r)
}

// ResetPasskeys is DELETE /user/{userId}/passkeys: Remove all passkeys of another user.
//
// For a user who has lost the devices. The caller must have every permission of the user.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) ResetPasskeys(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_ResetPasskeys", method: http.MethodDelete, path: "/user/{userId}/passkeys"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// ResetSecondFactor is DELETE /user/{userId}/second-factor: Remove the second factor of another
// user.
//
// For a user who has lost the app and the recovery codes. The caller must have every permission of
// the user.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) ResetSecondFactor(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_ResetSecondFactor", method: http.MethodDelete, path: "/user/{userId}/second-factor"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// RevokeInvitation is DELETE /user/invitation/{invitationId}: Revoke an invitation.
//
// The caller must have all permissions of the invitation.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RevokeInvitation(ctx context.Context, invitationID string) (*Done, error) {
	r := request{id: "Auth_RevokeInvitation", method: http.MethodDelete, path: "/user/invitation/{invitationId}"}
	r.inPath("invitationId", invitationID)
	return answer[Done](ctx, s.c, &r)
}

// RevokeSession is DELETE /user/sessions/{sessionId}: End a session or token.
//
// Every node refuses it at once. It may belong to another user.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RevokeSession(ctx context.Context, sessionID string) (*Done, error) {
	r := request{id: "Auth_RevokeSession", method: http.MethodDelete, path: "/user/sessions/{sessionId}"}
	r.inPath("sessionId", sessionID)
	return answer[Done](ctx, s.c, &r)
}

// RevokeSessionsParams are what [Auth.RevokeSessions] may be told; nil: nothing.
type RevokeSessionsParams struct {
	// Id of another user of the account. Default: the caller.
	User string `query:"user"`
}

// RevokeSessions is DELETE /user/sessions: End all other sessions and tokens of a user.
//
// Ends all except the session of the request, including tokens for programs. Every node refuses
// them at once. For another user, the caller needs the permission `users.manage` and must have
// every permission of that user; only an owner may do it for an owner.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RevokeSessions(ctx context.Context, p *RevokeSessionsParams) (*Done, error) {
	r := request{id: "Auth_RevokeSessions", method: http.MethodDelete, path: "/user/sessions", params: p}
	return answer[Done](ctx, s.c, &r)
}

// RevokeToken is DELETE /user/token/{tokenId}: Revoke a token for a program.
//
// Every node refuses it at once.
//
// A scoped token is refused.
//
// A repeated request answers 404.
func (s *Auth) RevokeToken(ctx context.Context, tokenID string) (*Done, error) {
	r := request{id: "Auth_RevokeToken", method: http.MethodDelete, path: "/user/token/{tokenId}"}
	r.inPath("tokenId", tokenID)
	return answer[Done](ctx, s.c, &r)
}

// SecondFactor is GET /user/second-factor: Show whether the caller has a second factor.
//
// A scoped token is refused.
//
// Changes nothing.
func (s *Auth) SecondFactor(ctx context.Context) (*SecondFactor, error) {
	r := request{id: "Auth_SecondFactor", method: http.MethodGet, path: "/user/second-factor"}
	return answer[SecondFactor](ctx, s.c, &r)
}

// SessionsParams are what [Auth.Sessions] may be told; nil: nothing.
type SessionsParams struct {
	// Id of another user of the account. Default: the caller.
	User string `query:"user"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Sessions is GET /user/sessions: List the sessions and tokens of a user, oldest first.
//
// Lists logins with a cookie or a token only, and tokens for programs. For another user, the caller
// needs the permission `users.manage` and must have every permission of that user; only an owner
// may do it for an owner.
//
// A scoped token is refused.
//
// Changes nothing.
func (s *Auth) Sessions(ctx context.Context, p *SessionsParams) (*Page[Open], error) {
	r := request{id: "Auth_Sessions", method: http.MethodGet, path: "/user/sessions", params: p}
	return answer[Page[Open]](ctx, s.c, &r)
}

// AllSessions walks through all pages of [Auth.Sessions]. After an error it ends.
func (s *Auth) AllSessions(ctx context.Context, p *SessionsParams) iter.Seq2[Open, error] {
	var q SessionsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Open], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Sessions(ctx, &q)
	})
}

// SignUp is POST /user/signup: Sign up.
//
// Creates an account and its first user, who is its owner. If the server sends mail, every sign-up
// after the first answers 202 and sends a mail with a link that is valid for 24 hours. The response
// is the same for an e-mail that already has an account; its user then gets a mail that says so.
// With `cookie: true`, for browsers, the response also sets a session cookie. It is valid for 12
// hours after the last request, and 7 days at most.
//
// A repeated request answers 409: the e-mail has an account. If the server sends mail, it sends
// another one.
func (s *Auth) SignUp(ctx context.Context, in SignUpRequest) (*SignUpAnswer, error) {
	r := request{id: "Auth_SignUp", method: http.MethodPost, path: "/user/signup", body: in}
	return answer[SignUpAnswer](ctx, s.c, &r)
}

// TokensParams are what [Auth.Tokens] may be told; nil: nothing.
type TokensParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Tokens is GET /user/token: List the caller's tokens for programs, oldest first.
//
// A scoped token is refused.
//
// Changes nothing.
func (s *Auth) Tokens(ctx context.Context, p *TokensParams) (*Page[Token], error) {
	r := request{id: "Auth_Tokens", method: http.MethodGet, path: "/user/token", params: p}
	return answer[Page[Token]](ctx, s.c, &r)
}

// AllTokens walks through all pages of [Auth.Tokens]. After an error it ends.
func (s *Auth) AllTokens(ctx context.Context, p *TokensParams) iter.Seq2[Token, error] {
	var q TokensParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Token], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Tokens(ctx, &q)
	})
}

// UpdateUser is PATCH /user/{userId}: Change a user.
//
// Users can change their own e-mail and password with `currentPassword`. To change other users, or
// `permissions`, `role` and `disabled`, the caller needs the permission `users.manage`. The caller
// can only grant permissions that the caller has, and change users who have no others. Only an
// owner can create and change owners. An account keeps at least one owner who can log in. A new
// password ends all earlier tokens and cookies.
//
// A scoped token is refused.
//
// A repeated request has no further effect, but after a change of the password it needs the new one
// as `currentPassword`.
func (s *Auth) UpdateUser(ctx context.Context, userID string, in UpdateUserRequest) (*User, error) {
	r := request{id: "Auth_UpdateUser", method: http.MethodPatch, path: "/user/{userId}", body: in}
	r.inPath("userId", userID)
	return answer[User](ctx, s.c, &r)
}

// User is GET /user/me: Show the user of the token.
//
// Changes nothing.
func (s *Auth) User(ctx context.Context) (*User, error) {
	r := request{id: "Auth_User", method: http.MethodGet, path: "/user/me"}
	return answer[User](ctx, s.c, &r)
}

// UsersParams are what [Auth.Users] may be told; nil: nothing.
type UsersParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Users is GET /user/list: List the users of the account, oldest first.
//
// Needs the permission `users.manage`.
//
// Changes nothing.
func (s *Auth) Users(ctx context.Context, p *UsersParams) (*Page[User], error) {
	r := request{id: "Auth_Users", method: http.MethodGet, path: "/user/list", params: p}
	return answer[Page[User]](ctx, s.c, &r)
}

// AllUsers walks through all pages of [Auth.Users]. After an error it ends.
func (s *Auth) AllUsers(ctx context.Context, p *UsersParams) iter.Seq2[User, error] {
	var q UsersParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[User], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Users(ctx, &q)
	})
}

// Billing: Subscriptions of accounts.
type Billing struct{ c *Client }

// Botengine: Bots, which have one flow each.
type Botengine struct{ c *Client }

// Bot is GET /bot/{botId}: Show a bot.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Bot(ctx context.Context, botID string) (*Bot, error) {
	r := request{id: "Botengine_Bot", method: http.MethodGet, path: "/bot/{botId}"}
	r.inPath("botId", botID)
	return answer[Bot](ctx, s.c, &r)
}

// BotsParams are what [Botengine.Bots] may be told; nil: nothing.
type BotsParams struct {
	// Only bots of this reference.
	Reference *int64 `query:"reference"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Bots is GET /bot/list: List bots, oldest first.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Bots(ctx context.Context, p *BotsParams) (*Page[Bot], error) {
	r := request{id: "Botengine_Bots", method: http.MethodGet, path: "/bot/list", params: p}
	return answer[Page[Bot]](ctx, s.c, &r)
}

// AllBots walks through all pages of [Botengine.Bots]. After an error it ends.
func (s *Botengine) AllBots(ctx context.Context, p *BotsParams) iter.Seq2[Bot, error] {
	var q BotsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Bot], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Bots(ctx, &q)
	})
}

// Create is POST /bot: Create a bot.
//
// It answers only after it is published. Without `flow`, its draft has only a trigger. If both are
// given, `trigger` replaces the trigger of the flow. The draft may have errors: see `problems`.
//
// Needs the permission `bots.manage`.
//
// A repeated request creates another bot.
func (s *Botengine) Create(ctx context.Context, in BotengineCreateRequest) (*Bot, error) {
	r := request{id: "Botengine_Create", method: http.MethodPost, path: "/bot", body: in}
	return answer[Bot](ctx, s.c, &r)
}

// Delete is DELETE /bot/{botId}: Delete a bot.
//
// Ends its conversations.
//
// Needs the permission `bots.manage`.
//
// A repeated request answers 404.
func (s *Botengine) Delete(ctx context.Context, botID string) (*Done, error) {
	r := request{id: "Botengine_Delete", method: http.MethodDelete, path: "/bot/{botId}"}
	r.inPath("botId", botID)
	return answer[Done](ctx, s.c, &r)
}

// Detail is GET /bot/run/{runId}: Show a run of a bot with its steps.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Detail(ctx context.Context, runID string) (*RunDetail, error) {
	r := request{id: "Botengine_Detail", method: http.MethodGet, path: "/bot/run/{runId}"}
	r.inPath("runId", runID)
	return answer[RunDetail](ctx, s.c, &r)
}

// Publish is POST /bot/{botId}/publish: Publish the draft of a bot.
//
// Saves the draft as a numbered version, which answers from now on. Conversations in progress
// continue with the version that they started with. A draft with errors is refused with a list of
// them.
//
// Needs the permission `bots.manage`.
//
// A draft that is published already creates no new version.
func (s *Botengine) Publish(ctx context.Context, botID string, in BotAction) (*Bot, error) {
	r := request{id: "Botengine_Publish", method: http.MethodPost, path: "/bot/{botId}/publish", body: in}
	r.inPath("botId", botID)
	return answer[Bot](ctx, s.c, &r)
}

// Replay is POST /bot/{botId}/replay: Replay past runs with the draft.
//
// Sends the events of each run again, at the same times, to the version that it used and to the
// draft, and returns what the draft does differently. Nothing is sent and no call is made: calls
// get the recorded answers. Without `runs` and `chats`, the last 20 runs are replayed. Events that
// are older than 30 days are no longer stored.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Replay(ctx context.Context, botID string, in PastRuns) (*Page[Replay], error) {
	r := request{id: "Botengine_Replay", method: http.MethodPost, path: "/bot/{botId}/replay", body: in}
	r.inPath("botId", botID)
	return answer[Page[Replay]](ctx, s.c, &r)
}

// Run is POST /bot/{botId}/run: Let a bot take one turn in a chat.
//
// Works as if the contact had written `input`: the bot's waiting conversation in the chat
// continues, or a new one starts regardless of the trigger. Uses the published version, or the
// draft of a bot that was never published. Answers after the turn, and after 10 seconds at the
// latest.
//
// Needs the permission `bots.manage`.
//
// A repeated request is another turn.
func (s *Botengine) Run(ctx context.Context, botID string, in RunRequest) (*RunReply, error) {
	r := request{id: "Botengine_Run", method: http.MethodPost, path: "/bot/{botId}/run", body: in}
	r.inPath("botId", botID)
	return answer[RunReply](ctx, s.c, &r)
}

// BotengineRunsParams are what [Botengine.Runs] may be told; nil: nothing.
type BotengineRunsParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Runs is GET /bot/{botId}/runs: List the runs of a bot, newest first.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Runs(ctx context.Context, botID string, p *BotengineRunsParams) (*Page[Run], error) {
	r := request{id: "Botengine_Runs", method: http.MethodGet, path: "/bot/{botId}/runs", params: p}
	r.inPath("botId", botID)
	return answer[Page[Run]](ctx, s.c, &r)
}

// AllRuns walks through all pages of [Botengine.Runs]. After an error it ends.
func (s *Botengine) AllRuns(ctx context.Context, botID string, p *BotengineRunsParams) iter.Seq2[Run, error] {
	var q BotengineRunsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Run], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Runs(ctx, botID, &q)
	})
}

// SetTests is PUT /bot/{botId}/test: Store tests.
//
// Replaces the stored tests. A test that cannot be run is refused, with its position in `errors`.
//
// Needs the permission `bots.manage`.
//
// A repeated request has no further effect.
func (s *Botengine) SetTests(ctx context.Context, botID string, in TestList) (*TestList, error) {
	r := request{id: "Botengine_SetTests", method: http.MethodPut, path: "/bot/{botId}/test", body: in}
	r.inPath("botId", botID)
	return answer[TestList](ctx, s.c, &r)
}

// Simulate is POST /bot/{botId}/simulate: Simulate one step of a conversation.
//
// Without `state` a new run starts, regardless of the trigger, with `input` or `message`. Otherwise
// give the `state` of the previous response and exactly one event: `input`, `message`, `advance`,
// `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or stored. Calls get the answers
// of `given.mocks`; a call without one fails with `simulate.no_mock`. A state of another draft
// answers 409: start a new simulation.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Simulate(ctx context.Context, botID string, in SimulationInput) (*Simulation, error) {
	r := request{id: "Botengine_Simulate", method: http.MethodPost, path: "/bot/{botId}/simulate", body: in}
	r.inPath("botId", botID)
	return answer[Simulation](ctx, s.c, &r)
}

// Test is POST /bot/{botId}/test: Run its tests.
//
// Runs the stored tests, or `tests`, with the draft or with `version`. Nothing is sent or stored.
// All tests together may take 10,000 steps.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Test(ctx context.Context, botID string, in TestRun) (*TestReport, error) {
	r := request{id: "Botengine_Test", method: http.MethodPost, path: "/bot/{botId}/test", body: in}
	r.inPath("botId", botID)
	return answer[TestReport](ctx, s.c, &r)
}

// Tests is GET /bot/{botId}/test: List the stored tests.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Tests(ctx context.Context, botID string) (*TestList, error) {
	r := request{id: "Botengine_Tests", method: http.MethodGet, path: "/bot/{botId}/test"}
	r.inPath("botId", botID)
	return answer[TestList](ctx, s.c, &r)
}

// BotengineUpdateParams are what [Botengine.Update] may be told; nil: nothing.
type BotengineUpdateParams struct {
	// The ETag of the revision that you changed. The request is refused if the object has changed
	// since.
	IfMatch string `header:"If-Match"`
}

// Update is PATCH /bot/{botId}: Change a bot.
//
// Changes the draft; the published version does not change. With `If-Match` = the bot's `ETag` (its
// revision), the change is refused if the bot was changed since.
//
// Needs the permission `bots.manage`.
//
// A repeated request has no further effect.
func (s *Botengine) Update(ctx context.Context, botID string, in BotengineUpdateRequest, p *BotengineUpdateParams) (*Bot, error) {
	r := request{id: "Botengine_Update", method: http.MethodPatch, path: "/bot/{botId}", body: in, params: p}
	r.inPath("botId", botID)
	return answer[Bot](ctx, s.c, &r)
}

// Validate is POST /bot/{botId}/validate: Validate the draft of a bot.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Validate(ctx context.Context, botID string, in BotAction) (*ProblemList, error) {
	r := request{id: "Botengine_Validate", method: http.MethodPost, path: "/bot/{botId}/validate", body: in}
	r.inPath("botId", botID)
	return answer[ProblemList](ctx, s.c, &r)
}

// BotengineVersionsParams are what [Botengine.Versions] may be told; nil: nothing.
type BotengineVersionsParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Versions is GET /bot/{botId}/versions: List the published versions of a bot, oldest first.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Versions(ctx context.Context, botID string, p *BotengineVersionsParams) (*Page[Version], error) {
	r := request{id: "Botengine_Versions", method: http.MethodGet, path: "/bot/{botId}/versions", params: p}
	r.inPath("botId", botID)
	return answer[Page[Version]](ctx, s.c, &r)
}

// AllVersions walks through all pages of [Botengine.Versions]. After an error it ends.
func (s *Botengine) AllVersions(ctx context.Context, botID string, p *BotengineVersionsParams) iter.Seq2[Version, error] {
	var q BotengineVersionsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Version], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Versions(ctx, botID, &q)
	})
}

// Credential: Secrets for flows and foreign MCP servers.
type Credential struct{ c *Client }

// Create is POST /aiflow/credential: Store a credential.
//
// HTTP nodes (`auth`) and MCP servers (`credential`) use it by its id. The secret is encrypted at
// rest and never returned again, and no run, log or simulation contains it. It is sent only to
// `hosts` if they are given, and only over https except to hosts in --webhook-allow. Redirects to
// another host never carry it.
//
// Needs the permission `flows.manage`.
//
// A repeated request stores another credential.
func (s *Credential) Create(ctx context.Context, in CredentialCreateRequest) (*CredentialView, error) {
	r := request{id: "Credential_Create", method: http.MethodPost, path: "/aiflow/credential", body: in}
	return answer[CredentialView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/credential/{credentialId}: Delete a credential.
//
// Takes effect at once, even if it is in use: HTTP nodes with it end with the error
// `http.credential`, MCP servers with it cannot be reached, and flows with it cannot be published.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 404.
func (s *Credential) Delete(ctx context.Context, credentialID string) (*Done, error) {
	r := request{id: "Credential_Delete", method: http.MethodDelete, path: "/aiflow/credential/{credentialId}"}
	r.inPath("credentialId", credentialID)
	return answer[Done](ctx, s.c, &r)
}

// ListParams are what [Credential.List] may be told; nil: nothing.
type ListParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// List is GET /aiflow/credential: List credentials, oldest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Credential) List(ctx context.Context, p *ListParams) (*Page[CredentialView], error) {
	r := request{id: "Credential_List", method: http.MethodGet, path: "/aiflow/credential", params: p}
	return answer[Page[CredentialView]](ctx, s.c, &r)
}

// AllList walks through all pages of [Credential.List]. After an error it ends.
func (s *Credential) AllList(ctx context.Context, p *ListParams) iter.Seq2[CredentialView, error] {
	var q ListParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[CredentialView], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.List(ctx, &q)
	})
}

// Extractor: Extractors, which find values in messages.
type Extractor struct{ c *Client }

// Create is POST /extractor: Create an extractor.
//
// It finds values in messages of contacts. Before a message goes to a bot or flow, it is read by
// all extractors of its reference, of the reference's bots and of the flows that are bound to the
// reference. Values become variables of the chat and `extracted` of the message, and each extractor
// that found values sends one `data` event. Intents are learned in the background (`training`);
// until then the previously learned intents are used.
//
// Needs the permission `extractors.manage`.
//
// A repeated request creates another extractor.
func (s *Extractor) Create(ctx context.Context, in ExtractorCreateRequest) (*ExtractorView, error) {
	r := request{id: "Extractor_Create", method: http.MethodPost, path: "/extractor", body: in}
	return answer[ExtractorView](ctx, s.c, &r)
}

// Delete is DELETE /extractor/{extractorId}: Delete an extractor.
//
// Needs the permission `extractors.manage`.
//
// A repeated request answers 404.
func (s *Extractor) Delete(ctx context.Context, extractorID string) (*Done, error) {
	r := request{id: "Extractor_Delete", method: http.MethodDelete, path: "/extractor/{extractorId}"}
	r.inPath("extractorId", extractorID)
	return answer[Done](ctx, s.c, &r)
}

// Evaluate is POST /extractor/{extractorId}/evaluate: Run the tests of an extractor.
//
// Returns how many of `config.tests` passed and which failed; for intents also which ones were
// mistaken for another (`nomatch`: nothing was found).
//
// Needs the permission `extractors.manage`.
//
// Changes nothing. A model is asked again.
func (s *Extractor) Evaluate(ctx context.Context, extractorID string, in EvaluateRequest) (*Evaluation, error) {
	r := request{id: "Extractor_Evaluate", method: http.MethodPost, path: "/extractor/{extractorId}/evaluate", body: in}
	r.inPath("extractorId", extractorID)
	return answer[Evaluation](ctx, s.c, &r)
}

// Extractor is GET /extractor/{extractorId}: Show an extractor.
//
// Needs the permission `extractors.manage`.
//
// Changes nothing.
func (s *Extractor) Extractor(ctx context.Context, extractorID string) (*ExtractorView, error) {
	r := request{id: "Extractor_Extractor", method: http.MethodGet, path: "/extractor/{extractorId}"}
	r.inPath("extractorId", extractorID)
	return answer[ExtractorView](ctx, s.c, &r)
}

// ExtractorsParams are what [Extractor.Extractors] may be told; nil: nothing.
type ExtractorsParams struct {
	// Only extractors of this reference and its bots.
	Reference *int64 `query:"reference"`
	// Only extractors of this bot.
	Bot string `query:"bot"`
	// Only extractors of this flow.
	Flow string `query:"flow"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Extractors is GET /extractor/list: List extractors, oldest first.
//
// Needs the permission `extractors.manage`.
//
// Changes nothing.
func (s *Extractor) Extractors(ctx context.Context, p *ExtractorsParams) (*Page[ExtractorView], error) {
	r := request{id: "Extractor_Extractors", method: http.MethodGet, path: "/extractor/list", params: p}
	return answer[Page[ExtractorView]](ctx, s.c, &r)
}

// AllExtractors walks through all pages of [Extractor.Extractors]. After an error it ends.
func (s *Extractor) AllExtractors(ctx context.Context, p *ExtractorsParams) iter.Seq2[ExtractorView, error] {
	var q ExtractorsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[ExtractorView], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Extractors(ctx, &q)
	})
}

// Try is POST /extractor/{extractorId}/run: Try an extractor on a text or a message.
//
// Stores nothing and sends no event. Give either `text`, with what is known about its writer, or
// `reference`, `chatId` and `messageId`; the latter also needs the permission `chats.read`. An
// extractor whose intents were never learned answers 409.
//
// Needs the permission `extractors.manage`.
//
// Changes nothing. A model is asked again.
func (s *Extractor) Try(ctx context.Context, extractorID string, in TryRequest) (*ExtractorFound, error) {
	r := request{id: "Extractor_Try", method: http.MethodPost, path: "/extractor/{extractorId}/run", body: in}
	r.inPath("extractorId", extractorID)
	return answer[ExtractorFound](ctx, s.c, &r)
}

// Update is PATCH /extractor/{extractorId}: Change an extractor.
//
// `config` is replaced completely.
//
// Needs the permission `extractors.manage`.
//
// A repeated request has no further effect.
func (s *Extractor) Update(ctx context.Context, extractorID string, in ExtractorUpdateRequest) (*ExtractorView, error) {
	r := request{id: "Extractor_Update", method: http.MethodPatch, path: "/extractor/{extractorId}", body: in}
	r.inPath("extractorId", extractorID)
	return answer[ExtractorView](ctx, s.c, &r)
}

// Knowledge: Files that assistants use for answers.
type Knowledge struct{ c *Client }

// Add is POST /aiflow/project/{projectId}/file: Add a file to a project for its assistants.
//
// Text, Markdown, CSV, JSON and HTML in UTF-8, at most 10 MiB per file and 100 MiB per project. The
// text is split into passages. An assistant gets those that match the question. Only the text is
// stored.
//
// Needs the permission `flows.manage`.
//
// A repeated request adds another file.
func (s *Knowledge) Add(ctx context.Context, projectID string, in AddRequest) (*ProjectFileView, error) {
	r := request{id: "Knowledge_Add", method: http.MethodPost, path: "/aiflow/project/{projectId}/file", body: in}
	r.inPath("projectId", projectID)
	return answer[ProjectFileView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/project/{projectId}/file/{fileId}: Remove a file from a project.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 404.
func (s *Knowledge) Delete(ctx context.Context, projectID string, fileID string) (*Done, error) {
	r := request{id: "Knowledge_Delete", method: http.MethodDelete, path: "/aiflow/project/{projectId}/file/{fileId}"}
	r.inPath("projectId", projectID)
	r.inPath("fileId", fileID)
	return answer[Done](ctx, s.c, &r)
}

// FilesParams are what [Knowledge.Files] may be told; nil: nothing.
type FilesParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Files is GET /aiflow/project/{projectId}/file: List the files of a project, oldest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Knowledge) Files(ctx context.Context, projectID string, p *FilesParams) (*Page[ProjectFileView], error) {
	r := request{id: "Knowledge_Files", method: http.MethodGet, path: "/aiflow/project/{projectId}/file", params: p}
	r.inPath("projectId", projectID)
	return answer[Page[ProjectFileView]](ctx, s.c, &r)
}

// AllFiles walks through all pages of [Knowledge.Files]. After an error it ends.
func (s *Knowledge) AllFiles(ctx context.Context, projectID string, p *FilesParams) iter.Seq2[ProjectFileView, error] {
	var q FilesParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[ProjectFileView], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Files(ctx, projectID, &q)
	})
}

// Search is POST /aiflow/project/{projectId}/search: Search the passages as an assistant would.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Knowledge) Search(ctx context.Context, projectID string, in SearchRequest) (*Passages, error) {
	r := request{id: "Knowledge_Search", method: http.MethodPost, path: "/aiflow/project/{projectId}/search", body: in}
	r.inPath("projectId", projectID)
	return answer[Passages](ctx, s.c, &r)
}

// MCP: Functions that AI agents call.
type MCP struct{ c *Client }

// AuditParams are what [MCP.Audit] may be told; nil: nothing.
type AuditParams struct {
	// Only calls by this user: an id.
	User string `query:"user"`
	// Only calls of this function.
	Function string `query:"function"`
	// ok, or an error code.
	Outcome string `query:"outcome"`
	// UNIX seconds. Only calls answered at this time or later.
	From *int64 `query:"from"`
	// UNIX seconds. Only calls answered before this time. Default, and 0: now.
	To *int64 `query:"to"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Audit is GET /service-mcp/audit: List the calls of functions by agents, newest first.
//
// Includes refused calls and all ways to call: REST, batches and MCP. Secrets and texts of messages
// are left out of the arguments.
//
// Needs the permission `users.manage`.
//
// Changes nothing.
func (s *MCP) Audit(ctx context.Context, p *AuditParams) (*Page[AuditedCall], error) {
	r := request{id: "MCP_Audit", method: http.MethodGet, path: "/service-mcp/audit", params: p}
	return answer[Page[AuditedCall]](ctx, s.c, &r)
}

// AllAudit walks through all pages of [MCP.Audit]. After an error it ends.
func (s *MCP) AllAudit(ctx context.Context, p *AuditParams) iter.Seq2[AuditedCall, error] {
	var q AuditParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[AuditedCall], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Audit(ctx, &q)
	})
}

// Batch is POST /service-mcp/batch: Call up to 50 functions in parallel.
//
// Returns the results in the order of the calls. Each call succeeds or fails independently, and
// counts against the limits.
//
// Needs the permission `mcp.execute`.
//
// A repeated request calls all functions again.
func (s *MCP) Batch(ctx context.Context, in BatchRequest) (*BatchResult, error) {
	r := request{id: "MCP_Batch", method: http.MethodPost, path: "/service-mcp/batch", body: in}
	return answer[BatchResult](ctx, s.c, &r)
}

// Execute is POST /service-mcp/execute: Call a function.
//
// Arguments are validated, rate limits apply, and every call is in the audit log. A failed call
// answers with the status of its error and the same members. With `dryRun`, the server makes all
// checks and the function describes what it would do: `result` is `{dryRun: true, plan}`.
//
// Needs the permission `mcp.execute`.
//
// A repeated request calls the function again. The function's `idempotent` says whether that has a
// further effect.
func (s *MCP) Execute(ctx context.Context, in ExecuteRequest) (*McpOutcome, error) {
	r := request{id: "MCP_Execute", method: http.MethodPost, path: "/service-mcp/execute", body: in}
	return answer[McpOutcome](ctx, s.c, &r)
}

// Functions is GET /service-mcp/functions: List the functions that agents may call.
//
// Lists all functions, regardless of the caller's permissions. A call needs `mcp.execute` and the
// function's own permission. `version` is the version of the catalogue: a patch version changes
// texts, a minor version adds something, a major version changes or removes something.
//
// Needs the permission `mcp.execute`.
//
// Changes nothing.
func (s *MCP) Functions(ctx context.Context) (*FunctionList, error) {
	r := request{id: "MCP_Functions", method: http.MethodGet, path: "/service-mcp/functions"}
	return answer[FunctionList](ctx, s.c, &r)
}

// Messaging: References, their sessions, chats, messages, groups and templates.
type Messaging struct{ c *Client }

// AnswerPasskey is POST /reference/session/passkey: Link a reference with the passkey of its owner.
//
// If `passkey` of the session has `options`, send `credential`: what the owner's passkey signed. If
// it has a `code`, compare it with the code on the phone, and send `confirmed`. If the session asks
// for neither, the answer is a 409.
//
// Needs the permission `sessions.manage`.
//
// A repeated answer is sent again while the session asks for it. Once the reference is linked, it
// is a 409.
func (s *Messaging) AnswerPasskey(ctx context.Context, in AnswerPasskeyRequest) (*Session, error) {
	r := request{id: "Messaging_AnswerPasskey", method: http.MethodPost, path: "/reference/session/passkey", body: in}
	return answer[Session](ctx, s.c, &r)
}

// ChatsParams are what [Messaging.Chats] may be told; nil: nothing.
type ChatsParams struct {
	// Only chats with this text in a name or an id.
	Search string `query:"search"`
	// 1: only chats with unread messages.
	Unread *int64 `query:"unread"`
	// waiting: only chats in which the bot has asked for a person. taken: only chats that a person has
	// taken over. One of waiting, taken.
	Handoff string `query:"handoff"`
	// Only chats with exactly this tag.
	Tag string `query:"tag"`
	// UNIX seconds. Only chats that changed after this time.
	UpdatedAfter *int64 `query:"updatedAfter"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Chats is GET /chats/list: List the chats of a reference, latest activity first.
//
// A page with `unread`, `handoff`, `tag` or `updatedAfter` can have fewer than `limit` chats, or
// none, and a `next`: a request looks at no more than 1,000 chats.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Chats(ctx context.Context, reference int64, p *ChatsParams) (*Page[Chat], error) {
	r := request{id: "Messaging_Chats", method: http.MethodGet, path: "/chats/list", params: p}
	r.inQuery("reference", reference)
	return answer[Page[Chat]](ctx, s.c, &r)
}

// AllChats walks through all pages of [Messaging.Chats]. After an error it ends.
func (s *Messaging) AllChats(ctx context.Context, reference int64, p *ChatsParams) iter.Seq2[Chat, error] {
	var q ChatsParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Chat], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Chats(ctx, reference, &q)
	})
}

// CheckNumber is GET /chats/check: Check whether a phone number has an account on the network.
//
// Results are cached for 24 hours. A reference checks at most 20 new numbers a minute; further
// requests answer `rate_limited`. References whose network has no such check answer `unsupported`.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) CheckNumber(ctx context.Context, reference int64, phone string) (*Number, error) {
	r := request{id: "Messaging_CheckNumber", method: http.MethodGet, path: "/chats/check"}
	r.inQuery("reference", reference)
	r.inQuery("phone", phone)
	return answer[Number](ctx, s.c, &r)
}

// CreateGroup is POST /chats/group: Create a group.
//
// `refused` lists the people whom the network did not add. References that cannot manage groups
// answer `unsupported`. A reference that can send to groups uses their chat ids.
//
// Needs the permission `chats.send`.
//
// A repeated request creates another group.
func (s *Messaging) CreateGroup(ctx context.Context, in CreateGroupRequest) (*Group, error) {
	r := request{id: "Messaging_CreateGroup", method: http.MethodPost, path: "/chats/group", body: in}
	return answer[Group](ctx, s.c, &r)
}

// CreateReference is POST /reference: Add a reference.
//
// Needs the permission `references.write`.
//
// A repeated request adds another reference.
func (s *Messaging) CreateReference(ctx context.Context, in CreateReferenceRequest) (*Reference, error) {
	r := request{id: "Messaging_CreateReference", method: http.MethodPost, path: "/reference", body: in}
	return answer[Reference](ctx, s.c, &r)
}

// CreateTemplate is POST /templates: Submit a message template for approval.
//
// The network may approve or reject it immediately, and may change its category.
//
// Needs the permission `templates.manage`.
//
// The network refuses a repeated request: the name exists in that language.
func (s *Messaging) CreateTemplate(ctx context.Context, in CreateTemplateRequest) (*Template, error) {
	r := request{id: "Messaging_CreateTemplate", method: http.MethodPost, path: "/templates", body: in}
	return answer[Template](ctx, s.c, &r)
}

// DeadLetter is GET /reference/{id}/dead-letters/{letterId}: Show an item of a callback that could
// not be read, with its body.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) DeadLetter(ctx context.Context, id int64, letterID string) (*DeadLetter, error) {
	r := request{id: "Messaging_DeadLetter", method: http.MethodGet, path: "/reference/{id}/dead-letters/{letterId}"}
	r.inPath("id", id)
	r.inPath("letterId", letterID)
	return answer[DeadLetter](ctx, s.c, &r)
}

// DeadLettersParams are what [Messaging.DeadLetters] may be told; nil: nothing.
type DeadLettersParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// DeadLetters is GET /reference/{id}/dead-letters: List the items of callbacks that could not be
// read, newest first.
//
// The rest of their callbacks was stored. A dead letter is kept until it is replayed or deleted, or
// as long as messages are kept. Erasing a contact also deletes those that name the contact.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) DeadLetters(ctx context.Context, id int64, p *DeadLettersParams) (*Page[DeadLetter], error) {
	r := request{id: "Messaging_DeadLetters", method: http.MethodGet, path: "/reference/{id}/dead-letters", params: p}
	r.inPath("id", id)
	return answer[Page[DeadLetter]](ctx, s.c, &r)
}

// AllDeadLetters walks through all pages of [Messaging.DeadLetters]. After an error it ends.
func (s *Messaging) AllDeadLetters(ctx context.Context, id int64, p *DeadLettersParams) iter.Seq2[DeadLetter, error] {
	var q DeadLettersParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[DeadLetter], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.DeadLetters(ctx, id, &q)
	})
}

// DeleteChat is DELETE /chats: Erase all stored data about a contact or a group.
//
// Erases what an export contains: messages, files, messages of the contact in groups, and queued
// messages. The log of deliveries keeps the times, but not the bodies. The chat is no longer found
// after the response, and the stream sends `resync`; a job erases the rest. A later message of the
// contact starts a new chat.
//
// Needs the permission `users.manage`.
//
// A repeated request answers 404.
func (s *Messaging) DeleteChat(ctx context.Context, reference int64, chatID string) (*Deleting, error) {
	r := request{id: "Messaging_DeleteChat", method: http.MethodDelete, path: "/chats"}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	return answer[Deleting](ctx, s.c, &r)
}

// DeleteDeadLetter is DELETE /reference/{id}/dead-letters/{letterId}: Delete an item of a callback
// that could not be read.
//
// Needs the permission `references.write`.
//
// A repeated request answers 404.
func (s *Messaging) DeleteDeadLetter(ctx context.Context, id int64, letterID string) (*Done, error) {
	r := request{id: "Messaging_DeleteDeadLetter", method: http.MethodDelete, path: "/reference/{id}/dead-letters/{letterId}"}
	r.inPath("id", id)
	r.inPath("letterId", letterID)
	return answer[Done](ctx, s.c, &r)
}

// DeleteReference is DELETE /reference/{id}: Delete a reference with its chats and messages.
//
// After the response it is no longer found, receives nothing, and waiting messages are not sent. A
// job erases its data.
//
// Needs the permission `references.write`.
//
// A repeated request answers 404.
func (s *Messaging) DeleteReference(ctx context.Context, id int64) (*Deleting, error) {
	r := request{id: "Messaging_DeleteReference", method: http.MethodDelete, path: "/reference/{id}"}
	r.inPath("id", id)
	return answer[Deleting](ctx, s.c, &r)
}

// DeleteTemplateParams are what [Messaging.DeleteTemplate] may be told; nil: nothing.
type DeleteTemplateParams struct {
	// Only this language. If absent, all languages.
	Language string `query:"language"`
}

// DeleteTemplate is DELETE /templates: Delete a message template in one language or in all.
//
// Needs the permission `templates.manage`.
//
// A repeated request answers 404.
func (s *Messaging) DeleteTemplate(ctx context.Context, reference int64, name string, p *DeleteTemplateParams) (*Done, error) {
	r := request{id: "Messaging_DeleteTemplate", method: http.MethodDelete, path: "/templates", params: p}
	r.inQuery("reference", reference)
	r.inQuery("name", name)
	return answer[Done](ctx, s.c, &r)
}

// EditGroup is PATCH /chats/group: Change a group, or leave it.
//
// The changes are made in this order: subject, participants, invitation link, leaving the group.
// The server checks all of them before the first request to the network. If the network refuses
// one, the changes before it remain. References that cannot manage groups answer `unsupported`. A
// reference that can send to groups uses their chat ids.
//
// Needs the permission `chats.send`.
//
// A repeated request has no further effect.
func (s *Messaging) EditGroup(ctx context.Context, in EditGroupRequest) (*Group, error) {
	r := request{id: "Messaging_EditGroup", method: http.MethodPatch, path: "/chats/group", body: in}
	return answer[Group](ctx, s.c, &r)
}

// Explain is GET /chats/explain: Explain step by step how a message was processed.
//
// Steps are `received` (from the network; with its report, if that is stored), `stored`, `attempt`
// (to send it to the network), `status`, `file`, `held` (its events wait for a file), `extracted`
// (extractors found values), `routed` (to a bot or a flow, with the reason), `run` (the run that
// took or sent the message), `sent` (other messages that the run sent) and `webhook` (an attempt to
// deliver an event). More kinds may be added.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Explain(ctx context.Context, reference int64, chatID string, messageID string) (*Explanation, error) {
	r := request{id: "Messaging_Explain", method: http.MethodGet, path: "/chats/explain"}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	r.inQuery("messageId", messageID)
	return answer[Explanation](ctx, s.c, &r)
}

// Export is GET /chats/export: Export all stored data about a contact or a group.
//
// The export has the chat and its ids, its messages with statuses, files and the content of sends,
// messages of the contact in groups, calls, other reports of the network about it, and webhook
// deliveries with their bodies. The response is streamed; a response that is cut off is not valid
// JSON.
//
// Needs the permission `users.manage`.
//
// Changes nothing.
func (s *Messaging) Export(ctx context.Context, reference int64, chatID string) (*Exported, error) {
	r := request{id: "Messaging_Export", method: http.MethodGet, path: "/chats/export"}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	return answer[Exported](ctx, s.c, &r)
}

// Group is GET /chats/group: Show a group as the network has it now.
//
// References that cannot manage groups answer `unsupported`. A reference that can send to groups
// uses their chat ids.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Group(ctx context.Context, reference int64, chatID string) (*Group, error) {
	r := request{id: "Messaging_Group", method: http.MethodGet, path: "/chats/group"}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	return answer[Group](ctx, s.c, &r)
}

// Logout is POST /reference/session/logout: End a session.
//
// Needs the permission `sessions.manage`.
//
// A session that has ended does not change.
func (s *Messaging) Logout(ctx context.Context, in MessagingLogoutRequest) (*Session, error) {
	r := request{id: "Messaging_Logout", method: http.MethodPost, path: "/reference/session/logout", body: in}
	return answer[Session](ctx, s.c, &r)
}

// MarkRead is POST /chats/read: Mark the messages of a chat as read: all, or up to one message.
//
// Needs the permission `chats.send`.
//
// A repeated request marks only messages that have arrived since.
func (s *Messaging) MarkRead(ctx context.Context, in MarkReadRequest) (*ReadResult, error) {
	r := request{id: "Messaging_MarkRead", method: http.MethodPost, path: "/chats/read", body: in}
	return answer[ReadResult](ctx, s.c, &r)
}

// Message is GET /messages/{messageId}: Read a message by one of its ids or its clientId.
//
// The id is the network's id, the `requestId` of the send or the `clientId` of the send. If several
// messages have the same `clientId`, the newest is returned.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Message(ctx context.Context, messageID string, reference int64) (*Message, error) {
	r := request{id: "Messaging_Message", method: http.MethodGet, path: "/messages/{messageId}"}
	r.inPath("messageId", messageID)
	r.inQuery("reference", reference)
	return answer[Message](ctx, s.c, &r)
}

// MessagesParams are what [Messaging.Messages] may be told; nil: nothing.
type MessagesParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// A cursor, or any id of a message of the chat. Only messages that are older.
	Before string `query:"before"`
	// Same as before: the next of the previous page.
	Cursor string `query:"cursor"`
	// A cursor, or any id of a message of the chat. Only messages that are newer.
	After string `query:"after"`
	// Only messages with this status. One of FAIL, PENDING, SENDING, DELIVERED, READ, PLAYED.
	Status string `query:"status"`
	// Only received messages, or only sent ones. One of in, out.
	Direction string `query:"direction"`
	// Only sends with this clientId.
	ClientID string `query:"clientId"`
}

// Messages is GET /chats/messages: List the messages of a chat, newest first.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Messages(ctx context.Context, reference int64, chatID string, p *MessagesParams) (*Page[Message], error) {
	r := request{id: "Messaging_Messages", method: http.MethodGet, path: "/chats/messages", params: p}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	return answer[Page[Message]](ctx, s.c, &r)
}

// AllMessages walks through all pages of [Messaging.Messages]. After an error it ends.
func (s *Messaging) AllMessages(ctx context.Context, reference int64, chatID string, p *MessagesParams) iter.Seq2[Message, error] {
	var q MessagesParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Message], error) {
		if cursor != "" {
			q.Before, q.Cursor = cursor, ""
		}
		return s.Messages(ctx, reference, chatID, &q)
	})
}

// PreviewTemplate is POST /templates/preview: Preview a message template with its parameters.
//
// Answers with the same problems as a send. Nothing is sent.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) PreviewTemplate(ctx context.Context, in PreviewTemplateRequest) (*TemplatePreview, error) {
	r := request{id: "Messaging_PreviewTemplate", method: http.MethodPost, path: "/templates/preview", body: in}
	return answer[TemplatePreview](ctx, s.c, &r)
}

// Reference is GET /reference/{id}: Show a reference.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) Reference(ctx context.Context, id int64) (*Reference, error) {
	r := request{id: "Messaging_Reference", method: http.MethodGet, path: "/reference/{id}"}
	r.inPath("id", id)
	return answer[Reference](ctx, s.c, &r)
}

// ReferencesParams are what [Messaging.References] may be told; nil: nothing.
type ReferencesParams struct {
	// Only references of this type.
	Type string `query:"type"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// References is GET /reference/list: List references.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) References(ctx context.Context, p *ReferencesParams) (*Page[Reference], error) {
	r := request{id: "Messaging_References", method: http.MethodGet, path: "/reference/list", params: p}
	return answer[Page[Reference]](ctx, s.c, &r)
}

// AllReferences walks through all pages of [Messaging.References]. After an error it ends.
func (s *Messaging) AllReferences(ctx context.Context, p *ReferencesParams) iter.Seq2[Reference, error] {
	var q ReferencesParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Reference], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.References(ctx, &q)
	})
}

// RejectCall is POST /chats/call/reject: Reject a call while it rings.
//
// The answer shows the call as it is then; a caller may hang up at the same time. A call that is
// rejected already stays so. A call that was accepted, missed or has ended is a 409. References
// whose capability `calls` is false answer `unsupported`.
//
// Needs the permission `chats.send`.
//
// A call that is rejected already stays so.
func (s *Messaging) RejectCall(ctx context.Context, in RejectCallRequest) (*Call, error) {
	r := request{id: "Messaging_RejectCall", method: http.MethodPost, path: "/chats/call/reject", body: in}
	return answer[Call](ctx, s.c, &r)
}

// ReplayDeadLetter is POST /reference/{id}/dead-letters/{letterId}/replay: Read an item of a
// callback again.
//
// Use it after an upgrade that can read the item. If it succeeds, what the item reports is stored,
// as if it came now, and the dead letter is deleted. Otherwise the dead letter remains, with the
// new reason.
//
// Needs the permission `references.write`.
//
// A repeated request answers 404 if the first succeeded.
func (s *Messaging) ReplayDeadLetter(ctx context.Context, id int64, letterID string) (*ReplayedDeadLetter, error) {
	r := request{id: "Messaging_ReplayDeadLetter", method: http.MethodPost, path: "/reference/{id}/dead-letters/{letterId}/replay"}
	r.inPath("id", id)
	r.inPath("letterId", letterID)
	return answer[ReplayedDeadLetter](ctx, s.c, &r)
}

// ReplayDeadLetters is POST /reference/{id}/dead-letters/replay: Read the items of callbacks again
// that could not be read, oldest first.
//
// A request replays one page. Pass `next` as `cursor` until it is null.
//
// Needs the permission `references.write`.
//
// A repeated request replays only those that remain.
func (s *Messaging) ReplayDeadLetters(ctx context.Context, id int64, in ReplayDeadLettersRequest) (*ReplayedDeadLetters, error) {
	r := request{id: "Messaging_ReplayDeadLetters", method: http.MethodPost, path: "/reference/{id}/dead-letters/replay", body: in}
	r.inPath("id", id)
	return answer[ReplayedDeadLetters](ctx, s.c, &r)
}

// Resolve is GET /chats/resolve: Look up the ids and names of a contact by one of them.
//
// Accepts any current or former id of the chat, in any form that a send accepts, or the contact's
// user name.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Resolve(ctx context.Context, reference int64, id string) (*Identity, error) {
	r := request{id: "Messaging_Resolve", method: http.MethodGet, path: "/chats/resolve"}
	r.inQuery("reference", reference)
	r.inQuery("id", id)
	return answer[Identity](ctx, s.c, &r)
}

// SearchMessagesParams are what [Messaging.SearchMessages] may be told; nil: nothing.
type SearchMessagesParams struct {
	// Only messages of this reference. If absent, of all references on which the caller has the
	// permission.
	Reference *int64 `query:"reference"`
	// Only messages of this chat of the reference: any id of the chat, current or former.
	ChatID string `query:"chatId"`
	// UNIX seconds. Only messages from this time or later.
	From *int64 `query:"from"`
	// UNIX seconds. Only messages from before this time.
	To *int64 `query:"to"`
	// Only messages of this type. One of text, image, video, document, audio.
	Type string `query:"type"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// SearchMessages is GET /chats/messages/search: Search the messages of all chats, newest first.
//
// Finds messages that have all words of `q`, in any order, in their text, caption, title, file name
// or `extracted` values. The last word may be the beginning of a word. Words between quotation
// marks follow each other. Case and accents do not matter. A message that was edited is found by
// its new text, a deleted one is not found. A page can have fewer than `limit` messages, or none,
// and a `next`: a request looks at no more than 500 messages that have the words.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) SearchMessages(ctx context.Context, q string, p *SearchMessagesParams) (*Page[FoundMessage], error) {
	r := request{id: "Messaging_SearchMessages", method: http.MethodGet, path: "/chats/messages/search", params: p}
	r.inQuery("q", q)
	return answer[Page[FoundMessage]](ctx, s.c, &r)
}

// AllSearchMessages walks through all pages of [Messaging.SearchMessages]. After an error it ends.
func (s *Messaging) AllSearchMessages(ctx context.Context, q string, p *SearchMessagesParams) iter.Seq2[FoundMessage, error] {
	var params SearchMessagesParams
	if p != nil {
		params = *p
	}
	return walk(func(cursor string) (*Page[FoundMessage], error) {
		if cursor != "" {
			params.Cursor = cursor
		}
		return s.SearchMessages(ctx, q, &params)
	})
}

// SendParams are what [Messaging.Send] may be told; nil: nothing.
type SendParams struct {
	// How long to wait for the first attempt, in seconds. 0: do not wait.
	Wait *int64 `query:"wait"`
	// 1: check the send without sending it.
	DryRun *int64 `query:"dryRun"`
	// Visible ASCII. A request with the same key and body within 24 hours returns the first message
	// and sends nothing.
	IdempotencyKey string `header:"Idempotency-Key"`
}

// Send is POST /chats/send: Send a message.
//
// Stores the message and waits for the first attempt to send it. A message that the network
// accepted has the status SENDING and the network's id. A message that is still waiting has the
// status PENDING and an id of this server, which stays valid. With `dryRun=1` the server checks the
// send and returns the result without sending.
//
// Needs the permission `chats.send`.
//
// A repeated request sends another message, unless both have the same `Idempotency-Key`: for 24
// hours, the answer is then the message's current record with `Idempotent-Replayed: true`. The same
// key with another body answers 409.
func (s *Messaging) Send(ctx context.Context, in SendRequest, p *SendParams) (*SendAnswer, error) {
	r := request{id: "Messaging_Send", method: http.MethodPost, path: "/chats/send", body: in, params: p}
	return answer[SendAnswer](ctx, s.c, &r)
}

// SessionStatus is GET /reference/session/status: Show the session of a reference.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) SessionStatus(ctx context.Context, reference int64) (*Session, error) {
	r := request{id: "Messaging_SessionStatus", method: http.MethodGet, path: "/reference/session/status"}
	r.inQuery("reference", reference)
	return answer[Session](ctx, s.c, &r)
}

// StartSession is POST /reference/session/start: Connect a reference, or check its credentials.
//
// Needs the permission `sessions.manage`.
//
// A session that is started already does not change.
func (s *Messaging) StartSession(ctx context.Context, in StartSessionRequest) (*Session, error) {
	r := request{id: "Messaging_StartSession", method: http.MethodPost, path: "/reference/session/start", body: in}
	return answer[Session](ctx, s.c, &r)
}

// TemplatesParams are what [Messaging.Templates] may be told; nil: nothing.
type TemplatesParams struct {
	// Only the template with exactly this name.
	Name string `query:"name"`
	// Only templates with this status. One of PENDING, APPROVED, REJECTED, DISABLED.
	Status string `query:"status"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Templates is GET /templates: List the message templates of a reference.
//
// Reads the server's copy, which follows the reports of the network and is fetched again every six
// hours. References of other types than provider-cloud and provider-sandbox answer `unsupported`.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) Templates(ctx context.Context, reference int64, p *TemplatesParams) (*Page[Template], error) {
	r := request{id: "Messaging_Templates", method: http.MethodGet, path: "/templates", params: p}
	r.inQuery("reference", reference)
	return answer[Page[Template]](ctx, s.c, &r)
}

// AllTemplates walks through all pages of [Messaging.Templates]. After an error it ends.
func (s *Messaging) AllTemplates(ctx context.Context, reference int64, p *TemplatesParams) iter.Seq2[Template, error] {
	var q TemplatesParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Template], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Templates(ctx, reference, &q)
	})
}

// Triggers is GET /reference/{id}/triggers: List the bots and flows of a reference, in the order in
// which they are asked.
//
// Lists published bots of the reference and published flows that are bound to it: the higher
// `priority` first, then the narrower rule, then the older one. Inactive ones are last.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) Triggers(ctx context.Context, id int64) (*Page[Listener], error) {
	r := request{id: "Messaging_Triggers", method: http.MethodGet, path: "/reference/{id}/triggers"}
	r.inPath("id", id)
	return answer[Page[Listener]](ctx, s.c, &r)
}

// UpdateChat is PATCH /chats: Change the data of a chat.
//
// Needs the permission `chats.send`.
//
// A repeated request has no further effect.
func (s *Messaging) UpdateChat(ctx context.Context, in UpdateChatRequest) (*Chat, error) {
	r := request{id: "Messaging_UpdateChat", method: http.MethodPatch, path: "/chats", body: in}
	return answer[Chat](ctx, s.c, &r)
}

// UpdateReference is PATCH /reference/{id}: Change a reference.
//
// Needs the permission `references.write`.
//
// A repeated request has no further effect.
func (s *Messaging) UpdateReference(ctx context.Context, id int64, in UpdateReferenceRequest) (*Reference, error) {
	r := request{id: "Messaging_UpdateReference", method: http.MethodPatch, path: "/reference/{id}", body: in}
	r.inPath("id", id)
	return answer[Reference](ctx, s.c, &r)
}

// Remote: Foreign MCP servers whose tools agents may use.
type Remote struct{ c *Client }

// Create is POST /aiflow/server: Register a foreign MCP server.
//
// Flows and agents call it by its name. Its tools are fetched with `refresh`, and each tool must be
// approved before it can be used. It must have a public address and use https, unless
// --webhook-allow has its host.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 409: the name is taken.
func (s *Remote) Create(ctx context.Context, in RemoteCreateRequest) (*RemoteView, error) {
	r := request{id: "Remote_Create", method: http.MethodPost, path: "/aiflow/server", body: in}
	return answer[RemoteView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/server/{serverId}: Delete a foreign MCP server.
//
// Tool nodes that call it end with the error `mcp.connect`, and flows that use it cannot be
// published.
//
// Needs the permission `flows.manage`.
//
// A repeated request answers 404.
func (s *Remote) Delete(ctx context.Context, serverID string) (*Done, error) {
	r := request{id: "Remote_Delete", method: http.MethodDelete, path: "/aiflow/server/{serverId}"}
	r.inPath("serverId", serverID)
	return answer[Done](ctx, s.c, &r)
}

// Refresh is POST /aiflow/server/{serverId}/refresh: Fetch the tools of a foreign MCP server.
//
// Uses a new connection and takes at most 25 seconds. A server that fails answers 502, and
// `problem` has the reason.
//
// Needs the permission `flows.manage`.
//
// A repeated request fetches the tools again.
func (s *Remote) Refresh(ctx context.Context, serverID string, in RefreshRequest) (*RemoteView, error) {
	r := request{id: "Remote_Refresh", method: http.MethodPost, path: "/aiflow/server/{serverId}/refresh", body: in}
	r.inPath("serverId", serverID)
	return answer[RemoteView](ctx, s.c, &r)
}

// Server is GET /aiflow/server/{serverId}: Show a foreign MCP server with its tools.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Remote) Server(ctx context.Context, serverID string) (*RemoteView, error) {
	r := request{id: "Remote_Server", method: http.MethodGet, path: "/aiflow/server/{serverId}"}
	r.inPath("serverId", serverID)
	return answer[RemoteView](ctx, s.c, &r)
}

// ServersParams are what [Remote.Servers] may be told; nil: nothing.
type ServersParams struct {
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Servers is GET /aiflow/server: List foreign MCP servers, oldest first.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Remote) Servers(ctx context.Context, p *ServersParams) (*Page[RemoteView], error) {
	r := request{id: "Remote_Servers", method: http.MethodGet, path: "/aiflow/server", params: p}
	return answer[Page[RemoteView]](ctx, s.c, &r)
}

// AllServers walks through all pages of [Remote.Servers]. After an error it ends.
func (s *Remote) AllServers(ctx context.Context, p *ServersParams) iter.Seq2[RemoteView, error] {
	var q ServersParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[RemoteView], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Servers(ctx, &q)
	})
}

// Update is PATCH /aiflow/server/{serverId}: Change a foreign MCP server, or approve its tools.
//
// An approval is for the `hash` of the tool's name, description, schema and hints. If the tool has
// changed since, the answer is 409. A tool that changes later cannot be used until it is approved
// again. A change of `url` removes all tools. `credential` "" removes the credential.
//
// Needs the permission `flows.manage`.
//
// A repeated request has no further effect.
func (s *Remote) Update(ctx context.Context, serverID string, in RemoteUpdateRequest) (*RemoteView, error) {
	r := request{id: "Remote_Update", method: http.MethodPatch, path: "/aiflow/server/{serverId}", body: in}
	r.inPath("serverId", serverID)
	return answer[RemoteView](ctx, s.c, &r)
}

// Sandbox: Simulated contacts of a sandbox reference.
type Sandbox struct{ c *Client }

// Echo is GET /sandbox/{reference}/echo: List the last 100 deliveries to trunkline://echo, newest
// first.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Sandbox) Echo(ctx context.Context, reference int64) (*Page[Echoed], error) {
	r := request{id: "Sandbox_Echo", method: http.MethodGet, path: "/sandbox/{reference}/echo"}
	r.inPath("reference", reference)
	return answer[Page[Echoed]](ctx, s.c, &r)
}

// ScreenParams are what [Sandbox.Screen] may be told; nil: nothing.
type ScreenParams struct {
	// Only the phone of this contact.
	From string `query:"from"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Screen is GET /sandbox/{reference}/messages: List the messages on the phones of simulated
// contacts, newest first.
//
// Edits, deletions and reactions are not messages of their own. They change the message, which then
// has `edited`, `deleted` or `reactions` [{emoji, mine, from?}].
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Sandbox) Screen(ctx context.Context, reference int64, p *ScreenParams) (*Page[map[string]json.RawMessage], error) {
	r := request{id: "Sandbox_Screen", method: http.MethodGet, path: "/sandbox/{reference}/messages", params: p}
	r.inPath("reference", reference)
	return answer[Page[map[string]json.RawMessage]](ctx, s.c, &r)
}

// AllScreen walks through all pages of [Sandbox.Screen]. After an error it ends.
func (s *Sandbox) AllScreen(ctx context.Context, reference int64, p *ScreenParams) iter.Seq2[map[string]json.RawMessage, error] {
	var q ScreenParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[map[string]json.RawMessage], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Screen(ctx, reference, &q)
	})
}

// Typing is GET /sandbox/{reference}/typing: List the chats in which simulated contacts see the
// typing indicator.
//
// The indicator is shown for 25 seconds, or until the next message.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Sandbox) Typing(ctx context.Context, reference int64) (*Page[Typing], error) {
	r := request{id: "Sandbox_Typing", method: http.MethodGet, path: "/sandbox/{reference}/typing"}
	r.inPath("reference", reference)
	return answer[Page[Typing]](ctx, s.c, &r)
}

// Write is POST /sandbox/{reference}/messages: Write as a simulated contact.
//
// The body is `{from, pushName?, group?, type, …}` with the members of the type as in a send.
// `edit` and `revoke` change one of the contact's own messages, `reaction` any message on its
// phone. Earlier messages to the contact are marked as read.
//
// Needs the permission `references.write`.
//
// A repeated request writes another message.
func (s *Sandbox) Write(ctx context.Context, reference int64, in WriteRequest) (*Written, error) {
	r := request{id: "Sandbox_Write", method: http.MethodPost, path: "/sandbox/{reference}/messages", body: in}
	r.inPath("reference", reference)
	return answer[Written](ctx, s.c, &r)
}

// Server: The server and the account.
type Server struct{ c *Client }

// Account is GET /account: Show the account, its subscription and its usage.
//
// Changes nothing.
func (s *Server) Account(ctx context.Context) (*Account, error) {
	r := request{id: "Server_Account", method: http.MethodGet, path: "/account"}
	return answer[Account](ctx, s.c, &r)
}

// AuditLogParams are what [Server.AuditLog] may be told; nil: nothing.
type AuditLogParams struct {
	// Only actions of this user: an id.
	User string `query:"user"`
	// Only actions of this kind of actor. One of cookie, login, token, agent, operator, system,
	// nobody.
	Kind string `query:"kind"`
	// Only this action.
	Action string `query:"action"`
	// Only actions on objects of this type.
	ObjectType string `query:"objectType"`
	// Only actions on the object with this id.
	ObjectID string `query:"objectId"`
	// Only actions on this reference or on its objects.
	Reference *int64 `query:"reference"`
	// UNIX seconds. Only entries at this time or later.
	Since *int64 `query:"since"`
	// UNIX seconds. Only entries before this time. Default, and 0: now.
	Until *int64 `query:"until"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
	// csv: return a CSV document instead of a page. One of json, csv.
	Format string `query:"format"`
}

// AuditLog is GET /audit: List the entries of the audit log, newest first.
//
// Every change has an entry, which is written in the transaction of the change: who did what to
// which object, and from where. Logins, failed logins and exports have entries, too. An entry has
// the names of the changed fields, but no secrets and no texts of messages. With `format=csv` the
// response is a CSV document of up to 50,000 entries. If there are more, its header `Link` has the
// address of the next document.
//
// Needs the permission `users.manage`.
//
// Changes nothing.
func (s *Server) AuditLog(ctx context.Context, p *AuditLogParams) (*Page[AuditEntry], error) {
	r := request{id: "Server_AuditLog", method: http.MethodGet, path: "/audit", params: p}
	return answer[Page[AuditEntry]](ctx, s.c, &r)
}

// AllAuditLog walks through all pages of [Server.AuditLog]. After an error it ends.
func (s *Server) AllAuditLog(ctx context.Context, p *AuditLogParams) iter.Seq2[AuditEntry, error] {
	var q AuditLogParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[AuditEntry], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.AuditLog(ctx, &q)
	})
}

// DeleteAccount is DELETE /account: Delete the account and all of its data.
//
// Requires the caller's own password. All users, tokens and sessions of the account end at once,
// and so do the sessions of its references. A job then erases chats, messages, files, webhooks and
// logs after the response.
//
// Only an owner of the account may use it.
//
// A scoped token is refused.
//
// A repeated request answers 401: the user no longer exists.
func (s *Server) DeleteAccount(ctx context.Context, in DeleteAccountRequest) (*Deleting, error) {
	r := request{id: "Server_DeleteAccount", method: http.MethodDelete, path: "/account", body: in}
	return answer[Deleting](ctx, s.c, &r)
}

// Job is GET /jobs/{id}: Show a background job.
//
// The response to the deletion of a chat, a reference or the account has its job. The object is no
// longer listed or found meanwhile. A finished job is shown for 30 days. The job of a deleted
// account cannot be shown after the account's users are erased.
//
// Changes nothing.
func (s *Server) Job(ctx context.Context, id string) (*Job, error) {
	r := request{id: "Server_Job", method: http.MethodGet, path: "/jobs/{id}"}
	r.inPath("id", id)
	return answer[Job](ctx, s.c, &r)
}

// Probe is GET /probe: Check whether the server works.
//
// Answers 503 if there is no space for another message, the database or the folder of media files
// cannot be written, there are too many open files, or the server is about to stop.
//
// Changes nothing.
func (s *Server) Probe(ctx context.Context) (*Probe, error) {
	r := request{id: "Server_Probe", method: http.MethodGet, path: "/probe"}
	return answer[Probe](ctx, s.c, &r)
}

// Usage: Usage and cost of language models.
type Usage struct{ c *Client }

// Budgets is GET /aiusage/budget: Show the budgets for language models and what is spent.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) Budgets(ctx context.Context) (*Budgets, error) {
	r := request{id: "Usage_Budgets", method: http.MethodGet, path: "/aiusage/budget"}
	return answer[Budgets](ctx, s.c, &r)
}

// UsageDetailParams are what [Usage.Detail] may be told; nil: nothing.
type UsageDetailParams struct {
	// UNIX seconds. Only calls that started at this time or later. 0: 30 days before to.
	From *int64 `query:"from"`
	// UNIX seconds. Only calls that started before this time. 0: now.
	To *int64 `query:"to"`
	// Only calls in chats of this reference.
	Reference *int64 `query:"reference"`
	// Only calls in the chat with this chatId.
	Chat string `query:"chat"`
	// Only calls for this feature: assistant, agent, extractor, draft, knowledge or another.
	Feature string `query:"feature"`
	// Only calls of this flow: an id.
	Flow string `query:"flow"`
	// Only calls of this run: an id.
	Run string `query:"run"`
	// Only calls that this user requested: an id.
	User string `query:"user"`
	// Only calls of this provider.
	Provider string `query:"provider"`
	// The model that answered, as the provider names it.
	Model string `query:"model"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Detail is GET /aiusage/detail: List calls of language models, newest first.
//
// A call is listed from before it is made. Prompts and answers are not stored.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) Detail(ctx context.Context, p *UsageDetailParams) (*Page[UsageCall], error) {
	r := request{id: "Usage_Detail", method: http.MethodGet, path: "/aiusage/detail", params: p}
	return answer[Page[UsageCall]](ctx, s.c, &r)
}

// AllDetail walks through all pages of [Usage.Detail]. After an error it ends.
func (s *Usage) AllDetail(ctx context.Context, p *UsageDetailParams) iter.Seq2[UsageCall, error] {
	var q UsageDetailParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[UsageCall], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Detail(ctx, &q)
	})
}

// MissingPricing is GET /aiusage/missing-pricing: List used models without a price.
//
// Sorted by number of calls, highest first. Set prices with PUT /aiusage/pricing, then apply them
// with POST /aiusage/reprice.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) MissingPricing(ctx context.Context) (*MissingPrices, error) {
	r := request{id: "Usage_MissingPricing", method: http.MethodGet, path: "/aiusage/missing-pricing"}
	return answer[MissingPrices](ctx, s.c, &r)
}

// Pricing is GET /aiusage/pricing: Show the account's own prices of language models.
//
// They take precedence over `sources`, which apply to all accounts: a file of the operator and the
// built-in table.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) Pricing(ctx context.Context) (*Pricing, error) {
	r := request{id: "Usage_Pricing", method: http.MethodGet, path: "/aiusage/pricing"}
	return answer[Pricing](ctx, s.c, &r)
}

// Reprice is POST /aiusage/reprice: Recalculate the cost of calls with the current prices.
//
// `changed` counts the calls whose cost, or cost status, has changed.
//
// Needs the permission `users.manage`.
//
// A repeated request changes nothing, unless prices were set since.
func (s *Usage) Reprice(ctx context.Context, in RepriceRequest) (*Repriced, error) {
	r := request{id: "Usage_Reprice", method: http.MethodPost, path: "/aiusage/reprice", body: in}
	return answer[Repriced](ctx, s.c, &r)
}

// RollupParams are what [Usage.Rollup] may be told; nil: nothing.
type RollupParams struct {
	// UNIX seconds. Only calls that started at this time or later. 0: 30 days before to.
	From *int64 `query:"from"`
	// UNIX seconds. Only calls that started before this time. 0: now.
	To *int64 `query:"to"`
	// Only calls in chats of this reference.
	Reference *int64 `query:"reference"`
	// Only calls in the chat with this chatId.
	Chat string `query:"chat"`
	// Only calls for this feature: assistant, agent, extractor, draft, knowledge or another.
	Feature string `query:"feature"`
	// Only calls of this flow: an id.
	Flow string `query:"flow"`
	// Only calls of this run: an id.
	Run string `query:"run"`
	// Only calls that this user requested: an id.
	User string `query:"user"`
	// Only calls of this provider.
	Provider string `query:"provider"`
	// The model that answered, as the provider names it.
	Model string `query:"model"`
	// One or two groups, separated by a comma.
	GroupBy []string `query:"groupBy"`
	// IANA name of the time zone.
	Timezone string `query:"timezone"`
}

// Rollup is GET /aiusage/rollup: Sum up calls of language models.
//
// Groups by one or two keys. Hours, days, weeks and months are in `timezone`; there is a row for
// each one between `from` and `to` and each value of the other group, in order of time. Other
// groups are sorted by cost, highest first. There are at most 5,000 rows; `truncated` is true if
// some are left out. `total` includes all calls. `cost` includes only calls with a known cost: it
// is a lower bound if `unpricedCalls` is not 0.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) Rollup(ctx context.Context, p *RollupParams) (*UsageRollup, error) {
	r := request{id: "Usage_Rollup", method: http.MethodGet, path: "/aiusage/rollup", params: p}
	return answer[UsageRollup](ctx, s.c, &r)
}

// SetBudgets is PUT /aiusage/budget: Set the budgets for language models.
//
// Replaces all budgets; earlier spending counts. A call must fit every budget that applies to it
// with its maximum cost and tokens. Otherwise it is not made, and its node continues with its
// fallback or its output error. A budget of `project`, `flow` or `chat` without an id applies to
// each of them separately. A model without a known price counts only against `tokens`, or is
// refused with `unpriced: refuse`.
//
// Needs the permission `users.manage`.
//
// A repeated request has no further effect.
func (s *Usage) SetBudgets(ctx context.Context, in SetBudgetsRequest) (*Budgets, error) {
	r := request{id: "Usage_SetBudgets", method: http.MethodPut, path: "/aiusage/budget", body: in}
	return answer[Budgets](ctx, s.c, &r)
}

// SetPricing is PUT /aiusage/pricing: Set the account's own prices of language models.
//
// Replaces all of them. They apply to calls from now on; POST /aiusage/reprice applies them to
// earlier calls. A price is found by the model's name in the provider's answer, or by that name
// without a date at its end (-2026-01-05, -20260105).
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// A repeated request has no further effect.
func (s *Usage) SetPricing(ctx context.Context, in SetPricingRequest) (*Pricing, error) {
	r := request{id: "Usage_SetPricing", method: http.MethodPut, path: "/aiusage/pricing", body: in}
	return answer[Pricing](ctx, s.c, &r)
}

// Webhooks: Webhooks and their deliveries.
type Webhooks struct{ c *Client }

// Delete is DELETE /references/hookconf/{endpointId}: Remove a webhook with its pending deliveries.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request answers 404.
func (s *Webhooks) Delete(ctx context.Context, endpointID string) (*Done, error) {
	r := request{id: "Webhooks_Delete", method: http.MethodDelete, path: "/references/hookconf/{endpointId}"}
	r.inPath("endpointId", endpointID)
	return answer[Done](ctx, s.c, &r)
}

// DeliveriesParams are what [Webhooks.Deliveries] may be told; nil: nothing.
type DeliveriesParams struct {
	// Only deliveries to this endpointId.
	Endpoint string `query:"endpoint"`
	// Only deliveries in this state. One of pending, delivered, failed, dead.
	State string `query:"state"`
	// Any id of the chat, current or former.
	ChatID string `query:"chatId"`
	// Any of the message's ids.
	MessageID string `query:"messageId"`
	// Kind of event: message, status, data, calls, subscription or session.
	Event string `query:"event"`
	// Maximum number of items on the page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// The next of the previous page.
	Cursor string `query:"cursor"`
}

// Deliveries is GET /references/deliveries: List pending and past webhook deliveries of a
// reference.
//
// Pending deliveries are first, by the time of their event, then finished ones, by the time at
// which they finished; newest first in both. The log of a removed webhook is kept until its
// retention ends.
//
// Needs the permission `webhooks.manage`.
//
// Changes nothing.
func (s *Webhooks) Deliveries(ctx context.Context, reference int64, p *DeliveriesParams) (*Page[Delivery], error) {
	r := request{id: "Webhooks_Deliveries", method: http.MethodGet, path: "/references/deliveries", params: p}
	r.inQuery("reference", reference)
	return answer[Page[Delivery]](ctx, s.c, &r)
}

// AllDeliveries walks through all pages of [Webhooks.Deliveries]. After an error it ends.
func (s *Webhooks) AllDeliveries(ctx context.Context, reference int64, p *DeliveriesParams) iter.Seq2[Delivery, error] {
	var q DeliveriesParams
	if p != nil {
		q = *p
	}
	return walk(func(cursor string) (*Page[Delivery], error) {
		if cursor != "" {
			q.Cursor = cursor
		}
		return s.Deliveries(ctx, reference, &q)
	})
}

// Endpoints is GET /references/hookconf: List the webhooks of a reference.
//
// Needs the permission `webhooks.manage`.
//
// Changes nothing.
func (s *Webhooks) Endpoints(ctx context.Context, reference int64) (*Page[Endpoint], error) {
	r := request{id: "Webhooks_Endpoints", method: http.MethodGet, path: "/references/hookconf"}
	r.inQuery("reference", reference)
	return answer[Page[Endpoint]](ctx, s.c, &r)
}

// Put is POST /references/hookconf: Add a webhook, or update the headers of the one with this URL.
//
// For a sandbox reference the URL may be trunkline://echo: a built-in receiver then gets the
// deliveries.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request has no further effect.
func (s *Webhooks) Put(ctx context.Context, in PutRequest) (*HookconfResult, error) {
	r := request{id: "Webhooks_Put", method: http.MethodPost, path: "/references/hookconf", body: in}
	return answer[HookconfResult](ctx, s.c, &r)
}

// Register is POST /references/registerWebHook: Register a webhook and get its signing secret, or
// subscribe at the network.
//
// With `webhook`: answers 201 with the secret for a new URL, 200 without it for an existing one.
// With `provider: true`: asks the reference's network to post its events to `callbackUrl`, by
// default to the address in the network's own settings, and answers `{"success": true}`. The
// network calls `callbackUrl` immediately with the reference's `verifyToken`.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request has no further effect and does not return the secret.
func (s *Webhooks) Register(ctx context.Context, in RegisterRequest) (*RegisterAnswer, error) {
	r := request{id: "Webhooks_Register", method: http.MethodPost, path: "/references/registerWebHook", body: in}
	return answer[RegisterAnswer](ctx, s.c, &r)
}

// Replay is POST /references/deliveries/replay: Deliver again: given deliveries, or all of a
// webhook in a time span.
//
// Give either `ids` or `endpoint`. Replayed deliveries have their old `webhook-id` and
// `X-Trunkline-Sequence`, and do not delay newer ones. Deliveries that are pending or no longer
// stored are not counted.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request delivers again what was delivered since.
func (s *Webhooks) Replay(ctx context.Context, in WebhooksReplayRequest) (*ReplayResult, error) {
	r := request{id: "Webhooks_Replay", method: http.MethodPost, path: "/references/deliveries/replay", body: in}
	return answer[ReplayResult](ctx, s.c, &r)
}

// Test is POST /references/hookconf/{endpointId}/test: Send a test event to a webhook and show its
// response.
//
// The event is a `message` with the text "This is a test event. No contact wrote it.", signed as
// usual, with `X-Trunkline-Sequence: 0`. It is sent regardless of the webhook's state and events,
// is in the log, and is not retried.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request sends another test event.
func (s *Webhooks) Test(ctx context.Context, endpointID string) (*Attempt, error) {
	r := request{id: "Webhooks_Test", method: http.MethodPost, path: "/references/hookconf/{endpointId}/test"}
	r.inPath("endpointId", endpointID)
	return answer[Attempt](ctx, s.c, &r)
}

// Update is PATCH /references/hookconf/{endpointId}: Change a webhook, or rotate its secret.
//
// Needs the permission `webhooks.manage`.
//
// A repeated request has no further effect, except that `rotateSecret` creates another secret.
func (s *Webhooks) Update(ctx context.Context, endpointID string, in WebhooksUpdateRequest) (*Endpoint, error) {
	r := request{id: "Webhooks_Update", method: http.MethodPatch, path: "/references/hookconf/{endpointId}", body: in}
	r.inPath("endpointId", endpointID)
	return answer[Endpoint](ctx, s.c, &r)
}
