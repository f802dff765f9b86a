package runtime_test

import (
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// TestStartOnce begins a run of one id again and again, and at once: there is
// one run, and it does what it does once.
func TestStartOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		const id = "5b8a1b6e-7f0e-4c58-9a51-6c1d0a4de5a7"
		start := runtime.Start{
			ID: id, Engine: flow.EngineFlow, Owner: "x", Version: 1, Chat: chatOf("ana"), Wait: patient,
			Source: nodes(t, ``, `"first":{"type":"message","config":{"text":"Once"}}`),
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r, err := f.acc.Start(t.Context(), start)
				if err != nil || r.ID != id {
					t.Errorf("%s: %v", r.ID, err)
				}
			})
		}
		wg.Wait()
		r, err := f.acc.Start(t.Context(), start)
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, r.Status)
		f.awaitDid(t, "ana", "Once")

		// It is the account's: another cannot have it.
		_, err = f.For("other").Start(t.Context(), start)
		require.Error(t, err)
	})
}
