package aiflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Version is what a flow was when it was published. It never changes.
type Version = versions.Version

// Pinned is a function as a published flow calls it.
type Pinned = versions.Pinned

// Versions are the published versions of the flows of an account.
type Versions struct{ scope }

// Publish freezes the draft as a numbered version, together with the functions
// that it calls as they are published now. Runs that are under way continue with
// the version that they began with. A draft with errors is a [*Refused]; one
// that is published already, with the same functions, is not published again.
func (a Versions) Publish(ctx context.Context, id string, by Publisher) (Flow, error) {
	var r flowRow
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
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
func (a scope) publishDraftTx(ctx context.Context, tx *database.Tx, r *flowRow, by Publisher) error {
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
func (s *Service) publishTx(ctx context.Context, tx *database.Tx, r *flowRow, e versions.Edition, by Publisher) error {
	if _, err := s.store.PublishTx(ctx, tx, &r.Row, e); err != nil {
		return err
	}
	return setPublisherTx(ctx, tx, r.ID, r.Version, by)
}

func (a scope) version(ctx context.Context, q database.Reader, id string, version int64) (Version, error) {
	return a.s.store.Version(ctx, q, a.id, id, version)
}

// Get returns a published version of a flow, or [ErrNotFound].
func (a Versions) Get(ctx context.Context, id string, version int64) (Version, error) {
	return a.version(ctx, a.s.db, id, version)
}

// List lists the published versions of a flow, the oldest first.
func (a Versions) List(ctx context.Context, id string, l List) (Page[Version], error) {
	return a.s.store.Versions(ctx, a.id, id, l)
}

// Rollback makes a published version the one that runs, and the draft. Its
// number stays, and the versions after it stay on record; its publisher is by
// from then on.
func (a Versions) Rollback(ctx context.Context, id string, version int64, by Publisher) (Flow, error) {
	var r flowRow
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		v, err := a.version(ctx, tx, id, version)
		if errors.Is(err, ErrNotFound) {
			return &Invalid{Field: "version", Message: "must be a published version"}
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
