package runtime

import (
	"context"
	"maps"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// recordTx records what a user does to a run. What runs do by themselves is
// in their steps.
func recordTx(ctx context.Context, tx *database.Tx, action audit.Action, row *runRow, details map[string]any) error {
	all := map[string]any{"engine": row.Engine, "owner": row.Owner}
	maps.Copy(all, details)
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: row.ID, Reference: row.Reference, Details: all})
}

// recordInputTx records what a user gives a run, without what it says.
func recordInputTx(ctx context.Context, tx *database.Tx, row *runRow, input flow.Input) error {
	switch in := input.(type) {
	case flow.Cancel:
		return recordTx(ctx, tx, audit.RunCancel, row, nil)
	case flow.Approval:
		return recordTx(ctx, tx, audit.RunApprove, row, map[string]any{"approved": in.Approved, "stepId": in.ID})
	case flow.Event:
		return recordTx(ctx, tx, audit.RunEvent, row, map[string]any{"event": in.Name})
	case flow.Reply: // a bot that is run by hand continues
		return recordTx(ctx, tx, audit.RunStart, row, map[string]any{"version": row.Version})
	}
	return nil
}
