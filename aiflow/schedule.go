package aiflow

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// scheduleTx has runs of a flow begin when its published trigger says so: for
// each reference on which it listens, and once without a reference if it was bound to
// none.
func (a *Account) scheduleTx(ctx context.Context, tx *sqlx.Tx, r flowRow) error {
	references := func() ([]int64, error) { return a.subscribedTx(ctx, tx, r.ID) }
	if r.Kind == flow.KindFunction {
		references = nil
	}
	return a.s.store.ScheduleTx(ctx, tx, r.Row, references)
}

// subscribedTx are the references on which the trigger of a flow listens; 0 is none,
// for a flow that is bound nowhere.
func (a *Account) subscribedTx(ctx context.Context, tx *sqlx.Tx, id string) ([]int64, error) {
	var rows []struct {
		Reference int64
		Enabled   bool
	}
	if err := tx.SelectContext(ctx, &rows, `SELECT reference, enabled FROM aiflow_binding WHERE flow = $1 ORDER BY reference`, id); err != nil {
		return nil, fmt.Errorf("reading the lines of a flow: %w", err)
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
