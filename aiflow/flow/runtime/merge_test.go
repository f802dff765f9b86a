package runtime_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
)

// TestMerge makes two chats one in the middle of a conversation.
func TestMerge(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"Good."}}`))
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			if err := f.IncomingTx(t.Context(), tx, incoming("ana", "yes")); err != nil {
				return err
			}
			return f.MergedTx(t.Context(), tx, chatOf("maria"), []string{chatOf("ana").Key})
		}))
		f.awaitDid(t, "maria", "Good.")
		run, err := f.acc.Run(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, chatOf("maria"), run.Chat)
	})
}

// TestMergeBeforeBegin: a message that waits when its chat becomes one with
// another begins its run in that one, where the answers come.
func TestMergeBeforeBegin(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		f.shelf.add(t, "asking", nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"Good."}}`))
		f.say(t, "ana", "hi")
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			return f.MergedTx(t.Context(), tx, chatOf("maria"), []string{chatOf("ana").Key})
		}))
		f.start(t)
		f.awaitDid(t, "maria", "Well?")
		f.say(t, "maria", "yes")
		f.awaitDid(t, "maria", "Well?", "Good.")
	})
}

// TestMergeOfManyRuns: the transaction that merges two chats changes none of
// the runs that have ended; they follow in steps of 500, over two merges.
func TestMergeOfManyRuns(t *testing.T) {
	const many = 1200
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		steps := make(chan struct{}, 10)
		f := setup(t, db, func(o *runtime.Options) {
			o.AfterCommit = func(what string) {
				if what == "merge" {
					steps <- struct{}{}
				}
			}
		})
		f.start(t)
		f.shelf.add(t, "menu", listener(t, "menu", menu, `|"cooldown":"PT1H"`))
		f.say(t, "ana", "menu", "yes")
		f.awaitDid(t, "ana", "menu?", "menu.")
		f.stop()
		f.shelf.add(t, "always", listener(t, "always", anything, ""))
		_, err := db.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input, output, error, started_us, ended_us)
			SELECT 'old-' || i, account, engine, owner, version, document, reference, inbox, chat_id, status, waits, event, state, turn, input, output, error, started_us, ended_us
			FROM flow_run, n WHERE chat_id = 'ana'`, many-1)
		require.NoError(t, err)
		of := func(chat string) (n int) {
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM flow_run WHERE chat_id = $1 AND inbox = $2 AND ended_us > 0`, chat, chatOf(chat).Key))
			return n
		}
		merge := func(keep, gone string) {
			require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
				return f.MergedTx(t.Context(), tx, chatOf(keep), []string{chatOf(gone).Key})
			}))
		}
		merge("maria", "ana")
		require.Equal(t, many, of("ana"), "before a step")

		g := f.successor(t, db, func(o *runtime.Options) {
			o.AfterCommit = func(what string) {
				if what == "merge" {
					steps <- struct{}{}
				}
			}
		})
		merge("zoe", "maria")
		g.say(t, "zoe", "menu")
		g.start(t)
		for range 3 {
			<-steps
		}
		require.Zero(t, of("ana"))
		require.Equal(t, many, of("zoe"))
		g.awaitDid(t, "zoe", "always?") // the menu was chosen a moment ago, in another chat
	})
}
