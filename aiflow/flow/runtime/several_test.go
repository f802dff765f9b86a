package runtime_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

func TestSeveralRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		asking := nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"{{ input.text }}!"}}`)
		ana, ben, cid := f.begin(t, "ana", asking), f.begin(t, "ben", asking), f.begin(t, "cid", asking)
		active := func() (out map[string]bool) {
			require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) (err error) {
				out, err = f.ActiveTx(t.Context(), tx, []string{chatOf("ana").Key, chatOf("ben").Key, chatOf("dan").Key})
				return err
			}))
			return out
		}
		require.Equal(t, map[string]bool{chatOf("ana").Key: true, chatOf("ben").Key: true}, active())

		run, err := f.acc.Reply(t.Context(), ana.ID, map[string]any{"type": "text", "text": "yes"})
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, run.Status)
		require.Equal(t, []string{"Well?", "yes!"}, f.did(t, "ana"))
		require.Equal(t, map[string]bool{chatOf("ben").Key: true}, active())
		_, err = f.acc.Reply(t.Context(), ana.ID, map[string]any{"text": "again"})
		require.ErrorIs(t, err, runtime.ErrEnded)

		cancel := func(acc *runtime.Account, owner string) {
			require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error {
				return acc.CancelAllTx(t.Context(), tx, flow.EngineFlow, owner, "deleted")
			}))
			f.Committed()
		}
		cancel(f.For("stranger"), "mine")
		cancel(f.acc, "another")
		quiet(t, f, "ben")
		require.Equal(t, map[string]bool{chatOf("ben").Key: true}, active())
		cancel(f.acc, "mine")
		for _, id := range []string{ben.ID, cid.ID} {
			eventually(t, func() bool {
				run, err := f.acc.Run(t.Context(), id)
				require.NoError(t, err)
				return run.Status == runtime.Cancelled
			})
		}
	})
}

// TestBusyRunHearsLater gives a run a reply while it makes a call: it hears it
// when it asks. Only to be cancelled it need not wait.
func TestBusyRunHearsLater(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		asked, answer := make(chan struct{}, 2), make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			awaitAnswer(answer, r)
		}))
		t.Cleanup(server.Close)
		f := running(t, db, nil)
		src := nodes(t, ``, `"first":{"type":"http","config":{"url":"`+server.URL+`"},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"{{ input.text }}!"}}`)
		start := func(chat string) runtime.Run {
			run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Source: src, Chat: chatOf(chat)})
			require.NoError(t, err)
			<-asked
			return run
		}
		run, doomed := start("ana"), start("ben")
		doomed, err := f.acc.Cancel(t.Context(), doomed.ID, "")
		require.NoError(t, err)
		require.Equal(t, runtime.Cancelled, doomed.Status)
		heard := make(chan runtime.Run, 1)
		go func() {
			out, _ := f.acc.Reply(t.Context(), run.ID, map[string]any{"type": "text", "text": "early"})
			heard <- out
		}()
		eventually(t, func() bool {
			var n int
			require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM flow_input WHERE kind = 'reply'`))
			return n == 1
		})
		close(answer)
		f.awaitDid(t, "ana", "Well?", "early!")
		require.Equal(t, runtime.Completed, (<-heard).Status)
		require.Empty(t, f.did(t, "ben"))
	})
}
