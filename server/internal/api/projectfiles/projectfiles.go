package projectfiles

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// projectFileBody bounds a request with a file, in which every character may be
// escaped, and what JSON needs around it.
const projectFileBody = 2*knowledge.MaxFile + httpapi.MiB

// API answers what concerns the files of projects.
type API struct {
	Knowledge *knowledge.Service
	Flows     *aiflow.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	const path = "/aiflow/project/{projectId}/file"
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Knowledge_Add", Method: http.MethodPost, Path: path, Status: http.StatusCreated, Summary: "Add a file to a project for its assistants",
		About: "Text, Markdown, CSV, JSON and HTML in UTF-8, at most 10 MiB per file and 100 MiB per project. The text is split into passages. An assistant gets " +
			"those that match the question. Only the text is stored.",
		Errors: missing, MaxBody: projectFileBody,
	}, auth.FlowsManage, a.addProjectFile)
	httpapi.Register(api, httpapi.Operation{
		ID: "Knowledge_Files", Method: http.MethodGet, Path: path, Summary: "List the files of a project, oldest first", Errors: missing,
	}, auth.FlowsManage, a.listProjectFiles)
	httpapi.Register(api, httpapi.Operation{
		ID: "Knowledge_Delete", Method: http.MethodDelete, Path: path + "/{fileId}", Summary: "Remove a file from a project", Errors: missing,
	}, auth.FlowsManage, a.deleteProjectFile)
	httpapi.Register(api, httpapi.Operation{
		ID: "Knowledge_Search", Method: http.MethodPost, Path: "/aiflow/project/{projectId}/search", Summary: "Search the passages as an assistant would", Errors: missing,
	}, auth.FlowsManage, a.searchProject)
}

type projectFileView struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Type      string             `json:"type" enum:"text/plain,text/markdown,text/csv,application/json,text/html"`
	Size      int64              `json:"size" doc:"Size of the uploaded file, in bytes."`
	Passages  int64              `json:"passages" doc:"Number of passages that the file is split into."`
	CreatedAt messaging.UnixTime `json:"createdAt"`
}

func viewProjectFile(f knowledge.File) projectFileView {
	return projectFileView{f.ID, f.Name, f.Type, f.Bytes, f.Passages, messaging.UnixTime{Time: f.CreatedAt}}
}

type newProjectFile struct {
	ID   string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	Body struct {
		Name string `json:"name" minLength:"1" maxLength:"200" doc:"File name. Its extension tells the type." example:"prices.md"`
		Type string `json:"type,omitempty" maxLength:"200" doc:"Media type of the file. Required if the extension does not tell it." example:"text/markdown"`
		Text string `json:"text" minLength:"1" maxLength:"10485760" doc:"Content of the file."`
	}
}

func (a *API) addProjectFile(ctx context.Context, c httpapi.Call, in *newProjectFile) (projectFileView, error) {
	f, err := a.Knowledge.For(c.Account).Add(ctx, in.ID, knowledge.NewFile{Name: in.Body.Name, Type: in.Body.Type, Data: []byte(in.Body.Text)})
	return viewProjectFile(f), httpapi.Relocate(err, "body.data", "body.text")
}

type projectFilePage struct {
	ID string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	httpapi.PageInput
}

func (a *API) listProjectFiles(ctx context.Context, c httpapi.Call, in *projectFilePage) (view.Page[projectFileView], error) {
	p, err := a.Knowledge.For(c.Account).Files(ctx, in.ID, in.List())
	return view.PageOf(p, viewProjectFile), httpapi.InQuery(err)
}

type projectFileID struct {
	ID   string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	File string `path:"fileId" maxLength:"64" doc:"Id of the file."`
}

func (a *API) deleteProjectFile(ctx context.Context, c httpapi.Call, in *projectFileID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Knowledge.For(c.Account).Delete(ctx, in.ID, in.File)
}

type projectSearch struct {
	ID   string `path:"projectId" maxLength:"64" doc:"Id of the project."`
	Body struct {
		Text string `json:"text" minLength:"1" maxLength:"4096" example:"How much is a double room?"`
	}
}

type passageView struct {
	File string `json:"file" doc:"Id of the file."`
	Name string `json:"name"`
	Part int    `json:"part" doc:"Number of the passage in its file, from 1."`
	Text string `json:"text"`
}

type passagesView struct {
	Items []passageView `json:"items" nullable:"false" doc:"The passages, best match first."`
}

func (a *API) searchProject(ctx context.Context, c httpapi.Call, in *projectSearch) (passagesView, error) {
	out := passagesView{Items: []passageView{}}
	if _, err := a.Flows.For(c.Account).Projects().Get(ctx, in.ID); err != nil {
		return out, err
	}
	found, err := a.Knowledge.For(c.Account).Search(ctx, in.ID, knowledge.Query{Text: in.Body.Text})
	for _, p := range found {
		out.Items = append(out.Items, passageView{p.File, p.Name, p.Part, p.Text})
	}
	return out, err
}

// Problem translates the errors of package knowledge.
func Problem(err error) *httpapi.Problem {
	var large *knowledge.TooLarge
	switch {
	case errors.As(err, &large):
		return httpapi.NewProblem(httpapi.CodePayloadTooLarge, fmt.Sprintf("the %s may have at most %d bytes", large.What, large.Limit))
	}
	return nil
}
