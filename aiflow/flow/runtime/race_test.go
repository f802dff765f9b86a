package runtime_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestCancelBeforeBeginning deletes a flow whose second run waits for its
// first: neither says anything more.
func TestCancelBeforeBeginning(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "sleeper", sleeper(t, "queue"))
		f.say(t, "ana", "a", "b", "c")
		quiet(t, f, "ana")
		runs := func(s runtime.Status) []runtime.Run {
			page, err := f.acc.Runs(t.Context(), runtime.Filter{Status: s})
			require.NoError(t, err)
			return page.Items
		}
		queued := runs(runtime.Running)
		require.Len(t, queued, 2)
		run, err := f.acc.Cancel(t.Context(), queued[0].ID, "not needed")
		require.NoError(t, err)
		require.Equal(t, runtime.Cancelled, run.Status)

		require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error {
			return f.acc.CancelAllTx(t.Context(), tx, flow.EngineFlow, "sleeper", "deleted")
		}))
		f.Committed()
		eventually(t, func() bool { return len(runs(runtime.Cancelled)) == 3 })
		f.awaitDid(t, "ana", "begin a")
	})
}

// TestMergeMeetsInput makes two chats one while something is on its way to a
// run of that which goes.
func TestMergeMeetsInput(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.PostgresURL(t)) // on SQLite one of them waits for the other
	f := running(t, db, nil)
	run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"wait","config":{"event":"paid"},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"Thanks."}}`))
	require.NoError(t, f.db.InTx(t.Context(), func(slow *sqlx.Tx) error {
		n, err := f.acc.PublishTx(t.Context(), slow, flow.Event{Name: "paid"})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error {
			return f.MergedTx(t.Context(), tx, chatOf("maria"), []string{chatOf("ana").Key})
		}))
		return nil
	}))
	f.Committed()
	f.awaitDid(t, "maria", "Thanks.")
	run, err := f.acc.Run(t.Context(), run.ID)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, run.Status)
}

// TestPrunedDocuments has runs begun by others whose document was deleted
// meanwhile, as one that no run had.
func TestPrunedDocuments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.host.jumps["other"] = nodes(t, ``, `"first":{"type":"message","config":{"text":"other"}}`)
		f.begin(t, "ana", f.host.jumps["other"])
		f.shelf.add(t, "jumper", nodes(t, ``, `"first":{"type":"flow","config":{"flow":"other"}}`))
		said := []string{"other"}
		for range 2 {
			f.say(t, "ana", "hi")
			said = append(said, "other")
			f.awaitDid(t, "ana", said...)
			require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error {
				return f.acc.EraseTx(t.Context(), tx, runtime.Erasure{Reference: line})
			}))
			f.clock.Advance(25 * time.Hour)
			require.NoError(t, f.Prune(t.Context()))
		}
	})
}
