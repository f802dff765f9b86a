package runtime_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

func TestSeveralRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		asking := nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"{{ input.text }}!"}}`)
		ana, ben, cid := f.begin(t, "ana", asking), f.begin(t, "ben", asking), f.begin(t, "cid", asking)
		active := func() (out map[string]bool) {
			require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) (err error) {
				text, args := f.ActiveQuery(1, []string{chatOf("ana").Key, chatOf("ben").Key, chatOf("dan").Key})
				var keys []string
				err = tx.SelectContext(t.Context(), &keys, text, args...)
				out = map[string]bool{}
				for _, key := range keys {
					out[key] = true
				}
				return err
			}))
			return out
		}
		require.Equal(t, map[string]bool{chatOf("ana").Key: true, chatOf("ben").Key: true}, active())

		f.gives(t, runtime.Completed, func() (runtime.Run, error) {
			return f.acc.Reply(t.Context(), ana.ID, map[string]any{"type": "text", "text": "yes"})
		})
		require.Equal(t, []string{"Well?", "yes!"}, f.did(t, "ana"))
		require.Equal(t, map[string]bool{chatOf("ben").Key: true}, active())
		_, err := f.acc.Reply(t.Context(), ana.ID, map[string]any{"text": "again"})
		require.ErrorIs(t, err, runtime.ErrEnded)

		cancel := func(acc *runtime.Account, owner string) {
			require.NoError(t, acc.Forget(t.Context(), flow.EngineFlow, owner, "deleted"))
		}
		cancel(f.For("stranger"), "mine")
		cancel(f.acc, "another")
		quiet(t, f, "ben")
		require.Equal(t, map[string]bool{chatOf("ben").Key: true}, active())
		cancel(f.acc, "mine")
		for _, id := range []string{ben.ID, cid.ID} {
			f.until(t, func() bool {
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
		asked, answer := make(chan string, 100), make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Path
			awaitAnswer(answer, r)
		}))
		t.Cleanup(server.Close)
		f := running(t, db, alone)
		src := nodes(t, ``, `"first":{"type":"http","config":{"url":"`+server.URL+`/{{ chat.id }}"},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"{{ input.text }}!"}}`)
		start := func(chat string) runtime.Run {
			run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Source: src, Chat: chatOf(chat)})
			require.NoError(t, err)
			for who := ""; who != "/"+chat; { // a call that is broken off is made again
				who = <-asked
			}
			return run
		}
		run, doomed := start("ana"), start("ben")
		f.gives(t, runtime.Cancelled, func() (runtime.Run, error) { return f.acc.Cancel(t.Context(), doomed.ID, "") })
		received, started := make(chan runtime.Run, 1), time.Now()
		go func() {
			out, _ := f.acc.Reply(t.Context(), run.ID, map[string]any{"type": "text", "text": "early"})
			received <- out
		}()
		f.until(t, func() bool {
			var n int
			require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM flow_input WHERE kind = 'reply'`))
			return n == 1
		})
		close(answer)
		f.awaitDid(t, "ana", "Well?", "early!")
		changed := <-received
		if time.Since(started) < 10*time.Second { // for so long who gives waits for the turn
			require.Equal(t, runtime.Completed, changed.Status)
		}
		require.Empty(t, f.did(t, "ben"))
	})
}
