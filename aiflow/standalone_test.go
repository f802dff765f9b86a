package aiflow_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
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

// TestAlone_Models asks a model of the program's: its node ends without one.
func TestAlone_Models(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		start := func(models map[string]llm.Model) runtime.Run {
			flows, err := aiflow.New(t.Context(), db, &aiflow.Options{Models: models})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- flows.Run(ctx) }()
			defer func() {
				cancel()
				require.NoError(t, <-done)
			}()
			acc := flows.For(aiflow.OneAccount)
			clerk, err := acc.Deploy(t.Context(), aiflow.Deployment{Project: "Shop", Flow: []byte(`{
				"format":"trunkline-flow/1","kind":"flow","slug":"clerk","name":"Clerk","start":"begin",
				"variables":{"answer":{"type":"string"}},
				"nodes":{
					"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"ask"}},
					"ask":{"type":"agent","config":{"model":"mine/assistant","instructions":"Help.","saveTo":"answer","send":false},"next":{"out":"end"}},
					"end":{"type":"end","config":{"result":"{{ vars.answer }}"}}}}`)})
			require.NoError(t, err)
			run, err := acc.Runs().Start(t.Context(), aiflow.Start{Flow: clerk.ID, Input: map[string]any{"text": "Hello"}})
			require.NoError(t, err)
			seen, err := acc.Runs().Watch(t.Context(), run.ID)
			require.NoError(t, err)
			for run = range seen {
				if !run.EndedAt.IsZero() {
					break
				}
			}
			return run
		}
		with := start(map[string]llm.Model{"mine": mock.New()})
		require.Equal(t, runtime.Completed, with.Status, with.Error)
		require.NotEmpty(t, with.Output)
		without := start(nil)
		require.Equal(t, runtime.Failed, without.Status)
		require.Equal(t, "effect.unsupported", without.Error.Code)

		runs, err := runtime.New(t.Context(), db, nil, nil)
		require.NoError(t, err)
		_, err = aiflow.New(t.Context(), db, &aiflow.Options{Runs: runs, Models: map[string]llm.Model{"mine": mock.New()}})
		require.ErrorContains(t, err, "Options.Models")
		_, err = aiflow.New(t.Context(), db, &aiflow.Options{Models: map[string]llm.Model{"mine": nil}})
		require.ErrorContains(t, err, "the model of mine is nil")
	})
}
