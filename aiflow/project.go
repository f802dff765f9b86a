package aiflow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

const (
	maxName        = 200
	maxDescription = 2000
)

// Project holds flows, and the functions that they share.
type Project struct {
	ID, Name, Description string
	CreatedAt, UpdatedAt  time.Time
}

// NewProject describes a project to be made.
type NewProject struct{ Name, Description string }

// ProjectChange says what is to become of a project; what is nil stays.
type ProjectChange struct{ Name, Description *string }

func (c ProjectChange) check() error {
	if c.Name != nil {
		if err := checkText("name", *c.Name, 1, maxName); err != nil {
			return err
		}
	}
	if c.Description != nil {
		return checkText("description", *c.Description, 0, maxDescription)
	}
	return nil
}

const projectColumns = `number, id, account, name, description, created_us, updated_us`

type projectRow struct {
	Number                         int64
	ID, Account, Name, Description string
	Created                        int64 `db:"created_us"`
	Updated                        int64 `db:"updated_us"`
}

func (r projectRow) view() Project {
	return Project{ID: r.ID, Name: r.Name, Description: r.Description, CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated)}
}

// Projects are the projects of an account.
type Projects struct{ scope }

// Create makes a project. An [*Invalid] names what is refused.
func (a Projects) Create(ctx context.Context, n NewProject) (Project, error) {
	r, err := a.newProject(n)
	if err != nil {
		return Project{}, err
	}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		if err := insertProject(ctx, tx, r); err != nil {
			return err
		}
		return recordProjectTx(ctx, tx, audit.ProjectCreate, r, nil)
	})
	if err != nil {
		return Project{}, fmt.Errorf("storing a project: %w", err)
	}
	return r.view(), nil
}

func (a scope) newProject(n NewProject) (projectRow, error) {
	if err := (ProjectChange{&n.Name, &n.Description}).check(); err != nil {
		return projectRow{}, err
	}
	id, err := newID()
	now := a.s.nowUS()
	return projectRow{ID: id, Account: a.id, Name: n.Name, Description: n.Description, Created: now, Updated: now}, err
}

func insertProject(ctx context.Context, tx *database.Tx, r projectRow) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO aiflow_project (id, account, name, description, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`, r.ID, r.Account, r.Name, r.Description, r.Created, r.Updated)
	return err
}

// Get returns a project, or [ErrNotFound].
func (a Projects) Get(ctx context.Context, id string) (Project, error) {
	r, err := a.project(ctx, a.s.db, id, "")
	return r.view(), err
}

func (a scope) project(ctx context.Context, q database.Reader, id, lock string) (projectRow, error) {
	var r projectRow
	if !isID(id) {
		return r, ErrNotFound
	}
	err := q.GetContext(ctx, &r, `SELECT `+projectColumns+` FROM aiflow_project WHERE id = $1 AND account = $2 AND NOT removed`+lock, id, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading a project: %w", err)
	}
	return r, nil
}

// List lists the projects of the account, the oldest first.
func (a Projects) List(ctx context.Context, l List) (Page[Project], error) {
	return page.Select(ctx, a.s.db, l, "projects", func(r projectRow) int64 { return r.Number }, projectRow.view,
		`SELECT `+projectColumns+` FROM aiflow_project WHERE account = $1 AND NOT removed AND number > $2 ORDER BY number LIMIT $3`, a.id)
}

// Update changes a project's name and description.
func (a Projects) Update(ctx context.Context, id string, c ProjectChange) (Project, error) {
	if err := c.check(); err != nil {
		return Project{}, err
	}
	var r projectRow
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.project(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		if c.Name != nil {
			r.Name = *c.Name
		}
		if c.Description != nil {
			r.Description = *c.Description
		}
		r.Updated = a.s.nowUS()
		if _, err = tx.ExecContext(ctx, `UPDATE aiflow_project SET name = $1, description = $2, updated_us = $3 WHERE id = $4`,
			r.Name, r.Description, r.Updated, r.ID); err != nil {
			return err
		}
		return recordProjectTx(ctx, tx, audit.ProjectUpdate, r, audit.Changed(c.changed()...))
	})
	if err != nil {
		return Project{}, fmt.Errorf("changing a project: %w", err)
	}
	return r.view(), nil
}
