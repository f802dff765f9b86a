package runtime

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// callingTx returns [ErrEnded] for a run of a function whose parent has ended. It
// locks the parent, so that the parent cannot end without seeing the new run.
func (r *Runtime) callingTx(ctx context.Context, tx *sqlx.Tx, row *runRow) error {
	if row.Function == "" || row.Parent == "" {
		return nil
	}
	res, err := tx.ExecContext(ctx, `UPDATE flow_run SET turn = turn WHERE id = $1 AND account = $2 AND ended_us = 0`, row.Parent, row.Account)
	if err != nil {
		return fmt.Errorf("locking the run that calls a function: %w", err)
	}
	if one(res) != nil {
		return ErrEnded
	}
	return nil
}

// cancelCalled cancels the functions that a run still waits for when it is cancelled or
// fails. A flow that the run began continues.
func (w *work) cancelCalled(ctx context.Context) error {
	if w.row.Status == Completed {
		return nil
	}
	n, err := w.r.giveAllTx(ctx, w.tx, flow.Cancel{Reason: "the run that called it has ended"},
		`r.parent <> '' AND r.parent = $1 AND r.account = $2 AND r.function <> '' AND r.ended_us = 0`, w.row.ID, w.row.Account)
	w.enqueued += n
	return err
}
