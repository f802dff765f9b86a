package aiflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
)

// Version is what a flow was when it was published. It never changes.
type Version = versions.Version

// Pinned is a function as a published flow calls it.
type Pinned = versions.Pinned

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

func (a *Account) environment(ctx context.Context, q sqlx.QueryerContext, project string) (environment, error) {
	env := emptyEnvironment()
	var rows []struct {
		ID, Slug, Document string
		Version            int64
	}
	if err := sqlx.SelectContext(ctx, q, &rows, `SELECT f.id, f.slug, v.document, f.version FROM aiflow_flow f
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
func unpublished(ctx context.Context, q sqlx.QueryerContext, project string) (slugs []string) {
	var drafts []string
	if err := sqlx.SelectContext(ctx, q, &drafts, `SELECT draft FROM aiflow_flow WHERE project = $1 AND version = 0 AND NOT removed ORDER BY number`, project); err != nil {
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
func (a *Account) surroundings(ctx context.Context, q sqlx.QueryerContext, project string) (environment, error) {
	env, err := a.environment(ctx, q, project)
	if err != nil {
		return env, err
	}
	return env, a.belongings(ctx, q, &env.Environment)
}

// belongings adds what the account has.
func (a *Account) belongings(ctx context.Context, q sqlx.QueryerContext, env *flow.Environment) error {
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

// Validate says what is wrong with a flow's draft.
func (a *Account) Validate(ctx context.Context, id string) ([]flow.Problem, error) {
	f, err := a.Flow(ctx, id)
	return f.Problems, err
}

// Publish freezes the draft as a numbered version, together with the functions
// that it calls as they are published now. Runs that are under way continue with
// the version that they began with. A draft with errors is a [*Refused]; one
// that is published already, with the same functions, is not published again.
func (a *Account) Publish(ctx context.Context, id string, by Publisher) (Flow, error) {
	var r flowRow
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		if r, err = a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		if err := a.publishDraftTx(ctx, tx, &r, by); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowPublish, r, map[string]any{"version": r.Version})
	})
	if err != nil {
		return Flow{}, fmt.Errorf("publishing a flow: %w", a.s.store.OrSlugTaken(err))
	}
	return a.view(ctx, r)
}

// publishDraftTx makes the draft of r its newest version.
func (a *Account) publishDraftTx(ctx context.Context, tx *sqlx.Tx, r *flowRow, by Publisher) error {
	env, err := a.surroundings(ctx, tx, r.Project)
	if err != nil {
		return err
	}
	program, doc, problems := a.s.compile(json.RawMessage(r.Draft), env)
	if program == nil {
		return &Refused{problems}
	}
	if err := a.s.publishTx(ctx, tx, r, versions.Edition{Text: json.RawMessage(r.Draft), Document: doc, Functions: env.pins(doc, program)}, by); err != nil {
		return err
	}
	return a.scheduleTx(ctx, tx, *r)
}

// publishTx stores an edition as the newest version of r, unless it is that:
// then its publisher is all that changes.
func (s *Service) publishTx(ctx context.Context, tx *sqlx.Tx, r *flowRow, e versions.Edition, by Publisher) error {
	if _, err := s.store.PublishTx(ctx, tx, &r.Row, e); err != nil {
		return err
	}
	return setPublisherTx(ctx, tx, r.ID, r.Version, by)
}

func (a *Account) version(ctx context.Context, q sqlx.QueryerContext, id string, version int64) (Version, error) {
	if !isID(id) {
		return Version{}, ErrNotFound
	}
	return a.s.store.Version(ctx, q, a.id, id, version)
}

// Version returns a published version of a flow, or [ErrNotFound].
func (a *Account) Version(ctx context.Context, id string, version int64) (Version, error) {
	return a.version(ctx, a.s.db, id, version)
}

// Versions lists what was published of a flow, the oldest first.
func (a *Account) Versions(ctx context.Context, id string, l List) (Page[Version], error) {
	if _, _, err := a.s.store.Bounds(l); err != nil {
		return Page[Version]{}, err
	}
	if _, err := a.flow(ctx, a.s.db, id, ""); err != nil {
		return Page[Version]{}, err
	}
	return a.s.store.Versions(ctx, id, l)
}

// Rollback makes a published version the one that runs, and the draft. Its
// number stays, and the versions after it stay on record; its publisher is by
// from then on.
func (a *Account) Rollback(ctx context.Context, id string, version int64, by Publisher) (Flow, error) {
	var r flowRow
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		if r, err = a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		v, err := a.version(ctx, tx, id, version)
		if errors.Is(err, ErrNotFound) {
			return &Invalid{Field: "version", Message: "was never published"}
		}
		if err != nil {
			return err
		}
		doc, err := a.s.store.Read(v.Document)
		if err != nil {
			return err
		}
		r.Draft, r.Version, r.Slug, r.Kind = string(v.Document), version, doc.Slug, doc.Kind
		if err := a.s.saveTx(ctx, tx, &r); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `UPDATE aiflow_flow SET version = $1, slug = $2, kind = $3 WHERE id = $4`, r.Version, r.Slug, r.Kind, r.ID); err != nil {
			return err
		}
		if err := setPublisherTx(ctx, tx, r.ID, version, by); err != nil {
			return err
		}
		if err := a.scheduleTx(ctx, tx, r); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowRollback, r, map[string]any{"version": version})
	})
	if err != nil {
		return Flow{}, fmt.Errorf("rolling a flow back: %w", a.s.store.OrSlugTaken(err))
	}
	return a.view(ctx, r)
}
