package server

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// projectRoutes are the projects that flows belong to.
func (s *Server) projectRoutes(a *api) {
	missing := []int{http.StatusNotFound}
	register(a, operation{
		id: "Aiflow_CreateProject", method: http.MethodPost, path: "/aiflow/project", status: http.StatusCreated, summary: "Make a project for flows",
	}, auth.FlowsManage, s.createProject)
	register(a, operation{
		id: "Aiflow_Projects", method: http.MethodGet, path: "/aiflow/project/list", summary: "List projects, the oldest first",
	}, auth.FlowsManage, s.listProjects)
	register(a, operation{
		id: "Aiflow_Project", method: http.MethodGet, path: "/aiflow/project/{projectId}", summary: "Show a project", errors: missing,
	}, auth.FlowsManage, s.showProject)
	register(a, operation{
		id: "Aiflow_UpdateProject", method: http.MethodPatch, path: "/aiflow/project/{projectId}", summary: "Change a project", errors: missing,
	}, auth.FlowsManage, s.updateProject)
	register(a, operation{
		id: "Aiflow_DeleteProject", method: http.MethodDelete, path: "/aiflow/project/{projectId}", summary: "Delete a project with its flows",
		about: "Their runs end.", errors: missing,
	}, auth.FlowsManage, s.deleteProject)
}

// flows is the service of flows for whoever calls.
func (s *Server) flows(c call) *aiflow.Account { return s.Flows.For(c.Account) }

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

func (s *Server) createProject(ctx context.Context, c call, in *newProject) (view.ProjectView, error) {
	p, err := s.flows(c).CreateProject(ctx, aiflow.NewProject{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (s *Server) listProjects(ctx context.Context, c call, in *pageInput) (messaging.Page[view.ProjectView], error) {
	p, err := s.flows(c).Projects(ctx, aiflow.List{Limit: in.Limit, Cursor: in.Cursor})
	return viewPage(p.Items, p.Next, viewProject), inQuery(err)
}

type projectID struct {
	ID string `path:"projectId" maxLength:"64" doc:"Id of the project."`
}

func (s *Server) showProject(ctx context.Context, c call, in *projectID) (view.ProjectView, error) {
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

func (s *Server) updateProject(ctx context.Context, c call, in *projectChange) (view.ProjectView, error) {
	p, err := s.flows(c).UpdateProject(ctx, in.ID, aiflow.ProjectChange{Name: in.Body.Name, Description: in.Body.Description})
	return viewProject(p), err
}

func (s *Server) deleteProject(ctx context.Context, c call, in *projectID) (done, error) {
	return done{true}, s.flows(c).DeleteProject(ctx, in.ID)
}
