package aiflow

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Binding is a reference on which a flow's published trigger listens.
type Binding struct {
	Reference int64
	Enabled   bool
	Priority  *int // nil: that of the trigger node; -100..100
}

// Bind sets how a flow listens on a reference. A function is [ErrFunction].
func (a *Account) Bind(ctx context.Context, id string, b Binding) ([]Binding, error) {
	if b.Priority != nil && (*b.Priority < -100 || *b.Priority > 100) {
		return nil, &Invalid{Field: "priority", Message: "must be between -100 and 100"}
	}
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
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
	return a.Bindings(ctx, id)
}

// Bindings are the references of a flow, in their order.
func (a *Account) Bindings(ctx context.Context, id string) ([]Binding, error) {
	if _, err := a.flow(ctx, a.s.db, id, ""); err != nil {
		return nil, err
	}
	var rows []struct {
		Reference int64
		Enabled   bool
		Priority  sql.NullInt64
	}
	if err := a.s.db.SelectContext(ctx, &rows, `SELECT reference, enabled, priority FROM aiflow_binding WHERE flow = $1 ORDER BY reference`, id); err != nil {
		return nil, fmt.Errorf("listing the lines of a flow: %w", err)
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

// ListeningQuery is a SELECT of those of some references, at least one, on which
// a flow listens: one column, reference. Its parameters are numbered from first.
// It is for a statement of the transaction that stores messages: a flow counts
// for all that is stored once it is bound.
func (s *Service) ListeningQuery(first int, references []int64) (text string, args []any) {
	in, args := s.db.Dialect.InNumbers("reference", first, references)
	return `SELECT DISTINCT reference FROM aiflow_binding WHERE enabled AND ` + in, args
}

// DeleteReference unbinds a reference, which is deleted. It works in small steps,
// each durable, and may be called again after an error or a crash.
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
