package aiflow

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// versionRows is how many versions a transaction deletes: each has documents.
	versionRows = 20
	// smallRows is how many small rows a transaction deletes.
	smallRows = 200
)

// Delete removes a flow with its versions. Its runs end; flows that were
// published with a function keep it. It is found no longer once a first, small
// transaction has committed. The rest goes in small ones, too: what of that is
// interrupted is finished by [Service.Clean].
func (a Flows) Delete(ctx context.Context, id string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		if err := hideTx(ctx, tx, id); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowDelete, r, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting a flow: %w", err)
	}
	if err := a.erase(ctx, id); err != nil {
		a.s.opts.Logger.WarnContext(ctx, "erasing a deleted flow; it is tried again", "flow", id, "error", err)
	}
	return nil
}

// hideTx hides a flow from all lists and lookups; no run of it begins then.
func hideTx(ctx context.Context, tx *database.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE aiflow_flow SET removed = TRUE, slug = '' WHERE id = $1 AND NOT removed`, id)
	return err
}

// erase removes what there is of a hidden flow, last its row: what is
// interrupted continues from there. Two nodes may erase the same one.
func (a scope) erase(ctx context.Context, id string) error {
	if err := a.runs().Forget(ctx, a.s.Name(), id, "the flow was deleted"); err != nil {
		return err
	}
	if err := a.s.opts.Deleted(ctx, a.id, id); err != nil {
		return err
	}
	return a.eraseRows(ctx, id)
}

// eraseRows removes the rows of a flow.
func (a scope) eraseRows(ctx context.Context, id string) error {
	err := a.s.db.InSteps(ctx, `DELETE FROM aiflow_version WHERE flow = $1 AND version IN (SELECT version FROM aiflow_version WHERE flow = $1 LIMIT $2)`, id, versionRows)
	if err == nil {
		err = a.s.db.InSteps(ctx, `DELETE FROM aiflow_binding WHERE flow = $1 AND reference IN (SELECT reference FROM aiflow_binding WHERE flow = $1 LIMIT $2)`, id, smallRows)
	}
	if err == nil {
		err = a.s.db.InSteps(ctx, `DELETE FROM aiflow_flow WHERE id = $1`, id)
	}
	if err != nil {
		return fmt.Errorf("erasing a flow: %w", err)
	}
	return nil
}

// Delete removes a project with its flows, as [Flows.Delete] does.
func (a Projects) Delete(ctx context.Context, id string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.project(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		var flows int64
		if err := tx.GetContext(ctx, &flows, `SELECT count(*) FROM aiflow_flow WHERE project = $1 AND NOT removed`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE aiflow_project SET removed = TRUE WHERE id = $1`, id); err != nil {
			return err
		}
		return recordProjectTx(ctx, tx, audit.ProjectDelete, r, map[string]any{"flows": flows})
	})
	if err != nil {
		return fmt.Errorf("deleting a project: %w", err)
	}
	if err := a.erase(ctx, id); err != nil {
		a.s.opts.Logger.WarnContext(ctx, "erasing a deleted project; it is tried again", "project", id, "error", err)
	}
	return nil
}

// erase hides and then erases the flows of a hidden project, and removes
// its row.
func (a Projects) erase(ctx context.Context, id string) error {
	err := a.s.store.EraseAll(ctx, `aiflow_flow WHERE project = $1 AND NOT removed`, []any{id}, func(ctx context.Context, _, flow string) error {
		if err := a.s.db.InTx(ctx, func(tx *database.Tx) error { return hideTx(ctx, tx, flow) }); err != nil {
			return fmt.Errorf("hiding a flow: %w", err)
		}
		return nil
	})
	if err == nil {
		err = a.s.store.EraseAll(ctx, `aiflow_flow WHERE project = $1`, []any{id}, func(ctx context.Context, _, flow string) error { return a.scope.erase(ctx, flow) })
	}
	if err != nil {
		return err
	}
	if err := a.s.db.InSteps(ctx, `DELETE FROM aiflow_project WHERE id = $1`, id); err != nil {
		return fmt.Errorf("erasing a project: %w", err)
	}
	return nil
}

// Clean finishes deletions that were interrupted. [Service.Run] does so by
// itself.
func (s *Service) Clean(ctx context.Context) error {
	err := s.store.EraseAll(ctx, `aiflow_project WHERE removed`, nil, func(ctx context.Context, account, id string) error {
		return s.For(account).Projects().erase(ctx, id)
	})
	if err != nil {
		return err
	}
	return s.store.EraseAll(ctx, `aiflow_flow WHERE removed`, nil, func(ctx context.Context, account, id string) error {
		return s.For(account).erase(ctx, id)
	})
}

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	err := a.s.store.EraseAll(ctx, `aiflow_flow WHERE account = $1`, []any{a.id}, func(ctx context.Context, _, flow string) error {
		return a.eraseRows(ctx, flow)
	})
	if err != nil {
		return err
	}
	err = a.s.db.InSteps(ctx, `DELETE FROM aiflow_project WHERE id IN (SELECT id FROM aiflow_project p WHERE p.account = $1
		AND NOT EXISTS (SELECT 1 FROM aiflow_flow f WHERE f.project = p.id) LIMIT $2)`, a.id, smallRows)
	if err != nil {
		return fmt.Errorf("deleting projects: %w", err)
	}
	return nil
}
