package server

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/server/auth"
)

// projectBody bounds requests with a project: the documents, and what JSON
// needs around them.
const projectBody = aiflow.MaxFileBytes + mib

// projectTransferRoutes take projects from one account to another.
func (s *Server) projectTransferRoutes(a *api) {
	register(a, operation{
		id: "Aiflow_Export", method: http.MethodGet, path: "/aiflow/project/{projectId}/export", summary: "Show a project as one document",
		about: "Its flows with their drafts and what is published of them, each with the functions that it was published with. Lines, runs, tests and " +
			"earlier versions stay behind, and so do credentials. A project of more than 500 flows, or of more than 8 MiB of them, is a 409.",
		errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.FlowsManage, s.exportProject)
	register(a, operation{
		id: "Aiflow_Import", method: http.MethodPost, path: "/aiflow/project/import", status: http.StatusCreated, summary: "Make a project of such a document",
		about: "All of it or nothing, with new ids. Drafts are taken as they are. What was published is published again; what cannot be stays a draft, " +
			"and its `problems` say why.",
		maxBody: projectBody,
	}, auth.FlowsManage, s.importProject)
}

// projectFile is a project as it travels.
type projectFile struct {
	Format      string     `json:"format" enum:"trunkline-project/1"`
	Name        string     `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
	Description string     `json:"description" maxLength:"2000"`
	Flows       []fileFlow `json:"flows" maxItems:"500" nullable:"false"`
}

type fileFlow struct {
	Name      string       `json:"name" minLength:"1" maxLength:"200" example:"Invoice"`
	Draft     document     `json:"draft"`
	Published *fileVersion `json:"published"`
}

type fileVersion struct {
	Document  document   `json:"document"`
	Functions []document `json:"functions" maxItems:"100" nullable:"false" doc:"What it calls, in whatever depth, by slug."`
}

// Schema stands where it is used: of a reference that may be null huma could
// not say what is wrong.
func (fileVersion) Schema(r huma.Registry) *huma.Schema {
	type plain fileVersion
	return huma.SchemaFromType(r, reflect.TypeFor[plain]())
}

func viewFile(f aiflow.File) projectFile {
	out := projectFile{Format: f.Format, Name: f.Name, Description: f.Description, Flows: make([]fileFlow, len(f.Flows))}
	for i, x := range f.Flows {
		out.Flows[i] = fileFlow{Name: x.Name, Draft: document(x.Draft)}
		if v := x.Published; v != nil {
			out.Flows[i].Published = &fileVersion{document(v.Document), mapped[document](v.Functions)}
		}
	}
	return out
}

func (f projectFile) file() aiflow.File {
	out := aiflow.File{Format: f.Format, Name: f.Name, Description: f.Description, Flows: make([]aiflow.FileFlow, len(f.Flows))}
	for i, x := range f.Flows {
		out.Flows[i] = aiflow.FileFlow{Name: x.Name, Draft: json.RawMessage(x.Draft)}
		if v := x.Published; v != nil {
			out.Flows[i].Published = &aiflow.FileVersion{Document: json.RawMessage(v.Document), Functions: mapped[json.RawMessage](v.Functions)}
		}
	}
	return out
}

// mapped makes texts of one kind texts of another.
func mapped[T, F ~[]byte](in []F) []T {
	out := make([]T, len(in))
	for i, x := range in {
		out[i] = T(x)
	}
	return out
}

func (s *Server) exportProject(ctx context.Context, c call, in *projectID) (projectFile, error) {
	f, err := s.flows(c).Export(ctx, in.ID)
	return viewFile(f), err
}

// importedProject is a project that was just made, with what became of its
// flows.
type importedProject struct {
	projectView
	Flows []importedFlow `json:"flows" nullable:"false" doc:"In the order of the document."`
}

type importedFlow struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Published bool           `json:"published"`
	Problems  []flow.Problem `json:"problems" nullable:"false" doc:"Of the published document: why it stayed a draft, or warnings."`
}

func (s *Server) importProject(ctx context.Context, c call, in *struct{ Body projectFile }) (importedProject, error) {
	done, err := s.flows(c).Import(ctx, in.Body.file(), publisher(c))
	out := importedProject{viewProject(done.Project), make([]importedFlow, len(done.Flows))}
	for i, f := range done.Flows {
		out.Flows[i] = importedFlow{f.ID, f.Name, f.Published, f.Problems}
	}
	return out, err
}

// malformedProject names every place of a project's document that is wrong.
func malformedProject(bad *aiflow.Malformed) *Problem {
	p := problem(codeValidation, "the document of the project has errors")
	for _, wrong := range bad.Problems {
		p.Errors = append(p.Errors, FieldError{Location: "body." + wrong.Field, Message: wrong.Message})
	}
	return p
}
