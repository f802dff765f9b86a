package flows

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Projects answers what concerns the projects that flows belong to.
type Projects struct {
	Audit *auditlog.Store
	Flows *aiflow.Service
}

// Register adds the operations of the resource.
func (a *Projects) Register(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_CreateProject", Method: http.MethodPost, Path: "/aiflow/project", Status: http.StatusCreated, Summary: "Create a project for flows",
	}, auth.FlowsManage, a.createProject)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Projects", Method: http.MethodGet, Path: "/aiflow/project/list", Summary: "List projects, oldest first",
	}, auth.FlowsManage, a.listProjects)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Project", Method: http.MethodGet, Path: "/aiflow/project/{projectId}", Summary: "Show a project", Errors: missing,
	}, auth.FlowsManage, a.showProject)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_UpdateProject", Method: http.MethodPatch, Path: "/aiflow/project/{projectId}", Summary: "Change a project", Errors: missing,
	}, auth.FlowsManage, a.updateProject)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_DeleteProject", Method: http.MethodDelete, Path: "/aiflow/project/{projectId}", Summary: "Delete a project with its flows",
		About: "Ends their runs.", Errors: missing,
	}, auth.FlowsManage, a.deleteProject)
	a.registerTransfer(api)
}

func viewProject(p aiflow.Project) view.ProjectView {
	return view.ProjectView{
		ID: p.ID, Name: p.Name, Description: p.Description,
		CreatedAt: messaging.UnixTime{Time: p.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: p.UpdatedAt},
	}
}

type newProject struct {
	Body struct {
		Name        string `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
		Description string `json:"description,omitempty" maxLength:"2000"`
	}
}

func (a *Projects) createProject(ctx context.Context, c httpapi.Call, in *newProject) (view.ProjectView, error) {
	p, err := a.Flows.For(c.Account).Projects().Create(ctx, aiflow.NewProject{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (a *Projects) listProjects(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[view.ProjectView], error) {
	p, err := a.Flows.For(c.Account).Projects().List(ctx, in.List())
	return view.PageOf(p, viewProject), httpapi.InQuery(err)
}

type projectID struct {
	ID string `path:"projectId" maxLength:"64" doc:"Id of the project."`
}

func (a *Projects) showProject(ctx context.Context, c httpapi.Call, in *projectID) (view.ProjectView, error) {
	p, err := a.Flows.For(c.Account).Projects().Get(ctx, in.ID)
	return viewProject(p), err
}

type projectChange struct {
	ID   string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	Body struct {
		Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Description *string `json:"description,omitempty" maxLength:"2000"`
	}
}

func (a *Projects) updateProject(ctx context.Context, c httpapi.Call, in *projectChange) (view.ProjectView, error) {
	p, err := a.Flows.For(c.Account).Projects().Update(ctx, in.ID, aiflow.ProjectChange{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (a *Projects) deleteProject(ctx context.Context, c httpapi.Call, in *projectID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Flows.For(c.Account).Projects().Delete(ctx, in.ID)
}
