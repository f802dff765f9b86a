package aiflow

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Flow is a flow or a function of a project. Its draft may be wrong; what is
// published may not.
type Flow struct {
	ID, Project, Name string
	Draft             json.RawMessage // as it was given
	Revision          int64           // of name and draft
	Problems          []flow.Problem  // of the draft; never nil
	Published         *Version        // nil: nothing is

	CreatedAt, UpdatedAt time.Time
}

// NewFlow describes a flow to be made.
type NewFlow struct {
	Project string
	Name    string
	Draft   json.RawMessage // nil: {}
}

// FlowChange says what is to become of a flow; what is nil stays.
type FlowChange struct {
	Name     *string
	Draft    json.RawMessage
	Revision int64 // that the change was made from; 0: whatever it is
}

func (s *Service) check(c FlowChange) error {
	if c.Name != nil {
		if err := checkText("name", *c.Name, 1, maxName); err != nil {
			return err
		}
	}
	if c.Draft != nil {
		return s.store.CheckDraft("draft", c.Draft)
	}
	return nil
}

const flowColumns = `number, id, account, project, name, draft, revision, slug, kind, version, versions, created_us, updated_us`

type flowRow struct {
	versions.Row
	Project string
}

// view is a flow with what is wrong with its draft, and what is published.
func (a scope) view(ctx context.Context, r flowRow) (Flow, error) {
	env, err := a.surroundings(ctx, a.s.db, r.Project)
	if err != nil {
		return Flow{}, err
	}
	return a.viewIn(ctx, r, env)
}

func (a scope) viewIn(ctx context.Context, r flowRow, env environment) (Flow, error) {
	f := Flow{
		ID: r.ID, Project: r.Project, Name: r.Name, Draft: json.RawMessage(r.Draft), Revision: r.Revision,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}
	_, _, f.Problems = a.s.compile(f.Draft, env)
	if r.Version > 0 {
		v, err := a.version(ctx, a.s.db, r.ID, r.Version)
		if err != nil {
			return f, err
		}
		f.Published = &v
	}
	return f, nil
}

// Flows are the flows and functions of an account.
type Flows struct{ scope }

// Create makes a flow. An [*Invalid] names what is refused; a draft that could
// not be published is not.
func (a Flows) Create(ctx context.Context, n NewFlow) (Flow, error) {
	r, err := a.newFlow(n)
	if err != nil {
		return Flow{}, err
	}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		if _, err := a.project(ctx, tx, n.Project, a.s.db.Dialect.ForShare()); err != nil {
			return err
		}
		if err := insertFlow(ctx, tx, r); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowCreate, r, map[string]any{"project": r.Project})
	})
	if err != nil {
		return Flow{}, fmt.Errorf("storing a flow: %w", err)
	}
	return a.view(ctx, r)
}

func (a scope) newFlow(n NewFlow) (flowRow, error) {
	if n.Draft == nil {
		n.Draft = json.RawMessage("{}")
	}
	if err := a.s.check(FlowChange{Name: &n.Name, Draft: n.Draft}); err != nil {
		return flowRow{}, err
	}
	id, err := newID()
	now := a.s.nowUS()
	return flowRow{
		Row:     versions.Row{ID: id, Account: a.id, Name: n.Name, Draft: string(n.Draft), Revision: 1, Created: now, Updated: now},
		Project: n.Project,
	}, err
}

func insertFlow(ctx context.Context, tx *database.Tx, r flowRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO aiflow_flow (id, account, project, name, draft, revision, slug, kind, version, versions, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, 1, '', '', 0, 0, $6, $7) ON CONFLICT (id) DO NOTHING`, r.ID, r.Account, r.Project, r.Name, r.Draft, r.Created, r.Updated)
	return err
}

// Get returns a flow, or [ErrNotFound].
func (a Flows) Get(ctx context.Context, id string) (Flow, error) {
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return Flow{}, err
	}
	return a.view(ctx, r)
}

func (a scope) flow(ctx context.Context, q database.Reader, id, lock string) (flowRow, error) {
	return versions.Find[flowRow](ctx, a.s.store, q, flowColumns, a.id, id, lock)
}

// List lists the flows of a project, or of all projects if project is "", the
// oldest first. A page holds fewer than asked where drafts are large.
func (a Flows) List(ctx context.Context, project string, l List) (Page[Flow], error) {
	if project != "" {
		if _, err := a.project(ctx, a.s.db, project, ""); err != nil {
			return Page[Flow]{}, err
		}
	}
	const which = ` FROM aiflow_flow WHERE account = $1 AND NOT removed AND CAST($2 AS TEXT) IN ('', project) AND number > $3 ORDER BY number LIMIT $4`
	rows, err := page.Read(ctx, a.s.db, l, "flows", func(r flowRow) int64 { return r.Number }, func(r flowRow) flowRow { return r },
		flowColumns, `OCTET_LENGTH(draft)`, which, a.id, project)
	if err != nil {
		return Page[Flow]{}, err
	}
	envs := map[string]environment{}
	return page.Map(rows, func(r flowRow) (Flow, error) {
		env, read := envs[r.Project]
		if !read {
			var err error
			if env, err = a.surroundings(ctx, a.s.db, r.Project); err != nil {
				return Flow{}, err
			}
			envs[r.Project] = env
		}
		return a.viewIn(ctx, r, env)
	})
}

// Update changes a flow's name and draft. What is published stays as it is. A
// change of another revision than the newest is [ErrRevision].
func (a Flows) Update(ctx context.Context, id string, c FlowChange) (Flow, error) {
	if err := a.s.check(c); err != nil {
		return Flow{}, err
	}
	var r flowRow
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		if c.Revision != 0 && c.Revision != r.Revision {
			return ErrRevision
		}
		if c.Name != nil {
			r.Name = *c.Name
		}
		if c.Draft != nil {
			r.Draft = string(c.Draft)
		}
		if err := a.s.saveTx(ctx, tx, &r); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowUpdate, r, audit.Changed(c.changed()...))
	})
	if err != nil {
		return Flow{}, fmt.Errorf("changing a flow: %w", err)
	}
	return a.view(ctx, r)
}

// Validate returns what is wrong with the draft of a flow.
func (a Flows) Validate(ctx context.Context, id string) ([]flow.Problem, error) {
	f, err := a.Get(ctx, id)
	return f.Problems, err
}

// Check returns what is wrong with a document as a draft of a flow. It stores
// nothing.
func (a Flows) Check(ctx context.Context, id string, draft json.RawMessage) ([]flow.Problem, error) {
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return nil, fmt.Errorf("looking for a flow: %w", err)
	}
	env, err := a.surroundings(ctx, a.s.db, r.Project)
	if err != nil {
		return nil, err
	}
	_, _, problems := a.s.compile(draft, env)
	return problems, nil
}

// saveTx stores name and draft as the next revision.
func (s *Service) saveTx(ctx context.Context, tx *database.Tx, r *flowRow) error {
	r.Revision++
	r.Updated = s.nowUS()
	_, err := tx.ExecContext(ctx, `UPDATE aiflow_flow SET name = $1, draft = $2, revision = $3, updated_us = $4 WHERE id = $5`,
		r.Name, r.Draft, r.Revision, r.Updated, r.ID)
	return err
}

// ProjectOf returns the id of the project of a flow, or [ErrNotFound].
func (a Flows) ProjectOf(ctx context.Context, flow string) (string, error) {
	if !isID(flow) {
		return "", ErrNotFound
	}
	var project string
	err := a.s.db.GetContext(ctx, &project, `SELECT project FROM aiflow_flow WHERE id = $1 AND account = $2 AND NOT removed`, flow, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("reading the project of a flow: %w", err)
	}
	return project, nil
}
