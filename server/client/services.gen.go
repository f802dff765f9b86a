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
	Auth       *Auth       // Users, what they may do, and their tokens.
	Billing    *Billing    // What an account has subscribed to.
	Botengine  *Botengine  // Bots of one flow.
	Credential *Credential // Secrets that flows and foreign servers use.
	Extractor  *Extractor  // What finds values in messages.
	Knowledge  *Knowledge  // Files that assistants answer from.
	MCP        *MCP        // Functions that AI agents call.
	Messaging  *Messaging  // Lines, their sessions, chats, messages, groups and templates.
	Remote     *Remote     // Foreign MCP servers whose tools agents may use.
	Sandbox    *Sandbox    // Simulated contacts of a sandbox line.
	Server     *Server     // The server and the account.
	Usage      *Usage      // What language models were asked for, and what it cost.
	Webhooks   *Webhooks   // Where events are delivered, and what became of them.
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

// Approve is POST /aiflow/run/{runId}/approve: Let an agent use a tool, or not.
//
// The consent is for the call that the step shows, with these arguments. 404 if the run has no step
// of this id that asks.
//
// Needs the permission `flows.manage`.
//
// A scoped token is refused.
//
// A step that has been answered stays as it is. Once the run has ended it is a 409.
func (s *Aiflow) Approve(ctx context.Context, runID string, in ApproveRequest) (*Run, error) {
	r := request{id: "Aiflow_Approve", method: http.MethodPost, path: "/aiflow/run/{runId}/approve", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Bind is PUT /aiflow/flow/{flowId}/bind: Have a flow listen on a line, or not.
//
// Its published trigger node says to what. A function is refused.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) Bind(ctx context.Context, flowID string, in BindRequest) (*Page[Binding], error) {
	r := request{id: "Aiflow_Bind", method: http.MethodPut, path: "/aiflow/flow/{flowId}/bind", body: in}
	r.inPath("flowId", flowID)
	return answer[Page[Binding]](ctx, s.c, &r)
}

// Bindings is GET /aiflow/flow/{flowId}/bind: List the lines on which a flow listens.
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
// Once the run has ended it is a 409.
func (s *Aiflow) Cancel(ctx context.Context, runID string, in CancelRequest) (*Run, error) {
	r := request{id: "Aiflow_Cancel", method: http.MethodPost, path: "/aiflow/run/{runId}/cancel", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Create is POST /aiflow/flow: Make a flow or a function.
//
// A draft may be any object; `problems` says where it is wrong. What it is, its `kind` says.
//
// Needs the permission `flows.manage`.
//
// Sent again it makes another flow, or is refused where the slug is taken.
func (s *Aiflow) Create(ctx context.Context, in AiflowCreateRequest) (*Flow, error) {
	r := request{id: "Aiflow_Create", method: http.MethodPost, path: "/aiflow/flow", body: in}
	return answer[Flow](ctx, s.c, &r)
}

// CreateProject is POST /aiflow/project: Make a project for flows.
//
// Needs the permission `flows.manage`.
//
// Sent again it makes another project.
func (s *Aiflow) CreateProject(ctx context.Context, in CreateProjectRequest) (*Project, error) {
	r := request{id: "Aiflow_CreateProject", method: http.MethodPost, path: "/aiflow/project", body: in}
	return answer[Project](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/flow/{flowId}: Delete a flow.
//
// Its runs end. Flows that were published with a function keep it.
//
// Needs the permission `flows.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Aiflow) Delete(ctx context.Context, flowID string) (*Done, error) {
	r := request{id: "Aiflow_Delete", method: http.MethodDelete, path: "/aiflow/flow/{flowId}"}
	r.inPath("flowId", flowID)
	return answer[Done](ctx, s.c, &r)
}

// DeleteProject is DELETE /aiflow/project/{projectId}: Delete a project with its flows.
//
// Their runs end.
//
// Needs the permission `flows.manage`.
//
// Once it is done, the same request is answered 404.
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
	// A version; 0, or without it: the published one.
	From *int64 `query:"from"`
	// A version; 0, or without it: the draft.
	To *int64 `query:"to"`
}

// Diff is GET /aiflow/flow/{flowId}/diff: Compare two versions of a flow.
//
// Without parameters it says what publishing the draft would change. What means the same is not
// told: the order of members, how numbers are written, and `ui`. Lists of the same length are
// compared item by item, others as a whole.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Diff(ctx context.Context, flowID string, p *DiffParams) (*FlowDiff, error) {
	r := request{id: "Aiflow_Diff", method: http.MethodGet, path: "/aiflow/flow/{flowId}/diff", params: p}
	r.inPath("flowId", flowID)
	return answer[FlowDiff](ctx, s.c, &r)
}

// DraftFromText is POST /aiflow/flow/{flowId}/draft-from-text: Propose a draft of a flow after a
// description.
//
// A model writes it, and corrects it up to three times while it has problems. Nothing is saved and
// nothing published: PATCH the flow with the draft to take it. Of `mock/…` models, and where the
// server has no other, a few rules make a small draft: it asks for what the text says that it asks
// for.
//
// Needs the permission `flows.manage`.
//
// Changes nothing; sent again it asks the model again, which is paid for again.
func (s *Aiflow) DraftFromText(ctx context.Context, flowID string, in DraftFromTextRequest) (*DraftProposal, error) {
	r := request{id: "Aiflow_DraftFromText", method: http.MethodPost, path: "/aiflow/flow/{flowId}/draft-from-text", body: in}
	r.inPath("flowId", flowID)
	return answer[DraftProposal](ctx, s.c, &r)
}

// Event is POST /aiflow/run/{runId}/event: Give a run an event that it waits for.
//
// Needs the permission `flows.manage`.
//
// A run that does not wait for the event stays as it is. Once it has ended it is a 409.
func (s *Aiflow) Event(ctx context.Context, runID string, in EventRequest) (*Run, error) {
	r := request{id: "Aiflow_Event", method: http.MethodPost, path: "/aiflow/run/{runId}/event", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Export is GET /aiflow/project/{projectId}/export: Show a project as one document.
//
// Its flows with their drafts and what is published of them, each with the functions that it was
// published with. Lines, runs, tests and earlier versions stay behind, and so do credentials. A
// project of more than 500 flows, or of more than 8 MiB of them, is a 409.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Flows is GET /aiflow/flow/list: List flows, the oldest first.
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

// Import is POST /aiflow/project/import: Make a project of such a document, or of an export of
// Typebot.
//
// All of it or nothing, with new ids. Drafts are taken as they are. What was published is published
// again; what cannot be stays a draft, and its `problems` say why. An export of Typebot, versions 3
// to 6, becomes one flow that stays a draft: its `problems` name what has no counterpart, by its
// place in the export, and what is wrong with the draft.
//
// Needs the permission `flows.manage`.
//
// Sent again it makes another project.
func (s *Aiflow) Import(ctx context.Context, in ImportRequest) (*ImportedProject, error) {
	r := request{id: "Aiflow_Import", method: http.MethodPost, path: "/aiflow/project/import", body: in}
	return answer[ImportedProject](ctx, s.c, &r)
}

// Models is GET /aiflow/model: List the language models that flows may name.
//
// Each provider is asked which it has. One that cannot say is shown with an error; flows may name
// its models all the same.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Models(ctx context.Context) (*Models, error) {
	r := request{id: "Aiflow_Models", method: http.MethodGet, path: "/aiflow/model"}
	return answer[Models](ctx, s.c, &r)
}

// Palette is GET /aiflow/palette: The node types that flows and bots are made of.
//
// What an editor needs to know: for each type its group, its outputs, the engines that have it, and
// the JSON Schema of its config, with `x-kind` where a text is more than that (template,
// expression, data, duration, bytes, schema).
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Projects is GET /aiflow/project/list: List projects, the oldest first.
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
// Freezes it as a numbered version, together with the functions that it calls as they are published
// now. Runs that are under way go on with the version that they began with. A draft with errors is
// refused, and each of them is named.
//
// Needs the permission `flows.manage`.
//
// A draft that is published already, with the same functions, makes no further version.
func (s *Aiflow) Publish(ctx context.Context, flowID string, in FlowAction) (*Flow, error) {
	r := request{id: "Aiflow_Publish", method: http.MethodPost, path: "/aiflow/flow/{flowId}/publish", body: in}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// Rename is POST /aiflow/flow/{flowId}/rename: Give a flow or a function another slug.
//
// In its draft, and in one transaction in all drafts of the project that call it or jump to it.
// What is published stays as it is: `published` lists the versions that know the old slug. Those
// that call a function go on with it as they were published; those that jump to a flow are to be
// published after it.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) Rename(ctx context.Context, flowID string, in RenameRequest) (*RenamedFlow, error) {
	r := request{id: "Aiflow_Rename", method: http.MethodPost, path: "/aiflow/flow/{flowId}/rename", body: in}
	r.inPath("flowId", flowID)
	return answer[RenamedFlow](ctx, s.c, &r)
}

// Replay is POST /aiflow/flow/{flowId}/replay: Play past runs against the draft.
//
// What came to each run comes again, at the same times, to the version that it ran and to the
// draft; the answer says what the draft does differently. Nothing is sent and no call is made:
// calls get the answers that the run got. Without `runs` and `chats` these are the last 20 runs.
// What came more than 30 days ago is not known any more.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Replay(ctx context.Context, flowID string, in PastRuns) (*Page[Replay], error) {
	r := request{id: "Aiflow_Replay", method: http.MethodPost, path: "/aiflow/flow/{flowId}/replay", body: in}
	r.inPath("flowId", flowID)
	return answer[Page[Replay]](ctx, s.c, &r)
}

// Retry is POST /aiflow/run/{runId}/retry: Have a failed run go on with the step that failed.
//
// What it did before stays done. A call that must not be made twice, and may have been made, is
// made again only with `repeat`; it has the `Idempotency-Key` of its first attempt. 409 if the run
// did not fail by an error, or another one is active in its chat. Answers after the turn, at the
// latest after 10 s.
//
// Needs the permission `flows.manage`.
//
// A run that has not failed again is a 409.
func (s *Aiflow) Retry(ctx context.Context, runID string, in RetryRequest) (*Run, error) {
	r := request{id: "Aiflow_Retry", method: http.MethodPost, path: "/aiflow/run/{runId}/retry", body: in}
	r.inPath("runId", runID)
	return answer[Run](ctx, s.c, &r)
}

// Rollback is POST /aiflow/flow/{flowId}/rollback: Make an earlier version the one that runs, and
// the draft.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) Rollback(ctx context.Context, flowID string, in RollbackRequest) (*Flow, error) {
	r := request{id: "Aiflow_Rollback", method: http.MethodPost, path: "/aiflow/flow/{flowId}/rollback", body: in}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// AiflowRunsParams are what [Aiflow.Runs] may be told; nil: nothing.
type AiflowRunsParams struct {
	// Only runs of this flow. Those of functions that it calls are left out, unless parent is given.
	FlowID string `query:"flowId"`
	// Only runs that this run began, those of functions included.
	Parent string `query:"parent"`
	// Only runs in this state. One of running, waiting, completed, failed, cancelled.
	Status string `query:"status"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Runs is GET /aiflow/run: List runs of flows, the newest first.
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

// SetTests is PUT /aiflow/flow/{flowId}/test: Keep tests beside it.
//
// In place of those that were there. One that cannot be played is refused, and its place named.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) SetTests(ctx context.Context, flowID string, in TestList) (*TestList, error) {
	r := request{id: "Aiflow_SetTests", method: http.MethodPut, path: "/aiflow/flow/{flowId}/test", body: in}
	r.inPath("flowId", flowID)
	return answer[TestList](ctx, s.c, &r)
}

// Simulate is POST /aiflow/flow/{flowId}/simulate: Play a step of a conversation that nobody has.
//
// Without `state` a run begins, whatever the trigger says, and `input` or `message` is what began
// it; else `state` is that of the answer before, and one thing happens: `input`, `message`,
// `advance`, `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or kept; calls have
// the answers of `given.mocks`, and fail with `simulate.no_mock` where none fits. A state of
// another draft is a 409: begin anew.
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
// What is published of it. Without `chatId` it sends nothing. Without `reference` it is the one
// line that the flow is bound to, else the one that has the chat. Answers after the first turn, at
// the latest after 10 s.
//
// Needs the permission `flows.manage`.
//
// Sent again it begins another run.
func (s *Aiflow) Start(ctx context.Context, in StartRequest) (*Run, error) {
	r := request{id: "Aiflow_Start", method: http.MethodPost, path: "/aiflow/run", body: in}
	return answer[Run](ctx, s.c, &r)
}

// Test is POST /aiflow/flow/{flowId}/test: Play its tests.
//
// Those that are kept beside it, or `tests`, against the draft, or `version`. Nothing is sent or
// kept. All together may take 10,000 steps.
//
// Needs the permission `flows.manage`.
//
// Changes nothing.
func (s *Aiflow) Test(ctx context.Context, flowID string, in TestRun) (*TestReport, error) {
	r := request{id: "Aiflow_Test", method: http.MethodPost, path: "/aiflow/flow/{flowId}/test", body: in}
	r.inPath("flowId", flowID)
	return answer[TestReport](ctx, s.c, &r)
}

// Tests is GET /aiflow/flow/{flowId}/test: List the tests that are kept beside it.
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
	// The ETag of what was changed.
	IfMatch string `header:"If-Match"`
}

// Update is PATCH /aiflow/flow/{flowId}: Change the name or the draft of a flow.
//
// With `If-Match` = the flow's `ETag`, its revision, a change of an older revision is refused:
// somebody else was faster. What is published stays as it is.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) Update(ctx context.Context, flowID string, in AiflowUpdateRequest, p *AiflowUpdateParams) (*Flow, error) {
	r := request{id: "Aiflow_Update", method: http.MethodPatch, path: "/aiflow/flow/{flowId}", body: in, params: p}
	r.inPath("flowId", flowID)
	return answer[Flow](ctx, s.c, &r)
}

// UpdateProject is PATCH /aiflow/project/{projectId}: Change a project.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Aiflow) UpdateProject(ctx context.Context, projectID string, in UpdateProjectRequest) (*Project, error) {
	r := request{id: "Aiflow_UpdateProject", method: http.MethodPatch, path: "/aiflow/project/{projectId}", body: in}
	r.inPath("projectId", projectID)
	return answer[Project](ctx, s.c, &r)
}

// UsedByParams are what [Aiflow.UsedBy] may be told; nil: nothing.
type UsedByParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// UsedBy is GET /aiflow/flow/{flowId}/usedby: List what uses a function, the oldest first.
//
// Published versions that came with it, be it that a function of theirs calls it, and drafts that
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

// Validate is POST /aiflow/flow/{flowId}/validate: Say what is wrong with the draft of a flow.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Versions is GET /aiflow/flow/{flowId}/versions: List what was published of a flow, the oldest
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

// Auth: Users, what they may do, and their tokens.
type Auth struct{ c *Client }

// AcceptInvitation is POST /user/invitation/accept: Accept an invitation.
//
// Makes the user, also where sign-up is closed. With `cookie: true`, for browsers, the answer also
// sets a session cookie: 12 hours from the last request, 7 days at most.
//
// Sent again it is a 422: the link works once.
func (s *Auth) AcceptInvitation(ctx context.Context, in AcceptInvitationRequest) (*SessionView, error) {
	r := request{id: "Auth_AcceptInvitation", method: http.MethodPost, path: "/user/invitation/accept", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// AddPasskey is POST /user/passkeys: Add the passkey that the browser has made.
//
// From then on it signs the user in, without a password and without a code of a second factor. A
// user has 20 at most.
//
// A scoped token is refused.
//
// Sent again it is a 422: the challenge was answered.
func (s *Auth) AddPasskey(ctx context.Context, in AddPasskeyRequest) (*Passkey, error) {
	r := request{id: "Auth_AddPasskey", method: http.MethodPost, path: "/user/passkeys", body: in}
	return answer[Passkey](ctx, s.c, &r)
}

// BeginPasskey is POST /user/passkeys/begin: Begin to add a passkey.
//
// `publicKey` is what `PublicKeyCredential.parseCreationOptionsFromJSON` of a browser takes. It is
// good for one answer, to any node, within 5 minutes. Passkeys need a base URL with https and a
// host name, or http://localhost; elsewhere the answer is 404.
//
// A scoped token is refused.
//
// Sent again it makes another challenge; those before are good for 5 minutes.
func (s *Auth) BeginPasskey(ctx context.Context, in Password) (*Ceremony, error) {
	r := request{id: "Auth_BeginPasskey", method: http.MethodPost, path: "/user/passkeys/begin", body: in}
	return answer[Ceremony](ctx, s.c, &r)
}

// BeginPasskeyLogin is POST /user/login/passkey/begin: Begin to log in with a passkey.
//
// `publicKey` is what `PublicKeyCredential.parseRequestOptionsFromJSON` of a browser takes. It is
// good for one answer, to any node, within 5 minutes. It names no user: the passkey does. Passkeys
// need a base URL with https and a host name, or http://localhost; elsewhere the answer is 404.
//
// Sent again it makes another challenge; those before are good for 5 minutes.
func (s *Auth) BeginPasskeyLogin(ctx context.Context) (*Ceremony, error) {
	r := request{id: "Auth_BeginPasskeyLogin", method: http.MethodPost, path: "/user/login/passkey/begin"}
	return answer[Ceremony](ctx, s.c, &r)
}

// ConfirmSecondFactor is POST /user/second-factor/confirm: Confirm the authenticator app with a
// code.
//
// From then on POST /user/login needs a code. The answer has ten recovery codes, each of which
// takes the place of one code; they are shown only now.
//
// A scoped token is refused.
//
// Sent again it is a 409: the second factor is set up.
func (s *Auth) ConfirmSecondFactor(ctx context.Context, in ConfirmSecondFactorRequest) (*Recovery, error) {
	r := request{id: "Auth_ConfirmSecondFactor", method: http.MethodPost, path: "/user/second-factor/confirm", body: in}
	return answer[Recovery](ctx, s.c, &r)
}

// ConfirmSignUp is POST /user/signup/confirm: Confirm a sign-up with the link of its mail.
//
// The password is that of the sign-up. The link works once. With `cookie: true`, for browsers, the
// answer also sets a session cookie: 12 hours from the last request, 7 days at most.
//
// Sent again it is a 422: the link works once.
func (s *Auth) ConfirmSignUp(ctx context.Context, in ConfirmSignUpRequest) (*SessionView, error) {
	r := request{id: "Auth_ConfirmSignUp", method: http.MethodPost, path: "/user/signup/confirm", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// ConnectOIDC is POST /user/oidc/connect: Connect the caller with an identity at the sign-in
// provider.
//
// Open `url` in the same browser, whose cookie the answer sets. From then on the caller signs in
// there, too.
//
// A scoped token is refused.
//
// Sent again it begins another sign-in; the one before ends.
func (s *Auth) ConnectOIDC(ctx context.Context, in Password) (*Connect, error) {
	r := request{id: "Auth_ConnectOIDC", method: http.MethodPost, path: "/user/oidc/connect", body: in}
	return answer[Connect](ctx, s.c, &r)
}

// CreateToken is POST /user/token: Make a token for a program.
//
// It has those of the caller's rights that it names, as long as he has them, and is shown only
// once. It ends with `expiresAt`, at most a year from now, when it is revoked, or with a new
// password of its owner. A user has 100 at most.
//
// A scoped token is refused.
//
// Sent again it makes another token.
func (s *Auth) CreateToken(ctx context.Context, in CreateTokenRequest) (*NewToken, error) {
	r := request{id: "Auth_CreateToken", method: http.MethodPost, path: "/user/token", body: in}
	return answer[NewToken](ctx, s.c, &r)
}

// CreateUser is POST /user: Add a user to the account.
//
// With `permissions` or a `role`, of which the caller lacks nothing; only an owner adds an owner.
// An invitation lets new users choose their passwords: `POST /user/invitation`.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Sent again it is a 409: the e-mail has a user.
func (s *Auth) CreateUser(ctx context.Context, in CreateUserRequest) (*User, error) {
	r := request{id: "Auth_CreateUser", method: http.MethodPost, path: "/user", body: in}
	return answer[User](ctx, s.c, &r)
}

// DeleteUser is DELETE /user/{userId}: Delete a user.
//
// The user's tokens and cookies end at once. A caller deletes only users who have no permission
// that the caller lacks, and owners only as an owner. An account keeps one owner who may log in.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) DeleteUser(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_DeleteUser", method: http.MethodDelete, path: "/user/{userId}"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// EnrolSecondFactor is POST /user/second-factor: Begin to set up an authenticator app.
//
// Makes a secret for an app that shows codes (TOTP: RFC 6238, SHA-1, 6 digits, 30 seconds). It
// counts once POST /user/second-factor/confirm has seen a code.
//
// A scoped token is refused.
//
// Sent again it makes another secret; the one before counts no more.
func (s *Auth) EnrolSecondFactor(ctx context.Context, in Password) (*Enrolment, error) {
	r := request{id: "Auth_EnrolSecondFactor", method: http.MethodPost, path: "/user/second-factor", body: in}
	return answer[Enrolment](ctx, s.c, &r)
}

// InvitationsParams are what [Auth.Invitations] may be told; nil: nothing.
type InvitationsParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Invitations is GET /user/invitation: List the open invitations of the account, the oldest first.
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
// The link works once, within 7 days. With a mail server a mail brings it, which shows that the
// person has the mailbox, and `link` is null; without, or with `mail: false`, `link` is in the
// answer, and only there. It gives `permissions` or a `role`, of which the caller lacks nothing;
// only an owner invites an owner. The link is void when its inviter may no longer add such a user.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Sent again it makes another invitation, and sends another mail.
func (s *Auth) Invite(ctx context.Context, in InviteRequest) (*Invited, error) {
	r := request{id: "Auth_Invite", method: http.MethodPost, path: "/user/invitation", body: in}
	return answer[Invited](ctx, s.c, &r)
}

// Login is POST /user/login: Log in.
//
// The token is valid for 12 hours. Ten failures in 15 minutes close the address for the rest of
// them, but not to a user who has logged in from there before, and never to a browser in which the
// user has. A user with a second factor gives a `code`, too: without it a right password is a 401
// `second_factor_required`. With `cookie: true`, for browsers, the answer also sets a session
// cookie: 12 hours from the last request, 7 days at most.
//
// Sent again it makes another token; the first stays valid.
func (s *Auth) Login(ctx context.Context, in LoginRequest) (*SessionView, error) {
	r := request{id: "Auth_Login", method: http.MethodPost, path: "/user/login", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// LoginPasskey is POST /user/login/passkey: Log in with a passkey.
//
// A passkey that is not known here, or proves nothing, is a 401 `unauthorized`. One whose counter
// of signatures went back is a 401 `passkey_copied` that names it. Ten failures in 15 minutes close
// the address for the rest of them, but never to a browser in which the user has logged in. With
// `cookie: true`, for browsers, the answer also sets a session cookie: 12 hours from the last
// request, 7 days at most.
//
// Sent again it is a 401: the challenge was answered.
func (s *Auth) LoginPasskey(ctx context.Context, in LoginPasskeyRequest) (*SessionView, error) {
	r := request{id: "Auth_LoginPasskey", method: http.MethodPost, path: "/user/login/passkey", body: in}
	return answer[SessionView](ctx, s.c, &r)
}

// Logout is POST /user/logout: Log out.
//
// Ends the session of the token and that of the cookie of the request, on every node at once. A
// log-in with `cookie: true` is one session: its token and its cookie end together.
//
// Sent again it is answered 401: the session is over.
func (s *Auth) Logout(ctx context.Context) (*Done, error) {
	r := request{id: "Auth_Logout", method: http.MethodPost, path: "/user/logout"}
	return answer[Done](ctx, s.c, &r)
}

// Methods is GET /user/methods: How users sign in to this server.
//
// Changes nothing.
func (s *Auth) Methods(ctx context.Context) (*Methods, error) {
	r := request{id: "Auth_Methods", method: http.MethodGet, path: "/user/methods"}
	return answer[Methods](ctx, s.c, &r)
}

// Passkeys is GET /user/passkeys: List the caller's passkeys, the oldest first.
//
// A scoped token is refused.
//
// Changes nothing.
func (s *Auth) Passkeys(ctx context.Context) (*Page[Passkey], error) {
	r := request{id: "Auth_Passkeys", method: http.MethodGet, path: "/user/passkeys"}
	return answer[Page[Passkey]](ctx, s.c, &r)
}

// Permissions is GET /user/permissions: What the token may be used for, and what there is.
//
// Changes nothing.
func (s *Auth) Permissions(ctx context.Context) (*Permissions, error) {
	r := request{id: "Auth_Permissions", method: http.MethodGet, path: "/user/permissions"}
	return answer[Permissions](ctx, s.c, &r)
}

// RemovePasskey is DELETE /user/passkeys/{passkeyId}: Remove a passkey of the caller.
//
// It signs nobody in from then on. Sessions that began with it go on: see DELETE /user/sessions.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) RemovePasskey(ctx context.Context, passkeyID string, in Password) (*Done, error) {
	r := request{id: "Auth_RemovePasskey", method: http.MethodDelete, path: "/user/passkeys/{passkeyId}", body: in}
	r.inPath("passkeyId", passkeyID)
	return answer[Done](ctx, s.c, &r)
}

// RemoveSecondFactor is DELETE /user/second-factor: Remove the caller's second factor.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) RemoveSecondFactor(ctx context.Context, in Password) (*Done, error) {
	r := request{id: "Auth_RemoveSecondFactor", method: http.MethodDelete, path: "/user/second-factor", body: in}
	return answer[Done](ctx, s.c, &r)
}

// RenewRecoveryCodes is POST /user/second-factor/recovery: Replace the recovery codes.
//
// A scoped token is refused.
//
// Sent again it makes other codes; those before count no more.
func (s *Auth) RenewRecoveryCodes(ctx context.Context, in Password) (*Recovery, error) {
	r := request{id: "Auth_RenewRecoveryCodes", method: http.MethodPost, path: "/user/second-factor/recovery", body: in}
	return answer[Recovery](ctx, s.c, &r)
}

// Reset is POST /user/reset: Set a new password without the old one.
//
// With an e-mail: sends its user, if there is one, a link that is valid for 30 minutes and works
// once. The answer is the same for every e-mail, which gets three mails an hour at most. With the
// token of a link and a password: sets it, and ends older tokens and cookies.
//
// An e-mail sent again gets another link. A link works once: sent again it is refused.
func (s *Auth) Reset(ctx context.Context, in ResetRequest) (*Done, error) {
	r := request{id: "Auth_Reset", method: http.MethodPost, path: "/user/reset", body: in}
	return answer[Done](ctx, s.c, &r)
}

// ResetPasskeys is DELETE /user/{userId}/passkeys: Remove all passkeys of another user.
//
// For a user whose devices are lost. You need every permission that the user has.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) ResetPasskeys(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_ResetPasskeys", method: http.MethodDelete, path: "/user/{userId}/passkeys"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// ResetSecondFactor is DELETE /user/{userId}/second-factor: Remove the second factor of another
// user.
//
// For a user who has lost the app and the recovery codes. You need every permission that the user
// has.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) ResetSecondFactor(ctx context.Context, userID string) (*Done, error) {
	r := request{id: "Auth_ResetSecondFactor", method: http.MethodDelete, path: "/user/{userId}/second-factor"}
	r.inPath("userId", userID)
	return answer[Done](ctx, s.c, &r)
}

// RevokeInvitation is DELETE /user/invitation/{invitationId}: Revoke an invitation.
//
// The caller must have the permissions that it gives.
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) RevokeInvitation(ctx context.Context, invitationID string) (*Done, error) {
	r := request{id: "Auth_RevokeInvitation", method: http.MethodDelete, path: "/user/invitation/{invitationId}"}
	r.inPath("invitationId", invitationID)
	return answer[Done](ctx, s.c, &r)
}

// RevokeSession is DELETE /user/sessions/{sessionId}: End a session or token.
//
// It is refused on every node at once. Its user may be another than the caller, as with GET.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
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
// All but that of the request, tokens for programs included. They are refused on every node at
// once. Those of another user need the permission `users.manage`, and the user must have no
// permission that the caller lacks; those of an owner need an owner.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) RevokeSessions(ctx context.Context, p *RevokeSessionsParams) (*Done, error) {
	r := request{id: "Auth_RevokeSessions", method: http.MethodDelete, path: "/user/sessions", params: p}
	return answer[Done](ctx, s.c, &r)
}

// RevokeToken is DELETE /user/token/{tokenId}: Revoke a token for a program.
//
// It is refused everywhere at once.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 404.
func (s *Auth) RevokeToken(ctx context.Context, tokenID string) (*Done, error) {
	r := request{id: "Auth_RevokeToken", method: http.MethodDelete, path: "/user/token/{tokenId}"}
	r.inPath("tokenId", tokenID)
	return answer[Done](ctx, s.c, &r)
}

// SecondFactor is GET /user/second-factor: Whether the caller's logins need a second factor.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
	// Id of another user of the account. Default: the caller.
	User string `query:"user"`
}

// Sessions is GET /user/sessions: List the sessions and tokens of a user, the oldest first.
//
// Log-ins with a cookie or a token alone, and tokens for programs. Those of another user need the
// permission `users.manage`, and the user must have no permission that the caller lacks; those of
// an owner need an owner.
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
// Makes an account and its first user, who has every permission. Where the server sends mail, all
// but its first account get a 202 and a mail with a link instead, which is valid for 24 hours; the
// answer is the same for an e-mail that has an account already, whose user is told by mail. With
// `cookie: true`, for browsers, the answer also sets a session cookie: 12 hours from the last
// request, 7 days at most.
//
// Sent again it is a 409: the e-mail has an account. Where the server sends mail, it sends another.
func (s *Auth) SignUp(ctx context.Context, in SignUpRequest) (*SignUpAnswer, error) {
	r := request{id: "Auth_SignUp", method: http.MethodPost, path: "/user/signup", body: in}
	return answer[SignUpAnswer](ctx, s.c, &r)
}

// TokensParams are what [Auth.Tokens] may be told; nil: nothing.
type TokensParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Tokens is GET /user/token: List the caller's tokens for programs, the oldest first.
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
// Users may change themselves: their e-mail and password with `currentPassword`. Others, and
// `permissions`, `role` and `disabled`, need the permission `users.manage`. A caller grants only
// permissions that the caller has, and changes only users who have no others. Only an owner makes
// and changes owners. An account keeps one owner who may log in. A new password ends older tokens
// and cookies.
//
// A scoped token is refused.
//
// The same request again changes nothing more, but a new password is the `currentPassword` from
// then on.
func (s *Auth) UpdateUser(ctx context.Context, userID string, in UpdateUserRequest) (*User, error) {
	r := request{id: "Auth_UpdateUser", method: http.MethodPatch, path: "/user/{userId}", body: in}
	r.inPath("userId", userID)
	return answer[User](ctx, s.c, &r)
}

// User is GET /user/me: Who the token belongs to.
//
// Changes nothing.
func (s *Auth) User(ctx context.Context) (*User, error) {
	r := request{id: "Auth_User", method: http.MethodGet, path: "/user/me"}
	return answer[User](ctx, s.c, &r)
}

// UsersParams are what [Auth.Users] may be told; nil: nothing.
type UsersParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Users is GET /user/list: List the users of the account, the oldest first.
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

// Billing: What an account has subscribed to.
type Billing struct{ c *Client }

// Botengine: Bots of one flow.
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
	// Only bots of this line.
	Reference *int64 `query:"reference"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Bots is GET /bot/list: List bots, the oldest first.
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

// Create is POST /bot: Make a bot.
//
// It answers nobody before it is published. Without `flow` it gets a draft with nothing but its
// trigger; with both, the trigger is written into the flow. A draft may be wrong: `problems` says
// where.
//
// Needs the permission `bots.manage`.
//
// Sent again it makes another bot.
func (s *Botengine) Create(ctx context.Context, in BotengineCreateRequest) (*Bot, error) {
	r := request{id: "Botengine_Create", method: http.MethodPost, path: "/bot", body: in}
	return answer[Bot](ctx, s.c, &r)
}

// Delete is DELETE /bot/{botId}: Delete a bot.
//
// Its conversations end.
//
// Needs the permission `bots.manage`.
//
// Once it is done, the same request is answered 404.
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
// Freezes it as a numbered version, which answers from now on; conversations that are under way go
// on with the version that they began with. A draft with errors is refused, and each of them is
// named.
//
// Needs the permission `bots.manage`.
//
// A draft that is published already makes no further version.
func (s *Botengine) Publish(ctx context.Context, botID string, in BotAction) (*Bot, error) {
	r := request{id: "Botengine_Publish", method: http.MethodPost, path: "/bot/{botId}/publish", body: in}
	r.inPath("botId", botID)
	return answer[Bot](ctx, s.c, &r)
}

// Replay is POST /bot/{botId}/replay: Play past runs against the draft.
//
// What came to each run comes again, at the same times, to the version that it ran and to the
// draft; the answer says what the draft does differently. Nothing is sent and no call is made:
// calls get the answers that the run got. Without `runs` and `chats` these are the last 20 runs.
// What came more than 30 days ago is not known any more.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Replay(ctx context.Context, botID string, in PastRuns) (*Page[Replay], error) {
	r := request{id: "Botengine_Replay", method: http.MethodPost, path: "/bot/{botId}/replay", body: in}
	r.inPath("botId", botID)
	return answer[Page[Replay]](ctx, s.c, &r)
}

// Run is POST /bot/{botId}/run: Have a bot take one turn in a chat.
//
// As if the contact had written `input`: a conversation of the bot that waits in the chat goes on,
// else one begins, whatever its trigger says. The published version runs, or the draft of a bot
// that was never published. Answers after the turn, at the latest after 10 s.
//
// Needs the permission `bots.manage`.
//
// Sent again it is another turn.
func (s *Botengine) Run(ctx context.Context, botID string, in RunRequest) (*RunReply, error) {
	r := request{id: "Botengine_Run", method: http.MethodPost, path: "/bot/{botId}/run", body: in}
	r.inPath("botId", botID)
	return answer[RunReply](ctx, s.c, &r)
}

// BotengineRunsParams are what [Botengine.Runs] may be told; nil: nothing.
type BotengineRunsParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Runs is GET /bot/{botId}/runs: List the runs of a bot, the newest first.
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

// SetTests is PUT /bot/{botId}/test: Keep tests beside it.
//
// In place of those that were there. One that cannot be played is refused, and its place named.
//
// Needs the permission `bots.manage`.
//
// The same request again changes nothing more.
func (s *Botengine) SetTests(ctx context.Context, botID string, in TestList) (*TestList, error) {
	r := request{id: "Botengine_SetTests", method: http.MethodPut, path: "/bot/{botId}/test", body: in}
	r.inPath("botId", botID)
	return answer[TestList](ctx, s.c, &r)
}

// Simulate is POST /bot/{botId}/simulate: Play a step of a conversation that nobody has.
//
// Without `state` a run begins, whatever the trigger says, and `input` or `message` is what began
// it; else `state` is that of the answer before, and one thing happens: `input`, `message`,
// `advance`, `event`, `take`, `close`, `approve` or `cancel`. Nothing is sent or kept; calls have
// the answers of `given.mocks`, and fail with `simulate.no_mock` where none fits. A state of
// another draft is a 409: begin anew.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Simulate(ctx context.Context, botID string, in SimulationInput) (*Simulation, error) {
	r := request{id: "Botengine_Simulate", method: http.MethodPost, path: "/bot/{botId}/simulate", body: in}
	r.inPath("botId", botID)
	return answer[Simulation](ctx, s.c, &r)
}

// Test is POST /bot/{botId}/test: Play its tests.
//
// Those that are kept beside it, or `tests`, against the draft, or `version`. Nothing is sent or
// kept. All together may take 10,000 steps.
//
// Needs the permission `bots.manage`.
//
// Changes nothing.
func (s *Botengine) Test(ctx context.Context, botID string, in TestRun) (*TestReport, error) {
	r := request{id: "Botengine_Test", method: http.MethodPost, path: "/bot/{botId}/test", body: in}
	r.inPath("botId", botID)
	return answer[TestReport](ctx, s.c, &r)
}

// Tests is GET /bot/{botId}/test: List the tests that are kept beside it.
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
	// The ETag of what was changed.
	IfMatch string `header:"If-Match"`
}

// Update is PATCH /bot/{botId}: Change a bot.
//
// Changes its draft; what is published stays as it is. With `If-Match` = the bot's `ETag`, its
// revision, a change of an older revision is refused: somebody else was faster.
//
// Needs the permission `bots.manage`.
//
// The same request again changes nothing more.
func (s *Botengine) Update(ctx context.Context, botID string, in BotengineUpdateRequest, p *BotengineUpdateParams) (*Bot, error) {
	r := request{id: "Botengine_Update", method: http.MethodPatch, path: "/bot/{botId}", body: in, params: p}
	r.inPath("botId", botID)
	return answer[Bot](ctx, s.c, &r)
}

// Validate is POST /bot/{botId}/validate: Say what is wrong with the draft of a bot.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Versions is GET /bot/{botId}/versions: List what was published of a bot, the oldest first.
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

// Credential: Secrets that flows and foreign servers use.
type Credential struct{ c *Client }

// Create is POST /aiflow/credential: Keep a credential.
//
// HTTP nodes (`auth`) and MCP servers (`credential`) name it by its id. The secret is sealed at
// rest and never shown again, and no run, log or simulation holds it. With `hosts` it is sent
// nowhere else, and it is sent over https only, but to what --webhook-allow names; redirects to
// another host never carry it.
//
// Needs the permission `flows.manage`.
//
// Sent again it keeps another credential.
func (s *Credential) Create(ctx context.Context, in CredentialCreateRequest) (*CredentialView, error) {
	r := request{id: "Credential_Create", method: http.MethodPost, path: "/aiflow/credential", body: in}
	return answer[CredentialView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/credential/{credentialId}: Delete a credential, whoever uses it.
//
// At once: HTTP nodes that name it end with the error `http.credential`, MCP servers that do cannot
// be reached, and flows that do cannot be published.
//
// Needs the permission `flows.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Credential) Delete(ctx context.Context, credentialID string) (*Done, error) {
	r := request{id: "Credential_Delete", method: http.MethodDelete, path: "/aiflow/credential/{credentialId}"}
	r.inPath("credentialId", credentialID)
	return answer[Done](ctx, s.c, &r)
}

// ListParams are what [Credential.List] may be told; nil: nothing.
type ListParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// List is GET /aiflow/credential: List credentials, the oldest first.
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

// Extractor: What finds values in messages.
type Extractor struct{ c *Client }

// Create is POST /extractor: Make an extractor.
//
// It finds values in the messages of contacts: before anybody is asked who answers a message, all
// extractors of its line, of the line's bots and of the flows that listen there read it. What they
// find becomes variables of the chat and `extracted` of the message, and each that found something
// makes one `data` event. Intents are learned in the background (`training`); what was learned
// before serves until then.
//
// Needs the permission `extractors.manage`.
//
// Sent again it makes another extractor.
func (s *Extractor) Create(ctx context.Context, in ExtractorCreateRequest) (*ExtractorView, error) {
	r := request{id: "Extractor_Create", method: http.MethodPost, path: "/extractor", body: in}
	return answer[ExtractorView](ctx, s.c, &r)
}

// Delete is DELETE /extractor/{extractorId}: Delete an extractor.
//
// Needs the permission `extractors.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Extractor) Delete(ctx context.Context, extractorID string) (*Done, error) {
	r := request{id: "Extractor_Delete", method: http.MethodDelete, path: "/extractor/{extractorId}"}
	r.inPath("extractorId", extractorID)
	return answer[Done](ctx, s.c, &r)
}

// Evaluate is POST /extractor/{extractorId}/evaluate: Run the tests of an extractor.
//
// Says how many of `config.tests` find what they should, and which do not; of intents also what is
// taken for what (`nomatch`: nothing was found).
//
// Needs the permission `extractors.manage`.
//
// Changes nothing; a model is asked again.
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
	// Only extractors of this line and its bots.
	Reference *int64 `query:"reference"`
	// Only extractors of this bot.
	Bot string `query:"bot"`
	// Only extractors of this flow.
	Flow string `query:"flow"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Extractors is GET /extractor/list: List extractors, the oldest first.
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

// Try is POST /extractor/{extractorId}/run: Run an extractor on a text or a message.
//
// Nothing is kept of what it finds, and no event is made. Either `text` is given, with what is
// known of its writer, or `reference`, `chatId` and `messageId`, which also needs the permission
// `chats.read`. Intents that have never been learned are a 409.
//
// Needs the permission `extractors.manage`.
//
// Changes nothing; a model is asked again.
func (s *Extractor) Try(ctx context.Context, extractorID string, in TryRequest) (*ExtractorFound, error) {
	r := request{id: "Extractor_Try", method: http.MethodPost, path: "/extractor/{extractorId}/run", body: in}
	r.inPath("extractorId", extractorID)
	return answer[ExtractorFound](ctx, s.c, &r)
}

// Update is PATCH /extractor/{extractorId}: Change an extractor.
//
// `config` is replaced as a whole.
//
// Needs the permission `extractors.manage`.
//
// The same request again changes nothing more.
func (s *Extractor) Update(ctx context.Context, extractorID string, in ExtractorUpdateRequest) (*ExtractorView, error) {
	r := request{id: "Extractor_Update", method: http.MethodPatch, path: "/extractor/{extractorId}", body: in}
	r.inPath("extractorId", extractorID)
	return answer[ExtractorView](ctx, s.c, &r)
}

// Knowledge: Files that assistants answer from.
type Knowledge struct{ c *Client }

// Add is POST /aiflow/project/{projectId}/file: Give the assistants of a project a file to answer
// from.
//
// Text, Markdown, CSV, JSON and HTML in UTF-8, of at most 10 MiB, and 100 MiB a project. It is cut
// into passages; those that fit a question are shown to the assistant that answers it. Only its
// text is kept.
//
// Needs the permission `flows.manage`.
//
// Sent again it adds another file.
func (s *Knowledge) Add(ctx context.Context, projectID string, in AddRequest) (*ProjectFileView, error) {
	r := request{id: "Knowledge_Add", method: http.MethodPost, path: "/aiflow/project/{projectId}/file", body: in}
	r.inPath("projectId", projectID)
	return answer[ProjectFileView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/project/{projectId}/file/{fileId}: Take a file away from the assistants
// of a project.
//
// Needs the permission `flows.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Knowledge) Delete(ctx context.Context, projectID string, fileID string) (*Done, error) {
	r := request{id: "Knowledge_Delete", method: http.MethodDelete, path: "/aiflow/project/{projectId}/file/{fileId}"}
	r.inPath("projectId", projectID)
	r.inPath("fileId", fileID)
	return answer[Done](ctx, s.c, &r)
}

// FilesParams are what [Knowledge.Files] may be told; nil: nothing.
type FilesParams struct {
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Files is GET /aiflow/project/{projectId}/file: List the files of a project, the oldest first.
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

// Search is POST /aiflow/project/{projectId}/search: Show which passages an assistant would be
// shown.
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
	// Only calls of this user, by id.
	User string `query:"user"`
	// Only calls of this function.
	Function string `query:"function"`
	// ok, or the code of an error.
	Outcome string `query:"outcome"`
	// UNIX seconds: answered then or later.
	From *int64 `query:"from"`
	// UNIX seconds: answered before; 0: now.
	To *int64 `query:"to"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Audit is GET /service-mcp/audit: List the calls of functions by agents, the newest first.
//
// Every call stands here, refused ones too, whichever way it came: over REST, in a batch, or over
// the protocol. Secrets, what was said and what was written are left out of the arguments.
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
// The results stand in the order of the calls. Each succeeds or fails alone, and counts against the
// limits.
//
// Needs the permission `mcp.execute`.
//
// Sent again it calls all functions again.
func (s *MCP) Batch(ctx context.Context, in BatchRequest) (*BatchResult, error) {
	r := request{id: "MCP_Batch", method: http.MethodPost, path: "/service-mcp/batch", body: in}
	return answer[BatchResult](ctx, s.c, &r)
}

// Execute is POST /service-mcp/execute: Call a function.
//
// Arguments are checked, the call is limited, and it stands in the audit log whatever became of it.
// A call that fails answers with the status of its error, and the same shape. With `dryRun` every
// check is made and the function says what it would do: `result` is `{dryRun: true, plan}`.
//
// Needs the permission `mcp.execute`.
//
// Sent again it calls the function again; whether that does no more than once, the function's
// `idempotent` says.
func (s *MCP) Execute(ctx context.Context, in ExecuteRequest) (*McpOutcome, error) {
	r := request{id: "MCP_Execute", method: http.MethodPost, path: "/service-mcp/execute", body: in}
	return answer[McpOutcome](ctx, s.c, &r)
}

// Functions is GET /service-mcp/functions: List the functions that agents may call.
//
// All of them, whatever the caller's permissions: a call needs `mcp.execute` and the function's
// own. `version` is that of the catalogue: a patch changes texts, a minor version adds, a major one
// does anything else.
//
// Needs the permission `mcp.execute`.
//
// Changes nothing.
func (s *MCP) Functions(ctx context.Context) (*FunctionList, error) {
	r := request{id: "MCP_Functions", method: http.MethodGet, path: "/service-mcp/functions"}
	return answer[FunctionList](ctx, s.c, &r)
}

// Messaging: Lines, their sessions, chats, messages, groups and templates.
type Messaging struct{ c *Client }

// ChatsParams are what [Messaging.Chats] may be told; nil: nothing.
type ChatsParams struct {
	// Part of a name or an id.
	Search string `query:"search"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Chats is GET /chats/list: List the chats of a line, newest activity first.
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

// CheckNumber is GET /chats/check: Ask a line's network whether a phone number has an account
// there.
//
// An answer is kept for 24 hours. A line asks for at most 20 new numbers a minute; what exceeds
// that is a `rate_limited`. Lines whose network cannot be asked answer `unsupported`.
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

// CreateGroup is POST /chats/group: Make a group.
//
// Those whom the network would not add are in `refused`. Lines that cannot manage groups answer
// `unsupported`; whoever can send to groups does so with their chat ids.
//
// Needs the permission `chats.send`.
//
// Sent again it makes another group.
func (s *Messaging) CreateGroup(ctx context.Context, in CreateGroupRequest) (*Group, error) {
	r := request{id: "Messaging_CreateGroup", method: http.MethodPost, path: "/chats/group", body: in}
	return answer[Group](ctx, s.c, &r)
}

// CreateReference is POST /reference: Add a chat line.
//
// Needs the permission `references.write`.
//
// Sent again it adds another line.
func (s *Messaging) CreateReference(ctx context.Context, in CreateReferenceRequest) (*Reference, error) {
	r := request{id: "Messaging_CreateReference", method: http.MethodPost, path: "/reference", body: in}
	return answer[Reference](ctx, s.c, &r)
}

// CreateTemplate is POST /templates: Hand in a message template for approval.
//
// The network may approve or reject it at once, and change its category.
//
// Needs the permission `templates.manage`.
//
// Sent again the network refuses it: the name is taken in that language.
func (s *Messaging) CreateTemplate(ctx context.Context, in CreateTemplateRequest) (*Template, error) {
	r := request{id: "Messaging_CreateTemplate", method: http.MethodPost, path: "/templates", body: in}
	return answer[Template](ctx, s.c, &r)
}

// DeleteChat is DELETE /chats: Erase everything that is held on a contact or a group.
//
// All that an export shows goes: messages, files, what the contact wrote in groups, what was
// queued. The log of deliveries keeps when they went out, without what was in them. The chat is not
// found any more from the answer on, and the stream says `resync`; a job erases the rest. What
// comes later begins a new chat.
//
// Needs the permission `users.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Messaging) DeleteChat(ctx context.Context, reference int64, chatID string) (*Deleting, error) {
	r := request{id: "Messaging_DeleteChat", method: http.MethodDelete, path: "/chats"}
	r.inQuery("reference", reference)
	r.inQuery("chatId", chatID)
	return answer[Deleting](ctx, s.c, &r)
}

// DeleteReference is DELETE /reference/{id}: Remove a chat line with its chats and messages.
//
// It is not found any more from the answer on: nothing comes to it, and nothing that waits is sent.
// A job erases what it had.
//
// Needs the permission `references.write`.
//
// Once it is done, the same request is answered 404.
func (s *Messaging) DeleteReference(ctx context.Context, id int64) (*Deleting, error) {
	r := request{id: "Messaging_DeleteReference", method: http.MethodDelete, path: "/reference/{id}"}
	r.inPath("id", id)
	return answer[Deleting](ctx, s.c, &r)
}

// DeleteTemplateParams are what [Messaging.DeleteTemplate] may be told; nil: nothing.
type DeleteTemplateParams struct {
	// Absent: all languages.
	Language string `query:"language"`
}

// DeleteTemplate is DELETE /templates: Delete a message template, in one language or in all.
//
// Needs the permission `templates.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Messaging) DeleteTemplate(ctx context.Context, reference int64, name string, p *DeleteTemplateParams) (*Done, error) {
	r := request{id: "Messaging_DeleteTemplate", method: http.MethodDelete, path: "/templates", params: p}
	r.inQuery("reference", reference)
	r.inQuery("name", name)
	return answer[Done](ctx, s.c, &r)
}

// EditGroup is PATCH /chats/group: Change a group, or leave it.
//
// First its subject, then its participants, then the link, and last the account leaves. All is
// checked before the network is asked for anything; when it refuses a step, those before it stay.
// Lines that cannot manage groups answer `unsupported`; whoever can send to groups does so with
// their chat ids.
//
// Needs the permission `chats.send`.
//
// The same request again changes nothing more.
func (s *Messaging) EditGroup(ctx context.Context, in EditGroupRequest) (*Group, error) {
	r := request{id: "Messaging_EditGroup", method: http.MethodPatch, path: "/chats/group", body: in}
	return answer[Group](ctx, s.c, &r)
}

// Explain is GET /chats/explain: Tell what became of a message, step by step.
//
// Steps are `received` (from the network, with its report where that is kept), `stored`, `attempt`
// (to hand it to the network), `status`, `file`, `held` (its events wait for a file), `extracted`
// (values were found in it), `routed` (to a bot or a flow: why that one answers, or why none),
// `run` (which took it, or which wrote it), `sent` (what the run wrote then) and `webhook` (an
// attempt to deliver an event of it). There will be others.
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

// Export is GET /chats/export: Export everything that is held on a contact or a group.
//
// The chat and its ids, its messages with their statuses, files and what was sent, what the contact
// wrote in groups, calls, what the network reported of it, and the deliveries to webhooks with
// their bodies. The answer is written as it is read; one that breaks off is no JSON.
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

// Group is GET /chats/group: Show a group as its network has it now.
//
// Lines that cannot manage groups answer `unsupported`; whoever can send to groups does so with
// their chat ids.
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
// A session that has ended stays as it is.
func (s *Messaging) Logout(ctx context.Context, in MessagingLogoutRequest) (*Session, error) {
	r := request{id: "Messaging_Logout", method: http.MethodPost, path: "/reference/session/logout", body: in}
	return answer[Session](ctx, s.c, &r)
}

// MarkRead is POST /chats/read: Mark a chat's messages as read, up to one of them or all.
//
// Needs the permission `chats.send`.
//
// Sent again it changes nothing but for what has arrived in between.
func (s *Messaging) MarkRead(ctx context.Context, in MarkReadRequest) (*ReadResult, error) {
	r := request{id: "Messaging_MarkRead", method: http.MethodPost, path: "/chats/read", body: in}
	return answer[ReadResult](ctx, s.c, &r)
}

// Message is GET /messages/{messageId}: Read a message, by any of its ids or by its clientId.
//
// The id is the network's, the `requestId` of the send, or the `clientId` that it was given. Of
// several messages with one `clientId` the newest is returned.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// Cursor: messages older than it.
	Before string `query:"before"`
	// The same as before: next of the page before.
	Cursor string `query:"cursor"`
	// Cursor: messages newer than it.
	After string `query:"after"`
	// Only messages with this status. One of FAIL, PENDING, SENDING, DELIVERED, READ, PLAYED.
	Status string `query:"status"`
	// Only what came in, or only what the account sent. One of in, out.
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

// PreviewTemplate is POST /templates/preview: Fill in a message template without sending it.
//
// What sending would refuse is refused with the same problem.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Messaging) PreviewTemplate(ctx context.Context, in PreviewTemplateRequest) (*TemplatePreview, error) {
	r := request{id: "Messaging_PreviewTemplate", method: http.MethodPost, path: "/templates/preview", body: in}
	return answer[TemplatePreview](ctx, s.c, &r)
}

// Reference is GET /reference/{id}: Show a chat line.
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
	// Only lines of this type.
	Type string `query:"type"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// References is GET /reference/list: List chat lines.
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

// Resolve is GET /chats/resolve: Find the names of a contact by any of them.
//
// By any id that its chat has or had, in any form that a send takes, or by its user name.
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

// SendParams are what [Messaging.Send] may be told; nil: nothing.
type SendParams struct {
	// Seconds to wait for the first attempt; 0: not at all.
	Wait *int64 `query:"wait"`
	// 1: only say what would become of it.
	DryRun *int64 `query:"dryRun"`
	// Visible ASCII. The same key and body within 24 h answer with the first message and send nothing.
	IdempotencyKey string `header:"Idempotency-Key"`
}

// Send is POST /chats/send: Send a message.
//
// Stores the message and waits for the first attempt to hand it to the network. A message that the
// network took has the status SENDING and the network's id; one that is still on its way is PENDING
// with an id of ours, which stays an alias. With `dryRun=1` nothing is sent: the answer says what
// would become of it.
//
// Needs the permission `chats.send`.
//
// Sent again it sends another message, unless both requests have the same `Idempotency-Key`: then
// the answer is the message's current record with `Idempotent-Replayed: true`, for 24 hours. The
// same key with another body is a 409.
func (s *Messaging) Send(ctx context.Context, in SendRequest, p *SendParams) (*SendAnswer, error) {
	r := request{id: "Messaging_Send", method: http.MethodPost, path: "/chats/send", body: in, params: p}
	return answer[SendAnswer](ctx, s.c, &r)
}

// SessionStatus is GET /reference/session/status: How a line stands with its network.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) SessionStatus(ctx context.Context, reference int64) (*Session, error) {
	r := request{id: "Messaging_SessionStatus", method: http.MethodGet, path: "/reference/session/status"}
	r.inQuery("reference", reference)
	return answer[Session](ctx, s.c, &r)
}

// StartSession is POST /reference/session/start: Connect a line, or check its credentials.
//
// Needs the permission `sessions.manage`.
//
// A session that has been started stays as it is.
func (s *Messaging) StartSession(ctx context.Context, in StartSessionRequest) (*Session, error) {
	r := request{id: "Messaging_StartSession", method: http.MethodPost, path: "/reference/session/start", body: in}
	return answer[Session](ctx, s.c, &r)
}

// TemplatesParams are what [Messaging.Templates] may be told; nil: nothing.
type TemplatesParams struct {
	// The whole name.
	Name string `query:"name"`
	// Only templates with this status. One of PENDING, APPROVED, REJECTED, DISABLED.
	Status string `query:"status"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Templates is GET /templates: List the message templates of a line.
//
// From our copy, which follows what the network reports and is fetched again every six hours. Lines
// of other types than provider-cloud and provider-sandbox answer `unsupported`.
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

// Triggers is GET /reference/{id}/triggers: List the bots and flows that listen on a line, in the
// order in which they are asked.
//
// Published bots of the line, and published flows that are bound to it: the higher `priority`
// first, of two alike the one with the narrower rule, and then the older. Those that are switched
// off come last.
//
// Needs the permission `references.read`.
//
// Changes nothing.
func (s *Messaging) Triggers(ctx context.Context, id int64) (*Page[Listener], error) {
	r := request{id: "Messaging_Triggers", method: http.MethodGet, path: "/reference/{id}/triggers"}
	r.inPath("id", id)
	return answer[Page[Listener]](ctx, s.c, &r)
}

// UpdateChat is PATCH /chats: Change what is kept with a chat.
//
// Needs the permission `chats.send`.
//
// The same request again changes nothing more.
func (s *Messaging) UpdateChat(ctx context.Context, in UpdateChatRequest) (*Chat, error) {
	r := request{id: "Messaging_UpdateChat", method: http.MethodPatch, path: "/chats", body: in}
	return answer[Chat](ctx, s.c, &r)
}

// UpdateReference is PATCH /reference/{id}: Change a chat line.
//
// Needs the permission `references.write`.
//
// The same request again changes nothing more.
func (s *Messaging) UpdateReference(ctx context.Context, id int64, in UpdateReferenceRequest) (*Reference, error) {
	r := request{id: "Messaging_UpdateReference", method: http.MethodPatch, path: "/reference/{id}", body: in}
	r.inPath("id", id)
	return answer[Reference](ctx, s.c, &r)
}

// Remote: Foreign MCP servers whose tools agents may use.
type Remote struct{ c *Client }

// Create is POST /aiflow/server: Register a foreign MCP server.
//
// Flows and agents call it by its name. Nobody asks for its tools before `refresh`, and none may be
// used before it is approved. It must have a public address and be reached over https, unless
// --webhook-allow names it.
//
// Needs the permission `flows.manage`.
//
// Sent again it is a 409: the name is taken.
func (s *Remote) Create(ctx context.Context, in RemoteCreateRequest) (*RemoteView, error) {
	r := request{id: "Remote_Create", method: http.MethodPost, path: "/aiflow/server", body: in}
	return answer[RemoteView](ctx, s.c, &r)
}

// Delete is DELETE /aiflow/server/{serverId}: Delete a foreign MCP server, whoever uses it.
//
// Tool nodes that call it end with the error `mcp.connect`, and flows that name it cannot be
// published.
//
// Needs the permission `flows.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Remote) Delete(ctx context.Context, serverID string) (*Done, error) {
	r := request{id: "Remote_Delete", method: http.MethodDelete, path: "/aiflow/server/{serverId}"}
	r.inPath("serverId", serverID)
	return answer[Done](ctx, s.c, &r)
}

// Refresh is POST /aiflow/server/{serverId}/refresh: Ask a foreign MCP server for its tools.
//
// Over a new connection, within 25 s. A server that cannot be asked is a 502; `problem` says so,
// too.
//
// Needs the permission `flows.manage`.
//
// Sent again it asks again.
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
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Servers is GET /aiflow/server: List foreign MCP servers, the oldest first.
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

// Update is PATCH /aiflow/server/{serverId}: Change a foreign MCP server, approve its tools.
//
// An approval is for the `hash` that was looked at, of the tool's name, description, schema and
// hints: a tool that is another now is a 409, and one that becomes another is off until it is
// approved again. Another `url` is another server: its tools are forgotten. `credential` "" is
// none.
//
// Needs the permission `flows.manage`.
//
// The same request again changes nothing more.
func (s *Remote) Update(ctx context.Context, serverID string, in RemoteUpdateRequest) (*RemoteView, error) {
	r := request{id: "Remote_Update", method: http.MethodPatch, path: "/aiflow/server/{serverId}", body: in}
	r.inPath("serverId", serverID)
	return answer[RemoteView](ctx, s.c, &r)
}

// Sandbox: Simulated contacts of a sandbox line.
type Sandbox struct{ c *Client }

// Echo is GET /sandbox/{reference}/echo: The last 100 deliveries that went to trunkline://echo,
// newest first.
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
	// Only this contact's phone.
	From string `query:"from"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Screen is GET /sandbox/{reference}/messages: What the simulated contacts' phones show, newest
// first.
//
// Edits, deletions and reactions are no messages of their own: they change the one that they are
// about, which then has `edited`, `deleted` or `reactions` [{emoji, mine, from?}].
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

// Typing is GET /sandbox/{reference}/typing: The chats whose simulated phones show that an answer
// is being written.
//
// For 25 seconds, or until the next message is there.
//
// Needs the permission `chats.read`.
//
// Changes nothing.
func (s *Sandbox) Typing(ctx context.Context, reference int64) (*Page[Typing], error) {
	r := request{id: "Sandbox_Typing", method: http.MethodGet, path: "/sandbox/{reference}/typing"}
	r.inPath("reference", reference)
	return answer[Page[Typing]](ctx, s.c, &r)
}

// Write is POST /sandbox/{reference}/messages: Let a simulated contact write.
//
// The body is `{from, pushName?, group?, type, …}` with the members of the type as in a send.
// `edit` and `revoke` change a message of the contact's own, `reaction` any that its phone shows.
// What the contact was sent before counts as read.
//
// Needs the permission `references.write`.
//
// Sent again the contact writes again.
func (s *Sandbox) Write(ctx context.Context, reference int64, in WriteRequest) (*Written, error) {
	r := request{id: "Sandbox_Write", method: http.MethodPost, path: "/sandbox/{reference}/messages", body: in}
	r.inPath("reference", reference)
	return answer[Written](ctx, s.c, &r)
}

// Server: The server and the account.
type Server struct{ c *Client }

// Account is GET /account: Show the account, its subscription and what it uses.
//
// Changes nothing.
func (s *Server) Account(ctx context.Context) (*Account, error) {
	r := request{id: "Server_Account", method: http.MethodGet, path: "/account"}
	return answer[Account](ctx, s.c, &r)
}

// AuditLogParams are what [Server.AuditLog] may be told; nil: nothing.
type AuditLogParams struct {
	// Only what this user did, by id.
	User string `query:"user"`
	// Only what actors of this kind did. One of cookie, login, token, agent, operator, system, nobody.
	Kind string `query:"kind"`
	// Only this action.
	Action string `query:"action"`
	// Only what was done to objects of this type.
	ObjectType string `query:"objectType"`
	// Only what was done to the object with this id.
	ObjectID string `query:"objectId"`
	// Only what concerns this reference.
	Reference *int64 `query:"reference"`
	// UNIX seconds: then or later.
	Since *int64 `query:"since"`
	// UNIX seconds: before; 0: now.
	Until *int64 `query:"until"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
	// csv: a document for a spreadsheet instead of a page. One of json, csv.
	Format string `query:"format"`
}

// AuditLog is GET /audit: List what was done in the account, the newest first.
//
// Every change is an entry, written in the change's own transaction: who did what to which object,
// and from where. So are log-ins, wrong passwords of users, and exports. Entries hold the names of
// what was changed, and neither secrets nor texts of messages. With `format=csv` the answer is a
// CSV document of up to 50,000 entries, whose header `Link` has the address of the next, if there
// is one.
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

// DeleteAccount is DELETE /account: Delete the account with everything that belongs to it.
//
// Takes the caller's own password. All its users, tokens and sessions end at once. Its lines end
// their sessions, and then its chats, messages, files, webhooks and logs are erased, which goes on
// after the answer.
//
// Only an owner of the account may do it.
//
// A scoped token is refused.
//
// Once it is done, the same request is answered 401: its user is gone.
func (s *Server) DeleteAccount(ctx context.Context, in DeleteAccountRequest) (*Deleting, error) {
	r := request{id: "Server_DeleteAccount", method: http.MethodDelete, path: "/account", body: in}
	return answer[Deleting](ctx, s.c, &r)
}

// Job is GET /jobs/{id}: Show a job: what goes on behind an answer.
//
// The answer to the deletion of a chat, a reference or the account has its job. What is being
// deleted is not listed or served any more. A job that has ended is shown for 30 days. The job of a
// deleted account ends with the account's users: there is nobody left to ask for it.
//
// Changes nothing.
func (s *Server) Job(ctx context.Context, id string) (*Job, error) {
	r := request{id: "Server_Job", method: http.MethodGet, path: "/jobs/{id}"}
	r.inPath("id", id)
	return answer[Job](ctx, s.c, &r)
}

// Probe is GET /probe: Whether the server works.
//
// Answers 503 when the store has no room for a message or cannot be written at all, and when the
// server is about to stop.
//
// Changes nothing.
func (s *Server) Probe(ctx context.Context) (*Probe, error) {
	r := request{id: "Server_Probe", method: http.MethodGet, path: "/probe"}
	return answer[Probe](ctx, s.c, &r)
}

// Usage: What language models were asked for, and what it cost.
type Usage struct{ c *Client }

// Budgets is GET /aiusage/budget: Show the budgets for language models, and what is spent of them.
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
	// UNIX seconds: begun then or later; 0: 30 days before to.
	From *int64 `query:"from"`
	// UNIX seconds: begun before; 0: now.
	To *int64 `query:"to"`
	// Only calls in chats of this line.
	Reference *int64 `query:"reference"`
	// Only calls in this chat, by its chatId.
	Chat string `query:"chat"`
	// Only calls for this: assistant, agent, extractor, draft, knowledge, …
	Feature string `query:"feature"`
	// Only calls of this flow, by id.
	Flow string `query:"flow"`
	// Only calls of this run, by id.
	Run string `query:"run"`
	// Only calls that this user asked for, by id.
	User string `query:"user"`
	// Only calls of this provider.
	Provider string `query:"provider"`
	// The model that answered, as the provider calls it.
	Model string `query:"model"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Detail is GET /aiusage/detail: List calls of language models, the newest first.
//
// Every call stands here from before it is made. What was asked and answered is not kept.
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

// MissingPricing is GET /aiusage/missing-pricing: List models without a price that were used.
//
// Those with most calls first. PUT /aiusage/pricing gives them prices, POST /aiusage/reprice their
// calls a cost.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) MissingPricing(ctx context.Context) (*MissingPrices, error) {
	r := request{id: "Usage_MissingPricing", method: http.MethodGet, path: "/aiusage/missing-pricing"}
	return answer[MissingPrices](ctx, s.c, &r)
}

// Pricing is GET /aiusage/pricing: Show the prices that the account has set.
//
// They go before those of `sources`, which hold for every account: a file of the operator's, and
// the built-in table.
//
// Needs the permission `usage.read`.
//
// Changes nothing.
func (s *Usage) Pricing(ctx context.Context) (*Pricing, error) {
	r := request{id: "Usage_Pricing", method: http.MethodGet, path: "/aiusage/pricing"}
	return answer[Pricing](ctx, s.c, &r)
}

// Reprice is POST /aiusage/reprice: Price calls again by the prices of now.
//
// `changed` counts the calls whose cost, or the reason for it, is another than before: a second
// time it is 0.
//
// Needs the permission `users.manage`.
//
// Sent again it changes nothing, unless prices were set in between.
func (s *Usage) Reprice(ctx context.Context, in RepriceRequest) (*Repriced, error) {
	r := request{id: "Usage_Reprice", method: http.MethodPost, path: "/aiusage/reprice", body: in}
	return answer[Repriced](ctx, s.c, &r)
}

// RollupParams are what [Usage.Rollup] may be told; nil: nothing.
type RollupParams struct {
	// UNIX seconds: begun then or later; 0: 30 days before to.
	From *int64 `query:"from"`
	// UNIX seconds: begun before; 0: now.
	To *int64 `query:"to"`
	// Only calls in chats of this line.
	Reference *int64 `query:"reference"`
	// Only calls in this chat, by its chatId.
	Chat string `query:"chat"`
	// Only calls for this: assistant, agent, extractor, draft, knowledge, …
	Feature string `query:"feature"`
	// Only calls of this flow, by id.
	Flow string `query:"flow"`
	// Only calls of this run, by id.
	Run string `query:"run"`
	// Only calls that this user asked for, by id.
	User string `query:"user"`
	// Only calls of this provider.
	Provider string `query:"provider"`
	// The model that answered, as the provider calls it.
	Model string `query:"model"`
	// One or two, divided by a comma.
	GroupBy []string `query:"groupBy"`
	// IANA name.
	Timezone string `query:"timezone"`
}

// Rollup is GET /aiusage/rollup: Sum calls of language models.
//
// By one or two groups. Hours, days, weeks and months are those of `timezone`; each between `from`
// and `to` has its row, for each value of the other group, and they are in order. Other groups
// begin with the dearest. There are at most 5,000 rows: `truncated` says that some are left out,
// `total` is of all calls. `cost` is of the calls that have one, and so the least they cost where
// `unpricedCalls` is not 0.
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
// Replaces all of them; what was spent before counts. A call must fit every budget that is for it,
// by the most that it can take: else it is not made, and its node goes on with its fallback or its
// error output. The budget of a `project`, `flow` or `chat` without an id is for each of them by
// itself. A model whose price is not known counts only against `tokens`, or is refused with
// `unpriced: refuse`.
//
// Needs the permission `users.manage`.
//
// The same request again changes nothing more.
func (s *Usage) SetBudgets(ctx context.Context, in SetBudgetsRequest) (*Budgets, error) {
	r := request{id: "Usage_SetBudgets", method: http.MethodPut, path: "/aiusage/budget", body: in}
	return answer[Budgets](ctx, s.c, &r)
}

// SetPricing is PUT /aiusage/pricing: Set prices of the account's own.
//
// Replaces all of them. They hold for calls from now on; POST /aiusage/reprice is for those before.
// A model is found by the name that the provider gives it in its answer, then by that without a
// date at its end (-2026-01-05, -20260105).
//
// Needs the permission `users.manage`.
//
// A scoped token is refused.
//
// The same request again changes nothing more.
func (s *Usage) SetPricing(ctx context.Context, in SetPricingRequest) (*Pricing, error) {
	r := request{id: "Usage_SetPricing", method: http.MethodPut, path: "/aiusage/pricing", body: in}
	return answer[Pricing](ctx, s.c, &r)
}

// Webhooks: Where events are delivered, and what became of them.
type Webhooks struct{ c *Client }

// Delete is DELETE /references/hookconf/{endpointId}: Remove a webhook with what waits for it.
//
// Needs the permission `webhooks.manage`.
//
// Once it is done, the same request is answered 404.
func (s *Webhooks) Delete(ctx context.Context, endpointID string) (*Done, error) {
	r := request{id: "Webhooks_Delete", method: http.MethodDelete, path: "/references/hookconf/{endpointId}"}
	r.inPath("endpointId", endpointID)
	return answer[Done](ctx, s.c, &r)
}

// DeliveriesParams are what [Webhooks.Deliveries] may be told; nil: nothing.
type DeliveriesParams struct {
	// Only to this endpointId.
	Endpoint string `query:"endpoint"`
	// Only deliveries in this state. One of pending, delivered, failed, dead.
	State string `query:"state"`
	// Any of the chat's ids.
	ChatID string `query:"chatId"`
	// Any of the message's ids.
	MessageID string `query:"messageId"`
	// message, status, data, calls, subscription or session.
	Event string `query:"event"`
	// The most items of a page. A number above 200 counts as 200.
	Limit *int64 `query:"limit"`
	// next of the page before.
	Cursor string `query:"cursor"`
}

// Deliveries is GET /references/deliveries: List what was, and what is to be, delivered to the
// webhooks of a line.
//
// Pending deliveries come first, by the time of their event, then those that are over, in the order
// in which that came about; the newest first in both. The log of a webhook that was removed stays
// until retention ends.
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

// Endpoints is GET /references/hookconf: List the webhooks of a line.
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
// On a sandbox line the URL may be trunkline://echo: deliveries then go to a built-in receiver.
//
// Needs the permission `webhooks.manage`.
//
// The same request again changes nothing more.
func (s *Webhooks) Put(ctx context.Context, in PutRequest) (*HookconfResult, error) {
	r := request{id: "Webhooks_Put", method: http.MethodPost, path: "/references/hookconf", body: in}
	return answer[HookconfResult](ctx, s.c, &r)
}

// Register is POST /references/registerWebHook: Register a webhook and get its signing secret, or
// subscribe at the provider.
//
// With `webhook`: answers 201 with the secret for a new URL, 200 without it for one that exists.
// With `provider: true` instead: the line's network is told to post its events, to `callbackUrl`
// or, without it, to the address in the network's own settings, and the answer is `{"success":
// true}`. The network calls `callbackUrl` at once with the line's `verifyToken`.
//
// Needs the permission `webhooks.manage`.
//
// The same request again changes nothing more, and does not show the secret again.
func (s *Webhooks) Register(ctx context.Context, in RegisterRequest) (*RegisterAnswer, error) {
	r := request{id: "Webhooks_Register", method: http.MethodPost, path: "/references/registerWebHook", body: in}
	return answer[RegisterAnswer](ctx, s.c, &r)
}

// Replay is POST /references/deliveries/replay: Deliver again, by ids or everything of a webhook in
// a span of time.
//
// Give either `ids` or `endpoint`. What is delivered again has its old `webhook-id` and
// `X-Trunkline-Sequence`, and holds back nothing newer. Deliveries that are pending, or no longer
// stored, are left out of the count.
//
// Needs the permission `webhooks.manage`.
//
// Sent again it delivers again what has been delivered in between.
func (s *Webhooks) Replay(ctx context.Context, in WebhooksReplayRequest) (*ReplayResult, error) {
	r := request{id: "Webhooks_Replay", method: http.MethodPost, path: "/references/deliveries/replay", body: in}
	return answer[ReplayResult](ctx, s.c, &r)
}

// Test is POST /references/hookconf/{endpointId}/test: Send a test event to a webhook and show what
// it answers.
//
// The event is a `message` with the text "This is a test event. Nobody wrote it.", signed as usual,
// with `X-Trunkline-Sequence: 0`. It is sent whatever the webhook's state and filter, appears in
// the log, and is not repeated.
//
// Needs the permission `webhooks.manage`.
//
// Sent again it sends another test event.
func (s *Webhooks) Test(ctx context.Context, endpointID string) (*Attempt, error) {
	r := request{id: "Webhooks_Test", method: http.MethodPost, path: "/references/hookconf/{endpointId}/test"}
	r.inPath("endpointId", endpointID)
	return answer[Attempt](ctx, s.c, &r)
}

// Update is PATCH /references/hookconf/{endpointId}: Change a webhook, or rotate its secret.
//
// Needs the permission `webhooks.manage`.
//
// The same request again changes nothing more, but with `rotateSecret` it makes another secret.
func (s *Webhooks) Update(ctx context.Context, endpointID string, in WebhooksUpdateRequest) (*Endpoint, error) {
	r := request{id: "Webhooks_Update", method: http.MethodPatch, path: "/references/hookconf/{endpointId}", body: in}
	r.inPath("endpointId", endpointID)
	return answer[Endpoint](ctx, s.c, &r)
}
