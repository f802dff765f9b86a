package aiflow_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestAlone runs flows without a runtime of the program's: one jumps to
// another, and none sends.
func TestAlone(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, aiflow.Migrate(t.Context(), db))
		flows, err := aiflow.New(t.Context(), db, nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- flows.Run(ctx) }()
		f := &fixture{Service: flows, Account: flows.For(aiflow.OneAccount), db: db}
		project := f.project(t, "Shop")
		f.published(t, project, `{"format":"trunkline-flow/1","kind":"flow","slug":"say","name":"F","start":"begin","nodes":{
			"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"say"}},"say":{"type":"message","config":{"text":"Hi"}}}}`)
		main := f.published(t, project, jumper("main", "say"))
		run, err := f.Runs().Start(t.Context(), aiflow.Start{Flow: main.ID})
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, run.Status)

		var last runtime.Run
		testkit.UntilCommitted(t, f.db, func() bool {
			runs, err := f.Runs().List(t.Context(), aiflow.RunFilter{})
			require.NoError(t, err)
			last = runs.Items[0]
			return len(runs.Items) == 2 && !last.EndedAt.IsZero()
		})
		require.Equal(t, runtime.Failed, last.Status)
		require.Equal(t, flow.CodeNoChat, last.Error.Code)
		cancel()
		require.NoError(t, <-done)
	})
}
