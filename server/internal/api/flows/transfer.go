package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/typebot"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// projectBody bounds requests with a project: the documents, and what JSON
// needs around them.
const projectBody = aiflow.MaxFileBytes + httpapi.MiB

// registerTransfer take projects from one account to another.
func (a *Projects) registerTransfer(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Export", Method: http.MethodGet, Path: "/aiflow/project/{projectId}/export", Summary: "Export a project as one document",
		About: "Contains its flows, each with its draft and its published version with the functions of that version. References, runs, tests, " +
			"earlier versions and credentials are not included. A project with more than 500 flows, or more than 8 MiB of them, answers 409.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.FlowsManage, a.exportProject)
	schemas := sync.OnceValue(func() huma.Registry {
		r := api.NewSchemas()
		projectSchema(r)
		httpapi.MarkNullable(r)
		return r
	})
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Import", Method: http.MethodPost, Path: "/aiflow/project/import", Status: http.StatusCreated, Summary: "Import a project from such a document, or from an export of Typebot",
		About: "Imports all or nothing, with new ids. Drafts are imported unchanged. Published versions are published again; if that is not possible, the flow stays a draft " +
			"and `problems` has the reasons. An export of Typebot, versions 3 to 6, becomes one flow that stays a draft. Its `problems` list what has no counterpart, " +
			"with the position in the export, and the problems of the draft.",
		MaxBody: projectBody,
	}, auth.FlowsManage, func(ctx context.Context, c httpapi.Call, in *struct{ Body importBody }) (importedProject, error) {
		return a.importProject(ctx, c, schemas(), in.Body)
	})
}

// projectFile is a project as it travels.
type projectFile struct {
	Format      string     `json:"format" enum:"trunkline-project/1"`
	Name        string     `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
	Description string     `json:"description" maxLength:"2000"`
	Flows       []fileFlow `json:"flows" maxItems:"500" nullable:"false"`
}

type fileFlow struct {
	Name      string        `json:"name" minLength:"1" maxLength:"200" example:"Invoice"`
	Draft     view.Document `json:"draft"`
	Published *fileVersion  `json:"published"`
}

type fileVersion struct {
	Document  view.Document   `json:"document"`
	Functions []view.Document `json:"functions" maxItems:"100" nullable:"false" doc:"Functions that it calls directly or indirectly, by slug."`
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
		out.Flows[i] = fileFlow{Name: x.Name, Draft: view.Document(x.Draft)}
		if v := x.Published; v != nil {
			out.Flows[i].Published = &fileVersion{view.Document(v.Document), mapped[view.Document](v.Functions)}
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

func (a *Projects) exportProject(ctx context.Context, c httpapi.Call, in *projectID) (projectFile, error) {
	f, err := a.Flows.For(c.Account).Projects().Export(ctx, in.ID)
	if err != nil {
		return projectFile{}, err
	}
	err = a.Audit.Record(ctx, audit.Entry{Action: audit.ProjectExport, ObjectID: in.ID, ObjectName: f.Name})
	return viewFile(f), err
}

// importedProject is a project that was just made, with what became of its
// flows.
type importedProject struct {
	view.ProjectView
	Flows []importedFlow `json:"flows" nullable:"false" doc:"Flows, in the order of the document."`
}

type importedFlow struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Published bool           `json:"published"`
	Problems  []flow.Problem `json:"problems" nullable:"false" doc:"Problems of the published document: the reason why the flow stayed a draft, or warnings. For an export of Typebot: the problems of the draft."`
}

// importBody is a project as it travels, or an export of Typebot.
type importBody json.RawMessage

// UnmarshalJSON takes anything.
func (b *importBody) UnmarshalJSON(raw []byte) error {
	*b = append((*b)[:0], raw...)
	return nil
}

// Schema shows both; importProject checks which it is.
func (importBody) Schema(r huma.Registry) *huma.Schema {
	export := &huma.Schema{
		Type: huma.TypeObject, Description: "An export of Typebot.", Required: []string{"version", "groups", "edges"},
		Properties: map[string]*huma.Schema{
			"version": {Type: huma.TypeString}, "groups": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}},
			"edges": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}},
		},
		AdditionalProperties: true,
	}
	return httpapi.DescribedSchema("A project, or an export of Typebot.", projectSchema(r), export)
}

func projectSchema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[projectFile](), true, "")
}

func (a *Projects) importProject(ctx context.Context, c httpapi.Call, schemas huma.Registry, body importBody) (importedProject, error) {
	if typebot.Is(body) {
		return a.importTypebot(ctx, c, body)
	}
	f, err := readProject(schemas, body)
	if err != nil {
		return importedProject{}, err
	}
	done, err := a.Flows.For(c.Account).Projects().Import(ctx, f.file(), view.Publisher(c))
	return viewImported(done), err
}

// readProject reads a project as huma would have.
func readProject(schemas huma.Registry, body importBody) (projectFile, error) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return projectFile{}, httpapi.Invalid("body", "is not valid JSON")
	}
	var wrong huma.ValidateResult
	path := huma.NewPathBuffer([]byte{}, 0)
	path.Push("body")
	huma.Validate(schemas, projectSchema(schemas), path, huma.ModeWriteToServer, v, &wrong)
	if len(wrong.Errors) > 0 {
		p := httpapi.NewProblem(httpapi.CodeValidation, "the request is not valid")
		for _, err := range wrong.Errors {
			if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
				p.Errors = append(p.Errors, httpapi.FieldErrorOf(d))
			}
		}
		return projectFile{}, p
	}
	var f projectFile
	if err := json.Unmarshal(body, &f); err != nil {
		return f, httpapi.Invalid("body", httpapi.WrongType)
	}
	return f, nil
}

func viewImported(done aiflow.Imported) importedProject {
	out := importedProject{viewProject(done.Project), make([]importedFlow, len(done.Flows))}
	for i, f := range done.Flows {
		out.Flows[i] = importedFlow{f.ID, f.Name, f.Published, f.Problems}
	}
	return out
}

// importTypebot makes a project with one flow, a draft.
func (a *Projects) importTypebot(ctx context.Context, c httpapi.Call, export []byte) (importedProject, error) {
	f, err := typebot.Convert(export)
	if errors.Is(err, typebot.ErrTooLarge) {
		return importedProject{}, httpapi.Invalid("body.groups", fmt.Sprintf("must have at most %d blocks, and the export at most %d variables", typebot.MaxBlocks, typebot.MaxVariables))
	}
	if err != nil {
		return importedProject{}, err
	}
	done, err := a.Flows.For(c.Account).Projects().Import(ctx, aiflow.File{
		Format: aiflow.FileFormat, Name: f.Name, Description: "Imported from Typebot", Flows: []aiflow.FileFlow{{Name: f.Name, Draft: f.Draft}},
	}, view.Publisher(c))
	if err != nil {
		return importedProject{}, err
	}
	found, err := a.Flows.For(c.Account).Flows().Validate(ctx, done.Flows[0].ID)
	done.Flows[0].Problems = append(f.Problems, found...)
	return viewImported(done), err
}

// malformedProject names every place of a project's document that is wrong.
func malformedProject(bad *aiflow.Malformed) *httpapi.Problem {
	p := httpapi.NewProblem(httpapi.CodeValidation, "the document of the project has errors: correct those in errors")
	for _, wrong := range bad.Problems {
		p.Errors = append(p.Errors, httpapi.FieldError{Location: "body." + wrong.Field, Message: wrong.Message})
	}
	return p
}
