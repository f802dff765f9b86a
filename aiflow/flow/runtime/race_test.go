package runtime_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
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
		f.gives(t, runtime.Cancelled, func() (runtime.Run, error) { return f.acc.Cancel(t.Context(), queued[0].ID, "not needed") })

		require.NoError(t, f.acc.Forget(t.Context(), flow.EngineFlow, "sleeper", "deleted"))
		f.until(t, func() bool { return len(runs(runtime.Cancelled)) == 3 })
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
	require.NoError(t, f.db.InTx(t.Context(), func(slow *database.Tx) error {
		n, err := f.acc.PublishTx(t.Context(), slow, flow.Event{Name: "paid"})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			return f.MergedTx(t.Context(), tx, chatOf("maria"), []string{chatOf("ana").Key})
		}))
		return nil
	}))
	f.awaitDid(t, "maria", "Thanks.")
	run, err := f.acc.Run(t.Context(), run.ID)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, run.Status)
}

// TestMergeMeetsTurn makes two chats one while a turn is being taken in that which
// goes: the run that it begins is where the answers come, and nothing of either
// chat is taken out of order.
func TestMergeMeetsTurn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		looking, merged := make(chan struct{}), make(chan struct{})
		first := sync.OnceFunc(func() {
			close(looking)
			<-merged
		})
		f.host.looks = func(chat string) {
			if chat == "ana" {
				first()
			}
		}
		f.shelf.add(t, "asking", nodes(t, `"heard":{"type":"string"}`, `
			"first":{"type":"question","config":{"prompt":{"text":"Well?"},"saveTo":"heard"},"next":{"out":"more"}},
			"more":{"type":"question","config":{"prompt":{"text":"{{ vars.heard }}, and?"},"saveTo":"heard"},"next":{"out":"end"}},
			"end":{"type":"message","config":{"text":"{{ vars.heard }}."}}`))
		f.start(t)
		f.say(t, "ana", "hi", "one")
		<-looking
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			return f.MergedTx(t.Context(), tx, chatOf("maria"), []string{chatOf("ana").Key})
		}))
		f.say(t, "maria", "two")
		close(merged)
		f.awaitDid(t, "maria", "Well?", "one, and?", "two.")
		require.Empty(t, f.did(t, "ana"))
	})
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
			require.NoError(t, f.acc.Erase(t.Context(), runtime.Erasure{Reference: line}))
			f.clock.Advance(25 * time.Hour)
			require.NoError(t, f.Prune(t.Context()))
		}
	})
}

// TestAccountsShareWithoutChats begins many runs without chats: one of another
// account does not wait for all of them.
func TestAccountsShareWithoutChats(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		const many = 500
		quick := nodes(t, ``, `"first":{"type":"end"}`)
		other := ""
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			start := runtime.Start{Engine: flow.EngineFlow, Owner: "mine", Source: quick}
			for range many {
				if _, err := f.acc.StartTx(t.Context(), tx, start); err != nil {
					return err
				}
			}
			run, err := f.For("other").StartTx(t.Context(), tx, start)
			other = run.ID
			return err
		}))
		f.start(t)
		var before int
		f.until(t, func() bool {
			run, err := f.For("other").Run(t.Context(), other)
			require.NoError(t, err)
			if run.Status != runtime.Completed {
				return false
			}
			require.NoError(t, db.GetContext(t.Context(), &before, `SELECT count(*) FROM flow_step s WHERE s.id < (SELECT min(x.id) FROM flow_step x
				JOIN flow_run r ON r.seq = x.run WHERE r.id = $1)`, other))
			return true
		})
		require.Less(t, before, many)
	})
}

// deleting is an engine whose flow is deleted while a message begins it.
type deleting struct{ *shelf }

func (d deleting) KeepTx(context.Context, runtime.Tx, string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.flows) == 0 {
		return runtime.ErrNotFound
	}
	d.flows = d.flows[:len(d.flows)-1]
	return runtime.ErrNotFound
}

// TestDeletedWhileBeginning deletes flows at the moment in which their runs
// begin: by a message, and by a call.
func TestDeletedWhileBeginning(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		f.Serve(named{deleting{f.shelf}})
		f.shelf.add(t, "parrot", nodes(t, ``, `"first":{"type":"message","config":{"text":"{{ input.text }}"}}`))
		f.start(t)
		f.say(t, "ana", "hi")
		quiet(t, f, "ana")
		require.Empty(t, f.did(t, "ana"))
		_, err := f.acc.Start(t.Context(), runtime.Start{Engine: "deleting", Owner: "parrot", Source: nodes(t, ``, `"first":{"type":"end"}`)})
		require.ErrorIs(t, err, runtime.ErrNotFound)
		page, err := f.acc.Runs(t.Context(), runtime.Filter{})
		require.NoError(t, err)
		require.Empty(t, page.Items)
	})
}

// named is an engine of its own name, which answers before the shelf.
type named struct{ deleting }

func (named) Name() string { return "deleting" }

func (n named) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	all, err := n.shelf.Listeners(ctx, account, reference)
	for i := range all {
		all[i].Priority = 1
	}
	return all, err
}

// relay is an engine of its own shelf that does something when it is asked who
// listens.
type relay struct {
	*shelf
	asked func() // before it answers
}

func (*relay) Name() string { return "relay" }

func (r *relay) Listeners(ctx context.Context, account string, reference int64) ([]runtime.Listener, error) {
	r.asked()
	return r.shelf.Listeners(ctx, account, reference)
}

// TestHandedOverWhileAsking has a flow of one engine take over from a flow of
// another while the engines are asked who answers a message: it is answered.
func TestHandedOverWhileAsking(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil) // its engine is asked first, and has no flow
		parrot := nodes(t, ``, `"first":{"type":"message","config":{"text":"{{ input.text }}"}}`)
		last := &relay{shelf: &shelf{}}
		last.add(t, "before", parrot)
		last.asked = sync.OnceFunc(func() {
			f.shelf.add(t, "after", parrot)
			last.mu.Lock()
			defer last.mu.Unlock()
			last.flows = nil
		})
		f.Serve(last)
		f.start(t)
		f.say(t, "ana", "hi")
		quiet(t, f, "ana")
		require.Equal(t, []string{"hi"}, f.did(t, "ana"))
	})
}

// TestTraceIsBounded goes round for long: little more is kept than is shown.
func TestTraceIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "", nodes(t, `"n":{"type":"integer","default":0}`, `
			"first":{"type":"set","config":{"assign":[{"var":"n","op":"increment","value":1}]},"next":{"out":"more"}},
			"more":{"type":"condition","config":{"branches":[{"id":"yes","when":"vars.n < 2000"}]},"next":{"yes":"first","else":"end"}},
			"end":{"type":"end","config":{"result":"{{ vars.n }}"}}`))
		require.Equal(t, runtime.Completed, run.Status, "%+v", run.Error)
		var rows int
		require.NoError(t, db.GetContext(t.Context(), &rows, `SELECT count(*) FROM flow_step`))
		require.LessOrEqual(t, rows, 2500, "what is shown, and what came since the last look")
		d, err := f.acc.Detail(t.Context(), run.ID)
		require.NoError(t, err)
		require.Len(t, d.Steps, 1000)
		require.Equal(t, "end", d.Steps[999].Node)
	})
}
