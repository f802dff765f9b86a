package runtime

import (
	"context"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// cancelCalled cancels the functions that a run still waits for when it is cancelled or
// fails. A flow that the run began continues.
func (w *work) cancelCalled(ctx context.Context) error {
	if w.row.Status == Completed {
		return nil
	}
	n, err := w.h.inbox.giveAllTx(ctx, w.tx, flow.Cancel{Reason: "the run that called it has ended"},
		`r.parent <> '' AND r.parent = $1 AND r.account = $2 AND r.function <> '' AND r.ended_us = 0`, w.row.ID, w.row.Account)
	w.enqueued += n
	return err
}
