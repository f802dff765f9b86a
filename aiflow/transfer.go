package aiflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/apierr"
)

// FileFormat names the form of a [File].
const FileFormat = "trunkline-project/1"

// The bounds of a [File].
const (
	MaxFileFlows = 500
	MaxFileBytes = 8 << 20 // of its drafts, documents and functions together
)

// ErrTooLarge reports a project that no [File] can hold.
var ErrTooLarge = apierr.New("aiflow", apierr.Conflict,
	fmt.Sprintf("the project has more than %d flows, or more than %d MiB of them: split it", MaxFileFlows, MaxFileBytes>>20))

// File is a project as it travels: between accounts, servers and version
// control. It holds no ids. References, runs and earlier versions stay behind. Write
// it with [json.Encoder.SetEscapeHTML] off: escapes count as bytes.
type File struct {
	Format      string     `json:"format"` // FileFormat
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Flows       []FileFlow `json:"flows"`
}

// FileFlow is a flow or a function in a [File].
type FileFlow struct {
	Name      string          `json:"name"`
	Draft     json.RawMessage `json:"draft"`
	Published *FileVersion    `json:"published"` // nil: nothing was
}

// FileVersion is what was published of a flow, with the functions that it was
// published with, in the order of their slugs.
type FileVersion struct {
	Document  json.RawMessage   `json:"document"`
	Functions []json.RawMessage `json:"functions"`
}

func (v *FileVersion) size() int {
	if v == nil {
		return 0
	}
	n := len(v.Document)
	for _, f := range v.Functions {
		n += len(f)
	}
	return n
}

// size is what counts against MaxFileBytes.
func (f FileFlow) size() int { return len(f.Draft) + f.Published.size() }

// transferRow is a flow with its published version.
type transferRow struct {
	flowRow
	Document  *string // nil: none is published
	Functions *string
}

func (r transferRow) view() FileFlow {
	out := FileFlow{Name: r.Name, Draft: json.RawMessage(r.Draft)}
	if r.Document == nil {
		return out
	}
	out.Published = &FileVersion{Document: json.RawMessage(*r.Document), Functions: []json.RawMessage{}}
	for _, pin := range versions.ReadFunctions(*r.Functions) {
		out.Published.Functions = append(out.Published.Functions, pin.Document)
	}
	return out
}

// selectTransfer reads flows with what is published of them.
const selectTransfer = `SELECT f.number, f.id, f.account, f.project, f.name, f.draft, f.revision, f.slug, f.kind, f.version, f.versions,
	f.created_us, f.updated_us, v.document, v.functions
	FROM aiflow_flow f LEFT JOIN aiflow_version v ON v.flow = f.id AND v.version = f.version`

// Export returns a project with its flows, the oldest first. One that is too
// large for a file is [ErrTooLarge].
func (a Projects) Export(ctx context.Context, project string) (File, error) {
	p, err := a.project(ctx, a.s.db, project, "")
	if err != nil {
		return File{}, err
	}
	flows, err := a.fileFlows(ctx, project)
	if err != nil {
		return File{}, fmt.Errorf("reading the flows of a project: %w", err)
	}
	return File{Format: FileFormat, Name: p.Name, Description: p.Description, Flows: flows}, nil
}

// fileFlows stops at what is too large, so that it never holds much more.
func (a Projects) fileFlows(ctx context.Context, project string) ([]FileFlow, error) {
	rows, err := a.s.db.QueryxContext(ctx, selectTransfer+` WHERE f.project = $1 AND NOT f.removed ORDER BY f.number`, project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	flows, size := []FileFlow{}, 0
	for rows.Next() {
		var r transferRow
		if err := rows.StructScan(&r); err != nil {
			return nil, err
		}
		f := r.view()
		flows, size = append(flows, f), size+f.size()
		if len(flows) > MaxFileFlows || size > MaxFileBytes {
			return nil, ErrTooLarge
		}
	}
	return flows, rows.Err()
}

// Malformed reports a [File] that is none, by all of its places that break a
// rule.
type Malformed struct {
	Problems []Invalid // as {flows[2].draft, must be a JSON object}
}

func (e *Malformed) Error() string { return "aiflow: the file of a project has errors" }

// maxPlaces bounds how many places a [Malformed] names.
const maxPlaces = 100

// check names what is wrong with a file, whatever its flows mean.
func (f *File) check() error {
	bad := &Malformed{}
	if f.Format != FileFormat {
		bad.add("format", "must be "+FileFormat)
	}
	bad.text("name", f.Name, 1, maxName)
	bad.text("description", f.Description, 0, maxDescription)
	if len(f.Flows) > MaxFileFlows {
		bad.add("flows", fmt.Sprintf("must have at most %d items", MaxFileFlows))
	}
	size := 0
	for _, x := range f.Flows {
		size += x.size()
	}
	if size > MaxFileBytes {
		bad.add("flows", fmt.Sprintf("must have at most %d MiB of drafts, documents and functions", MaxFileBytes>>20))
	}
	if len(bad.Problems) > 0 {
		return bad
	}
	for i, x := range f.Flows {
		bad.flow(fmt.Sprintf("flows[%d]", i), x)
	}
	if len(bad.Problems) > 0 {
		return bad
	}
	return nil
}

func (e *Malformed) add(field, message string) {
	if len(e.Problems) < maxPlaces {
		e.Problems = append(e.Problems, Invalid{Field: field, Message: message})
	}
}

func (e *Malformed) text(field, text string, least, limit int) {
	if bad, ok := errors.AsType[*Invalid](checkText(field, text, least, limit)); ok {
		e.add(bad.Field, bad.Message)
	}
}

func (e *Malformed) document(field string, document json.RawMessage) {
	if p, ok := errors.AsType[flow.Problem](flow.CheckDraft(document)); ok {
		e.add(field+p.Path, p.Message)
	}
}

func (e *Malformed) flow(at string, x FileFlow) {
	e.text(at+".name", x.Name, 1, maxName)
	e.document(at+".draft", x.Draft)
	if x.Published == nil {
		return
	}
	e.document(at+".published.document", x.Published.Document)
	for i, f := range x.Published.Functions {
		e.document(fmt.Sprintf("%s.published.functions[%d]", at, i), f)
	}
}
