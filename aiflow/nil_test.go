package aiflow_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestNil passes nil where there must be a value: the error names the place.
func TestNil(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		_, err := aiflow.New(t.Context(), nil, nil)
		require.ErrorContains(t, err, "aiflow: ")
		require.ErrorContains(t, err, "*sqlx.DB is nil")
		_, err = runtime.New(t.Context(), nil, nil, nil)
		require.ErrorContains(t, err, "*sqlx.DB is nil")

		runs, err := runtime.New(t.Context(), db, nil, nil)
		require.NoError(t, err)
		flows, err := aiflow.New(t.Context(), db, &aiflow.Options{Runs: runs})
		require.NoError(t, err)
		acc := runs.For("one")
		for _, tx := range []aiflow.Tx{nil, (*sql.Tx)(nil), (*sqlx.Tx)(nil)} {
			for name, call := range map[string]func(context.Context) error{
				"KeepTx":     func(ctx context.Context) error { return flows.KeepTx(ctx, tx, "f") },
				"StartTx":    func(ctx context.Context) error { _, err := acc.StartTx(ctx, tx, runtime.Start{}); return err },
				"PublishTx":  func(ctx context.Context) error { _, err := acc.PublishTx(ctx, tx, flow.Event{}); return err },
				"LockTx":     func(ctx context.Context) error { _, err := acc.LockTx(ctx, tx, "r"); return err },
				"ScheduleTx": func(ctx context.Context) error { return acc.ScheduleTx(ctx, tx, runtime.Scheduled{}) },
				"IncomingTx": func(ctx context.Context) error { return runs.IncomingTx(ctx, tx, runtime.Incoming{}) },
				"HandoffTx":  func(ctx context.Context) error { return runs.HandoffTx(ctx, tx, runtime.Chat{}, true) },
				"MergedTx":   func(ctx context.Context) error { return runs.MergedTx(ctx, tx, runtime.Chat{}, []string{"gone"}) },
			} {
				require.ErrorContains(t, call(t.Context()), "the transaction is nil", name)
			}
		}
	})
}
