package server

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// projectRoutes are the projects that flows belong to.
func (s *Server) projectRoutes(a *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_CreateProject", Method: http.MethodPost, Path: "/aiflow/project", Status: http.StatusCreated, Summary: "Make a project for flows",
	}, auth.FlowsManage, s.createProject)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Projects", Method: http.MethodGet, Path: "/aiflow/project/list", Summary: "List projects, the oldest first",
	}, auth.FlowsManage, s.listProjects)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Project", Method: http.MethodGet, Path: "/aiflow/project/{projectId}", Summary: "Show a project", Errors: missing,
	}, auth.FlowsManage, s.showProject)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_UpdateProject", Method: http.MethodPatch, Path: "/aiflow/project/{projectId}", Summary: "Change a project", Errors: missing,
	}, auth.FlowsManage, s.updateProject)
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_DeleteProject", Method: http.MethodDelete, Path: "/aiflow/project/{projectId}", Summary: "Delete a project with its flows",
		About: "Their runs end.", Errors: missing,
	}, auth.FlowsManage, s.deleteProject)
}

// flows is the service of flows for whoever calls.
func (s *Server) flows(c httpapi.Call) *aiflow.Account { return s.Flows.For(c.Account) }

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

func (s *Server) createProject(ctx context.Context, c httpapi.Call, in *newProject) (view.ProjectView, error) {
	p, err := s.flows(c).CreateProject(ctx, aiflow.NewProject{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (s *Server) listProjects(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (messaging.Page[view.ProjectView], error) {
	p, err := s.flows(c).Projects(ctx, aiflow.List{Limit: in.Limit, Cursor: in.Cursor})
	return view.Page(p.Items, p.Next, viewProject), httpapi.InQuery(err)
}

type projectID struct {
	ID string `path:"projectId" maxLength:"64" doc:"Id of the project."`
}

func (s *Server) showProject(ctx context.Context, c httpapi.Call, in *projectID) (view.ProjectView, error) {
	p, err := s.flows(c).Project(ctx, in.ID)
	return viewProject(p), err
}

type projectChange struct {
	ID   string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	Body struct {
		Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Description *string `json:"description,omitempty" maxLength:"2000"`
	}
}

func (s *Server) updateProject(ctx context.Context, c httpapi.Call, in *projectChange) (view.ProjectView, error) {
	p, err := s.flows(c).UpdateProject(ctx, in.ID, aiflow.ProjectChange{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (s *Server) deleteProject(ctx context.Context, c httpapi.Call, in *projectID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, s.flows(c).DeleteProject(ctx, in.ID)
}
