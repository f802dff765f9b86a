package aiflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// environment is what the drafts of a project may refer to: its published
// functions.
type environment struct {
	flow.Environment
	pinned map[string]Pinned
}

func emptyEnvironment() environment {
	return environment{
		Environment: flow.Environment{Engine: flow.EngineFlow, Functions: map[string]*flow.Document{}},
		pinned:      map[string]Pinned{},
	}
}

func (e environment) add(function *flow.Document, pin Pinned) {
	e.Functions[pin.Slug], e.pinned[pin.Slug] = function, pin
}

func (a scope) environment(ctx context.Context, q database.Reader, project string) (environment, error) {
	env := emptyEnvironment()
	var rows []struct {
		ID, Slug, Document string
		Version            int64
	}
	if err := q.SelectContext(ctx, &rows, `SELECT f.id, f.slug, v.document, f.version FROM aiflow_flow f
		JOIN aiflow_version v ON v.flow = f.id AND v.version = f.version WHERE f.project = $1 AND f.kind = $2 AND NOT f.removed ORDER BY f.slug`,
		project, flow.KindFunction); err != nil {
		return env, fmt.Errorf("reading the functions of a project: %w", err)
	}
	for _, r := range rows {
		doc, _ := flow.Decode([]byte(r.Document))
		if doc == nil {
			continue // it was published with other rules; who calls it is told that it is missing
		}
		env.add(doc, Pinned{Slug: r.Slug, Flow: r.ID, Version: r.Version, Document: json.RawMessage(r.Document)})
	}
	drafts := sync.OnceValue(func() []string { return unpublished(ctx, q, project) })
	env.Unpublished = func(slug string) bool { return slices.Contains(drafts(), slug) }
	return env, nil
}

// unpublished are the slugs of the functions of a project that have no version.
// It is asked only when a function is missing, to say why: without an answer of
// the database there is none.
func unpublished(ctx context.Context, q database.Reader, project string) (slugs []string) {
	var drafts []string
	if err := q.SelectContext(ctx, &drafts, `SELECT draft FROM aiflow_flow WHERE project = $1 AND version = 0 AND NOT removed ORDER BY number`, project); err != nil {
		return nil
	}
	for _, draft := range drafts {
		var d struct{ Kind, Slug string }
		if json.Unmarshal([]byte(draft), &d) == nil && d.Kind == flow.KindFunction {
			slugs = append(slugs, d.Slug)
		}
	}
	return slugs
}

// surroundings are all that the drafts of a project may refer to: its published
// functions, and what the account has.
func (a scope) surroundings(ctx context.Context, q database.Reader, project string) (environment, error) {
	env, err := a.environment(ctx, q, project)
	if err != nil {
		return env, err
	}
	return env, a.belongings(ctx, q, &env.Environment)
}

// belongings adds what the account has.
func (a scope) belongings(ctx context.Context, q database.Reader, env *flow.Environment) error {
	if a.s.opts.Environment == nil {
		return nil
	}
	if err := a.s.opts.Environment(ctx, q, a.id, env); err != nil {
		return fmt.Errorf("looking for what flows may refer to: %w", err)
	}
	return nil
}

// compile makes a draft ready to run, or says why it cannot be. Problems are
// never nil.
func (s *Service) compile(draft json.RawMessage, env environment) (*flow.Program, *flow.Document, []flow.Problem) {
	return s.store.Compile(draft, &env.Environment)
}

// pins are the functions that the program of a document can come to, but
// itself.
func (e environment) pins(d *flow.Document, p *flow.Program) []Pinned {
	out := []Pinned{}
	for _, slug := range p.Functions() {
		if pin, known := e.pinned[slug]; known && (d.Kind != flow.KindFunction || slug != d.Slug) {
			out = append(out, pin)
		}
	}
	return out
}
