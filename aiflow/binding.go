package aiflow

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Binding is a reference on which a flow's published trigger listens.
type Binding struct {
	Reference int64
	Enabled   bool
	Priority  *int // nil: that of the trigger node; -100..100
}

// Bindings are the references on which the flows of an account listen.
type Bindings struct{ scope }

// Set sets how a flow listens on a reference, and returns all bindings of the
// flow. For a function it returns [ErrFunction].
func (a Bindings) Set(ctx context.Context, id string, b Binding) ([]Binding, error) {
	if b.Priority != nil && (*b.Priority < -100 || *b.Priority > 100) {
		return nil, &Invalid{Field: "priority", Message: "must be between -100 and 100"}
	}
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		if r.Kind == flow.KindFunction {
			return ErrFunction
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO aiflow_binding (flow, account, reference, enabled, priority) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (flow, reference) DO UPDATE SET enabled = excluded.enabled, priority = excluded.priority`,
			id, a.id, b.Reference, b.Enabled, b.Priority)
		if err != nil {
			return err
		}
		if err := a.scheduleTx(ctx, tx, r); err != nil {
			return err
		}
		return recordBindingTx(ctx, tx, r, b)
	})
	if err != nil {
		return nil, fmt.Errorf("binding a flow: %w", err)
	}
	return a.List(ctx, id)
}

// List returns the bindings of a flow, in the order of their references.
func (a Bindings) List(ctx context.Context, id string) ([]Binding, error) {
	if _, err := a.flow(ctx, a.s.db, id, ""); err != nil {
		return nil, err
	}
	var rows []struct {
		Reference int64
		Enabled   bool
		Priority  sql.NullInt64
	}
	if err := a.s.db.SelectContext(ctx, &rows, `SELECT reference, enabled, priority FROM aiflow_binding WHERE flow = $1 ORDER BY reference`, id); err != nil {
		return nil, fmt.Errorf("listing the references of a flow: %w", err)
	}
	out := make([]Binding, len(rows))
	for i, r := range rows {
		out[i] = Binding{Reference: r.Reference, Enabled: r.Enabled}
		if r.Priority.Valid {
			p := int(r.Priority.Int64)
			out[i].Priority = &p
		}
	}
	return out, nil
}

// scheduleTx stores when runs of a flow start by its published trigger: one run
// for each reference on which the flow listens, or one without a reference if
// the flow has no bindings.
func (a scope) scheduleTx(ctx context.Context, tx *database.Tx, r flowRow) error {
	references := func() ([]int64, error) { return a.subscribedTx(ctx, tx, r.ID) }
	if r.Kind == flow.KindFunction {
		references = nil
	}
	return a.s.store.ScheduleTx(ctx, tx, r.Row, references)
}

// subscribedTx returns the references on which a flow listens. For a flow
// without bindings it is 0 alone.
func (a scope) subscribedTx(ctx context.Context, tx *database.Tx, id string) ([]int64, error) {
	var rows []struct {
		Reference int64
		Enabled   bool
	}
	if err := tx.SelectContext(ctx, &rows, `SELECT reference, enabled FROM aiflow_binding WHERE flow = $1 ORDER BY reference`, id); err != nil {
		return nil, fmt.Errorf("reading the references of a flow: %w", err)
	}
	if len(rows) == 0 {
		return []int64{0}, nil
	}
	var out []int64
	for _, r := range rows {
		if r.Enabled {
			out = append(out, r.Reference)
		}
	}
	return out, nil
}

// ListeningQuery returns a SELECT of those of the given references, at least
// one, on which a flow listens. It has one column, reference, and its parameters
// are numbered from first. Use it in a statement of the transaction that stores
// messages: then a flow sees every message that is stored after it was bound.
func (s *Service) ListeningQuery(first int, references []int64) (text string, args []any) {
	in, args := s.db.Dialect.InNumbers("reference", first, references)
	return `SELECT DISTINCT reference FROM aiflow_binding WHERE enabled AND ` + in, args
}

// DeleteReference removes the bindings of a reference that is being deleted. It
// works in small durable steps: call it again after an error or a crash.
func (a *Account) DeleteReference(ctx context.Context, reference int64) error {
	err := a.runs().Unschedule(ctx, reference)
	if err == nil {
		err = a.s.db.InSteps(ctx, `DELETE FROM aiflow_binding WHERE (flow, reference) IN
			(SELECT flow, reference FROM aiflow_binding WHERE reference = $1 AND account = $2 LIMIT $3)`, reference, a.id, smallRows)
	}
	if err != nil {
		return fmt.Errorf("unbinding a reference: %w", err)
	}
	return nil
}
