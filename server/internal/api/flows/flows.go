package flows

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Flows answers what concerns flows and functions.
type Flows struct {
	FirstModel func(context.Context) (string, error) // that is asked where none is named
	Flows      *aiflow.Service
	Messaging  *messaging.Service
	Models     *llm.Models
	Runs       *runtime.Runtime
	Usage      *usage.Ledger
}

// Register adds the operations of the resource.
func (a *Flows) Register(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	const path = "/aiflow/flow/{flowId}"
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Aiflow_Create", Method: http.MethodPost, Path: "/aiflow/flow", Status: http.StatusCreated, Summary: "Create a flow or a function",
		About:   "`kind` says which of them it is. The draft may be any object; `problems` lists its errors.",
		MaxBody: documentBody, Errors: missing,
	}, auth.FlowsManage, a.createFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Flows", Method: http.MethodGet, Path: "/aiflow/flow/list", Summary: "List flows, oldest first", Errors: missing,
	}, auth.FlowsManage, a.listFlows)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Aiflow_Flow", Method: http.MethodGet, Path: path, Summary: "Show a flow", Errors: missing,
	}, auth.FlowsManage, a.showFlow)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Aiflow_Update", Method: http.MethodPatch, Path: path, Summary: "Change the name or the draft of a flow",
		About: "With `If-Match` = the flow's `ETag` (its revision), the change is refused if the flow was changed since. " +
			"The published version does not change.",
		MaxBody: documentBody, Errors: []int{http.StatusNotFound, http.StatusPreconditionFailed},
	}, auth.FlowsManage, a.updateFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Delete", Method: http.MethodDelete, Path: path, Summary: "Delete a flow",
		About: "Ends its runs. Published flows that use a deleted function keep their copy of it.", Errors: missing,
	}, auth.FlowsManage, a.deleteFlow)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Aiflow_Publish", Method: http.MethodPost, Path: path + "/publish", Summary: "Publish the draft of a flow",
		About: "Saves the draft as a numbered version, together with the published versions of the functions that it calls. Runs in progress continue " +
			"with the version that they started with. A draft with errors is refused with a list of them.",
		Errors: missing,
	}, auth.FlowsManage, a.publishFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Validate", Method: http.MethodPost, Path: path + "/validate", Summary: "Validate the draft of a flow", Errors: missing,
	}, auth.FlowsManage, a.validateFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Versions", Method: http.MethodGet, Path: path + "/versions", Summary: "List the published versions of a flow, oldest first", Errors: missing,
	}, auth.FlowsManage, a.listFlowVersions)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Aiflow_Rollback", Method: http.MethodPost, Path: path + "/rollback", Summary: "Roll a flow and its draft back to an earlier version", Errors: missing,
	}, auth.FlowsManage, a.rollbackFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Bindings", Method: http.MethodGet, Path: path + "/bind", Summary: "List the references that a flow is bound to", Errors: missing,
	}, auth.FlowsManage, a.listBindings)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Bind", Method: http.MethodPut, Path: path + "/bind", Summary: "Bind a flow to a reference, or unbind it",
		About: "The trigger node of the published version says which events start the flow. A function cannot be bound.", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.FlowsManage, a.bindFlow)
	a.registerDiff(api)
	a.registerDrafts(api)
	a.registerRename(api)
}

type flowID struct {
	ID string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
}

// flowAction names a flow to do something with; it takes no body, or {}.
type flowAction struct {
	ID   string    `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body *struct{} `json:"body,omitempty"`
}

type publishedView struct {
	Version  int64         `json:"version"`
	Document view.Document `json:"document"`
}

// flowView is a flow as it is shown.
type flowView struct {
	ID        string             `json:"id"`
	ProjectID string             `json:"projectId"`
	Name      string             `json:"name"`
	Draft     view.Document      `json:"draft"`
	Revision  int64              `json:"revision" doc:"Increases with every change. It is the ETag."`
	Problems  []flow.Problem     `json:"problems" nullable:"false" doc:"The problems of the draft."`
	Published *publishedView     `json:"published"`
	CreatedAt messaging.UnixTime `json:"createdAt"`
	UpdatedAt messaging.UnixTime `json:"updatedAt"`
}

func viewFlow(f aiflow.Flow) flowView {
	v := flowView{
		ID: f.ID, ProjectID: f.Project, Name: f.Name, Draft: view.Document(f.Draft), Revision: f.Revision, Problems: f.Problems,
		CreatedAt: messaging.UnixTime{Time: f.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: f.UpdatedAt},
	}
	if f.Published != nil {
		v.Published = &publishedView{f.Published.Version, view.Document(f.Published.Document)}
	}
	return v
}

// flowReply is a flow with its revision in a header.
type flowReply struct {
	ETag string `header:"ETag" doc:"The revision of the object, for If-Match."`
	Body flowView
}

func replyFlow(f aiflow.Flow, err error) (*flowReply, error) {
	if err != nil {
		return nil, err
	}
	return &flowReply{ETag: etagOf(f.Revision), Body: viewFlow(f)}, nil
}

type newFlow struct {
	Body struct {
		ProjectID string        `json:"projectId" minLength:"1" maxLength:"64"`
		Name      string        `json:"name" minLength:"1" maxLength:"200" example:"Invoice"`
		Draft     view.Document `json:"draft,omitempty"`
	}
}

func (a *Flows) createFlow(ctx context.Context, c httpapi.Call, in *newFlow) (*flowReply, error) {
	f, err := a.Flows.For(c.Account).Flows().Create(ctx, aiflow.NewFlow{Project: in.Body.ProjectID, Name: in.Body.Name, Draft: json.RawMessage(in.Body.Draft)})
	if errors.Is(err, aiflow.ErrNotFound) {
		err = httpapi.NotFoundAt("body.projectId", "must be the id of a project of this account")
	}
	return replyFlow(f, err)
}

type flowFilter struct {
	ProjectID string `query:"projectId" maxLength:"64" doc:"Only flows of this project."`

	httpapi.PageInput
}

func (a *Flows) listFlows(ctx context.Context, c httpapi.Call, in *flowFilter) (view.Page[flowView], error) {
	p, err := a.Flows.For(c.Account).Flows().List(ctx, in.ProjectID, in.List())
	return view.PageOf(p, viewFlow), httpapi.InQuery(err)
}

func (a *Flows) showFlow(ctx context.Context, c httpapi.Call, in *flowID) (*flowReply, error) {
	return replyFlow(a.Flows.For(c.Account).Flows().Get(ctx, in.ID))
}

type flowChange struct {
	ID      string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"The ETag of the revision that you changed. The request is refused if the object has changed since."`
	Body    struct {
		Name  *string       `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Draft view.Document `json:"draft,omitempty"`
	}
}

func (a *Flows) updateFlow(ctx context.Context, c httpapi.Call, in *flowChange) (*flowReply, error) {
	change := aiflow.FlowChange{Name: in.Body.Name, Draft: json.RawMessage(in.Body.Draft), Revision: revisionOf(in.IfMatch)}
	return replyFlow(a.Flows.For(c.Account).Flows().Update(ctx, in.ID, change))
}

func (a *Flows) deleteFlow(ctx context.Context, c httpapi.Call, in *flowID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Flows.For(c.Account).Flows().Delete(ctx, in.ID)
}

func (a *Flows) publishFlow(ctx context.Context, c httpapi.Call, in *flowAction) (*flowReply, error) {
	return replyFlow(a.Flows.For(c.Account).Versions().Publish(ctx, in.ID, view.Publisher(c)))
}

func (a *Flows) validateFlow(ctx context.Context, c httpapi.Call, in *flowAction) (problemList, error) {
	ps, err := a.Flows.For(c.Account).Flows().Validate(ctx, in.ID)
	return problemList{ps}, err
}

type flowVersions struct {
	ID string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	httpapi.PageInput
}

func (a *Flows) listFlowVersions(ctx context.Context, c httpapi.Call, in *flowVersions) (view.Page[versionView], error) {
	p, err := a.Flows.For(c.Account).Versions().List(ctx, in.ID, in.List())
	return view.PageOf(p, func(v aiflow.Version) versionView {
		return versionView{v.Version, view.Document(v.Document), messaging.UnixTime{Time: v.CreatedAt}}
	}), httpapi.InQuery(err)
}

type rollback struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body struct {
		Version int64 `json:"version" minimum:"1" example:"1"`
	}
}

func (a *Flows) rollbackFlow(ctx context.Context, c httpapi.Call, in *rollback) (*flowReply, error) {
	return replyFlow(a.Flows.For(c.Account).Versions().Rollback(ctx, in.ID, in.Body.Version, view.Publisher(c)))
}

type bindingView struct {
	Reference provider.ReferenceID `json:"reference"`
	Enabled   bool                 `json:"enabled"`
	Priority  *int                 `json:"priority" doc:"Overrides the priority of the trigger node; null if it is not set."`
}

type bindings struct {
	Items []bindingView `json:"items" nullable:"false"`
	Next  *string       `json:"next" doc:"Always null: the list has one page."`
}

func viewBindings(bs []aiflow.Binding) bindings {
	out := bindings{Items: make([]bindingView, len(bs))}
	for i, b := range bs {
		out.Items[i] = bindingView{provider.ReferenceID(b.Reference), b.Enabled, b.Priority}
	}
	return out
}

func (a *Flows) listBindings(ctx context.Context, c httpapi.Call, in *flowID) (bindings, error) {
	bs, err := a.Flows.For(c.Account).Bindings().List(ctx, in.ID)
	return viewBindings(bs), err
}

type bindInput struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Enabled   bool                 `json:"enabled"`
		Priority  *int                 `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"Overrides the priority of the trigger node. The flow or bot with the higher priority answers."`
	}
}

func (a *Flows) bindFlow(ctx context.Context, c httpapi.Call, in *bindInput) (bindings, error) {
	if _, err := a.Messaging.For(c.Account).References().Get(ctx, in.Body.Reference); errors.Is(err, messaging.ErrNotFound) {
		return bindings{}, httpapi.NotFoundAt("body.reference", "must be the id of a reference of this account")
	} else if err != nil {
		return bindings{}, err
	}
	bs, err := a.Flows.For(c.Account).Bindings().Set(ctx, in.ID, aiflow.Binding{Reference: int64(in.Body.Reference), Enabled: in.Body.Enabled, Priority: in.Body.Priority})
	return viewBindings(bs), err
}
