package aiflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Imported is what became of a [File].
type Imported struct {
	Project Project
	Flows   []ImportedFlow // in the order of the file; never nil
}

// ImportedFlow is what became of a flow of a [File].
type ImportedFlow struct {
	ID, Name  string
	Published bool
	// Problems say why what the file has as published stayed a draft, or what
	// to think of in what did not. Their paths are in that document; never nil.
	Problems []flow.Problem
}

// Import makes a project of a file, all of it or nothing. Drafts are taken as
// they are, and what was published is published as version 1, with the
// functions that the file has with it; if that does not compile here, the flow
// stays a draft. A [*Malformed] says what is refused.
func (a Projects) Import(ctx context.Context, f File, by Publisher) (Imported, error) {
	if err := f.check(); err != nil {
		return Imported{}, err
	}
	p, err := a.newProject(NewProject{Name: f.Name, Description: f.Description})
	if err != nil {
		return Imported{}, err
	}
	parts, err := a.prepareImport(ctx, p, f.Flows)
	if err != nil {
		return Imported{}, err
	}
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := insertProject(ctx, tx, p); err != nil {
			return err
		}
		for i := range parts {
			r := parts[i].row
			if err := insertFlow(ctx, tx, r); err != nil {
				return err
			}
			if parts[i].document == nil {
				continue
			}
			if err := a.s.publishTx(ctx, tx, &r, versions.Edition{Text: parts[i].text, Document: parts[i].document, Functions: parts[i].pins}, by); err != nil {
				return err
			}
		}
		return recordProjectTx(ctx, tx, audit.ProjectImport, p, map[string]any{"flows": len(parts)})
	})
	if err != nil {
		return Imported{}, fmt.Errorf("importing a project: %w", err)
	}
	out := Imported{Project: p.view(), Flows: make([]ImportedFlow, len(parts))}
	for i, x := range parts {
		out.Flows[i] = ImportedFlow{ID: x.row.ID, Name: x.row.Name, Published: x.document != nil, Problems: x.problems}
	}
	return out, nil
}

// importing is a flow of a file on its way into the tables.
type importing struct {
	row      flowRow
	text     json.RawMessage
	document *flow.Document // what will be published; nil: nothing
	pins     []Pinned
	problems []flow.Problem
}

// prepareImport makes flows ready to be stored: it compiles what they published.
func (a Projects) prepareImport(ctx context.Context, p projectRow, flows []FileFlow) ([]importing, error) {
	var here flow.Environment
	if err := a.belongings(ctx, a.s.db, &here); err != nil {
		return nil, err
	}
	out := make([]importing, len(flows))
	for i, f := range flows {
		r, err := a.newFlow(NewFlow{Project: p.ID, Name: f.Name, Draft: f.Draft})
		if err != nil {
			return nil, err
		}
		out[i] = importing{row: r, problems: []flow.Problem{}}
		if f.Published != nil {
			out[i].compile(a.s, *f.Published, here)
		}
	}
	published := map[string]*importing{}
	for _, kind := range []string{flow.KindFunction, flow.KindFlow} {
		for i := range out {
			if d := out[i].document; d != nil && d.Kind == kind {
				out[i].claimSlug(a.s, published)
			}
		}
	}
	for i := range out {
		out[i].connect(published)
	}
	return out, nil
}

// compile decides whether a version can be published here, with the functions
// that it brings.
func (x *importing) compile(s *Service, v FileVersion, here flow.Environment) {
	env := emptyEnvironment()
	here.Engine, here.Functions = env.Engine, env.Functions
	env.Environment = here
	for _, raw := range v.Functions {
		if d, _ := flow.Decode(raw); d != nil {
			env.add(d, Pinned{Slug: d.Slug, Document: raw})
		}
	}
	program, doc, problems := s.compile(v.Document, env)
	x.problems = problems
	if program != nil {
		x.text, x.document, x.pins = v.Document, doc, env.pins(doc, program)
	}
}

// claimSlug takes the slug of what will be published, functions before flows: the
// first of a file that has it keeps it.
func (x *importing) claimSlug(s *Service, published map[string]*importing) {
	if published[x.document.Slug] != nil {
		x.problems = append(x.problems, s.store.SlugTaken())
		x.document = nil
		return
	}
	published[x.document.Slug] = x
}

// connect says of pinned functions which flow of the project they are a
// version of: the first, or, as version 0, one that was not brought along.
func (x *importing) connect(published map[string]*importing) {
	for i := range x.pins {
		pin := &x.pins[i]
		f := published[pin.Slug]
		if f == nil || f.document.Kind != flow.KindFunction {
			continue
		}
		pin.Flow = f.row.ID
		if d, _ := flow.Decode(pin.Document); d.Hash() == f.document.Hash() {
			pin.Version = 1
		}
	}
}
