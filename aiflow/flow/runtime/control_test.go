package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// begin starts a run by hand and waits for its first turn.
func (f *fixture) begin(t testing.TB, chat string, src runtime.Source) runtime.Run {
	t.Helper()
	s := runtime.Start{Engine: flow.EngineFlow, Owner: "mine", Version: 3, Source: src, Input: map[string]any{"n": 1}, Wait: patient}
	if chat != "" {
		s.Chat = chatOf(chat)
	}
	run, err := f.acc.Start(t.Context(), s)
	require.NoError(t, err)
	return run
}

// gives gives a run something, after which its status is want. Who gives is
// told so, unless the turn takes longer than the ten seconds that it waits.
func (f *fixture) gives(t testing.TB, want runtime.Status, give func() (runtime.Run, error)) runtime.Run {
	t.Helper()
	started := time.Now()
	run, err := give()
	require.NoError(t, err)
	if time.Since(started) >= 10*time.Second {
		f.until(t, func() bool {
			run, err = f.acc.Run(t.Context(), run.ID)
			require.NoError(t, err)
			return run.Status == want
		})
	}
	require.Equal(t, want, run.Status, "%+v", run.Error)
	return run
}

func TestStart(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "", nodes(t, ``, `"first":{"type":"end","config":{"result":"{{ start.n + 1 }}"}}`))
		require.Equal(t, runtime.Completed, run.Status)
		require.JSONEq(t, `2`, string(run.Output))
		require.Equal(t, runtime.Chat{Account: account}, run.Chat)
		require.EqualValues(t, 3, run.Version)

		asking := nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"end"}`)
		run = f.begin(t, "ana", asking)
		require.Equal(t, runtime.Waiting, run.Status)
		require.Equal(t, []string{"Well?"}, f.did(t, "ana"))
		f.say(t, "ana", "yes")
		f.until(t, func() bool {
			run, err := f.acc.Run(t.Context(), run.ID)
			require.NoError(t, err)
			return run.Status == runtime.Completed
		})

		broken, problems := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"nowhere","nodes":{"note":{"type":"note"}}}`))
		require.NotNil(t, broken, "%v", problems)
		_, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Source: runtime.Source{Document: broken}})
		var no *runtime.Refused
		require.ErrorAs(t, err, &no)
		require.True(t, flow.Failed(no.Problems))
		_, err = f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Source: asking, Vars: map[string]any{"none": 1}, Args: map[string]any{"x": make(chan int)}})
		var bad *runtime.BadInput
		require.ErrorAs(t, err, &bad)
	})
}

// TestFunctions starts a flow that calls functions, which are stored with it.
func TestFunctions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		double := document(t, `{"format":"trunkline-flow/1","kind":"function","slug":"double","name":"Double","start":"ask","args":{"n":{"type":"number","required":true}},
			"returns":{"n":{"type":"number"}},"nodes":{
			"ask":{"type":"question","config":{"prompt":{"text":"Sure?"}},"next":{"out":"back"}},
			"back":{"type":"return","config":{"value":{"n":"{{ args.n * 2 }}"}}}}}`)
		src := nodes(t, `"r":{"type":"object"}`, `"first":{"type":"call","config":{"function":"double","args":{"n":"{{ start.n + 20 }}"},"saveTo":"r"},"next":{"out":"end"}},
			"end":{"type":"message","config":{"text":"{{ vars.r.n }}"}}`)
		src.Functions = append(src.Functions, double.Document)
		f.begin(t, "ana", src)
		f.stop()
		f = f.successor(t, db, nil).start(t) // which must read the function from the database
		f.say(t, "ana", "yes")
		f.awaitDid(t, "ana", "Sure?", "42")
	})
}

func TestCancel(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"delay","config":{"for":"P1D"},"next":{"out":"end"}},"end":{"type":"message","config":{"text":"No."}}`))
		require.Equal(t, flow.WaitTimer, run.WaitsFor)
		_, err := f.For("stranger").Cancel(t.Context(), run.ID, "")
		require.ErrorIs(t, err, runtime.ErrNotFound)
		run = f.gives(t, runtime.Cancelled, func() (runtime.Run, error) { return f.acc.Cancel(t.Context(), run.ID, "enough") })
		_, err = f.acc.Cancel(t.Context(), run.ID, "")
		require.ErrorIs(t, err, runtime.ErrEnded)
		var timers int
		require.NoError(t, f.raw.GetContext(t.Context(), &timers, `SELECT count(*) FROM flow_timer`))
		require.Zero(t, timers)
	})
}

func TestEvents(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		src := nodes(t, ``, `"first":{"type":"wait","config":{"event":"paid"},"next":{"out":"end","timeout":"end"}},"end":{"type":"event","config":{"name":"thanks"}}`)
		for _, chat := range []string{"ana", "ben"} {
			require.Equal(t, "paid", f.begin(t, chat, src).Event)
		}
		last := f.begin(t, "cid", src)
		run, err := f.acc.Event(t.Context(), last.ID, flow.Event{Name: "refunded"})
		require.NoError(t, err)
		require.Equal(t, runtime.Waiting, run.Status, "it waits for another")
		f.gives(t, runtime.Completed, func() (runtime.Run, error) { return f.acc.Event(t.Context(), last.ID, flow.Event{Name: "paid"}) })
		n, err := f.For("stranger").Publish(t.Context(), flow.Event{Name: "paid"})
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = f.acc.Publish(t.Context(), flow.Event{Name: "paid", Data: map[string]any{"sum": 7}})
		require.NoError(t, err)
		require.Equal(t, 2, n)
		f.awaitDid(t, "ana", "event thanks")
		f.awaitDid(t, "ben", "event thanks")
	})
}

func TestHandoff(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"handoff","config":{"target":"sales","timeout":"PT1H"},
			"next":{"assigned":"first","closed":"back","timeout":"late"}},
			"back":{"type":"message","config":{"text":"Back."}},"late":{"type":"message","config":{"text":"Late."}}`))
		require.Equal(t, flow.WaitHandoff, run.WaitsFor)
		closed := func(key string) {
			require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
				return f.HandoffTx(t.Context(), tx, chatOf(key), true)
			}))
		}
		closed("ben")
		closed("ana")
		f.until(t, func() bool {
			did := f.did(t, "ana")
			return did[len(did)-1] == "Back."
		})
		require.Equal(t, "handoff sales", f.did(t, "ana")[0])
	})
}

func TestApproval(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, func(o *runtime.Options) {
			o.Callers = map[flow.CallKind]runtime.Caller{flow.CallAgent: func(_ context.Context, c runtime.Request) (any, error) {
				switch req := c.Call.Request.(flow.ModelRequest); {
				case req.Agent.Approved == nil:
					return flow.ModelResult{Finish: flow.FinishApproval, Tool: "refund", Resume: "kept"}, nil
				case *req.Agent.Approved:
					return flow.ModelResult{Finish: flow.FinishDone, Text: "Refunded, " + fmt.Sprint(req.Agent.Resume)}, nil
				}
				return flow.ModelResult{Finish: flow.FinishDenied}, nil
			}}
		})
		src := nodes(t, ``, `"first":{"type":"agent","config":{"model":"mock/one","instructions":"Help.","input":"refund"},"next":{"out":"end","denied":"end"}},"end":{"type":"end"}`)
		run := f.begin(t, "ana", src)
		require.Equal(t, flow.WaitApproval, run.WaitsFor, "%+v", run)
		var ask string
		require.NoError(t, f.raw.GetContext(t.Context(), &ask, `SELECT effect FROM test_did WHERE what = 'ask'`))
		_, err := f.acc.Approve(t.Context(), run.ID, "0", true)
		require.ErrorIs(t, err, runtime.ErrNoAsk)
		run, err = f.acc.Run(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Waiting, run.Status)
		_, err = f.acc.Approve(t.Context(), run.ID, ask, true)
		require.NoError(t, err)
		f.awaitDid(t, "ana", "ask refund", "Refunded, kept")
	})
}

// TestErase leaves nothing of a contact, of a reference and of an account.
func TestErase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		asking := nodes(t, `"heard":{"type":"string"}`, `"first":{"type":"question","config":{"prompt":{"text":"Well?"},"saveTo":"heard"},"next":{"out":"again"}},
			"again":{"type":"question","config":{"prompt":{"text":"Sure, {{ vars.heard }}?"},"timeout":"PT1H"},"next":{"out":"end"}},"end":{"type":"end"}`)
		f.shelf.add(t, "asking", asking)
		for _, chat := range []string{"ana", "ben"} {
			f.say(t, chat, "hi", "canary"+chat)
			f.awaitDid(t, chat, "Well?", "Sure, canary"+chat+"?")
		}
		f.stop()
		f.say(t, "ana", "canaryana waits")
		_, err := db.ExecContext(t.Context(), `DELETE FROM test_did`)
		require.NoError(t, err)
		erase := func(e runtime.Erasure) {
			require.NoError(t, f.acc.Erase(t.Context(), e))
		}
		require.NotEmpty(t, testkit.Holding(t, db, "canaryana"))
		erase(runtime.Erasure{Reference: line, ChatIDs: []string{"ana", "other"}})
		require.Empty(t, testkit.Holding(t, db, "canaryana"))
		require.NotEmpty(t, testkit.Holding(t, db, "canaryben"))
		erase(runtime.Erasure{Reference: line + 1})
		require.NotEmpty(t, testkit.Holding(t, db, "canaryben"))
		erase(runtime.Erasure{Reference: line})
		require.Empty(t, testkit.Holding(t, db, "canaryben"))
		f = f.successor(t, db, nil).start(t) // what was poked finds nothing
		run := f.begin(t, "cid", asking)
		f.say(t, "cid", "canarycid")
		f.awaitDid(t, "cid", "Well?", "Sure, canarycid?")
		require.NoError(t, f.For("stranger").DeleteAll(t.Context()))
		_, err = f.acc.Run(t.Context(), run.ID)
		require.NoError(t, err)
		require.NoError(t, f.acc.DeleteAll(t.Context()))
		_, err = f.acc.Run(t.Context(), run.ID)
		require.ErrorIs(t, err, runtime.ErrNotFound)
		var left int
		require.NoError(t, db.GetContext(t.Context(), &left, `SELECT (SELECT count(*) FROM flow_step) + (SELECT count(*) FROM flow_timer) + (SELECT count(*) FROM flow_sent)
			+ (SELECT count(*) FROM flow_input) + (SELECT count(*) FROM flow_document)`))
		require.Zero(t, left)
	})
}

// TestEraseFromGroups erases what somebody wrote in a group, with the run that
// has heard it; the group's other runs stay.
func TestEraseFromGroups(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "asking", document(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"trigger","nodes":{
			"trigger":{"type":"trigger","config":{"groups":true,"on":[{"kind":"any_message"}]},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"{{ input.text }}?"}},"next":{"out":"end"}},"end":{"type":"end"}}}`))
		write := func(group, text string) {
			in := incoming(group, text)
			in.Inbound.Group = true
			require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.IncomingTx(t.Context(), tx, in) }))
		}
		write("g1", "hello")
		write("g2", "hello too")
		f.awaitDid(t, "g1", "hello?")
		f.awaitDid(t, "g2", "hello too?")
		write("g1", "canary one")
		quiet(t, f, "g1")
		f.stop()
		write("g2", "canary two")
		_, err := db.ExecContext(t.Context(), `DELETE FROM test_did`)
		require.NoError(t, err)
		require.NotEmpty(t, testkit.Holding(t, db, "canary"))
		require.NoError(t, f.acc.Erase(t.Context(), runtime.Erasure{
			Reference: line, ChatIDs: []string{"ana"}, MessageIDs: []string{"in-canary one", "in-canary two"},
		}))
		require.Empty(t, testkit.Holding(t, db, "canary"))
		page, err := f.acc.Runs(t.Context(), runtime.Filter{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Equal(t, "g2", page.Items[0].Chat.ID)
	})
}

func TestPrune(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, func(o *runtime.Options) { o.Retention = 30 * 24 * time.Hour })
		quick := nodes(t, ``, `"first":{"type":"end"}`)
		old := f.begin(t, "", quick)
		slow := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"delay","config":{"for":"P90D"},"next":{"out":"end"}},"end":{"type":"end"}`))
		f.clock.Advance(31 * 24 * time.Hour)
		fresh := f.begin(t, "", quick)
		require.NoError(t, f.Prune(t.Context()))
		_, err := f.acc.Run(t.Context(), old.ID)
		require.ErrorIs(t, err, runtime.ErrNotFound)
		for _, run := range []runtime.Run{slow, fresh} {
			_, err = f.acc.Run(t.Context(), run.ID)
			require.NoError(t, err, "it has not ended, or not long ago")
		}
		f.clock.Advance(31 * 24 * time.Hour)
		require.NoError(t, f.Prune(t.Context()))
		var documents int
		require.NoError(t, db.GetContext(t.Context(), &documents, `SELECT count(*) FROM flow_document`))
		require.Equal(t, 1, documents)
		require.Equal(t, runtime.Completed, f.begin(t, "", quick).Status, "it is stored again")
	})
}

func TestRuns(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		var ids []string
		for i := range 5 {
			ids = append([]string{f.begin(t, fmt.Sprint("c", i%2), nodes(t, ``, `"first":{"type":"end"}`)).ID}, ids...)
		}
		var got []string
		for cursor := ""; ; {
			page, err := f.acc.Runs(t.Context(), runtime.Filter{Limit: 2, Cursor: cursor, Status: runtime.Completed, Engine: flow.EngineFlow, Reference: line})
			require.NoError(t, err)
			for _, run := range page.Items {
				got = append(got, run.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, ids, got)
		page, err := f.acc.Runs(t.Context(), runtime.Filter{ChatID: "c1"})
		require.NoError(t, err)
		require.Len(t, page.Items, 2)
		_, err = f.acc.Runs(t.Context(), runtime.Filter{Limit: -1})
		var bad *runtime.Invalid
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "limit", bad.Field)
		page, err = f.For("stranger").Runs(t.Context(), runtime.Filter{})
		require.NoError(t, err)
		require.NotNil(t, page.Items)
		require.Empty(t, page.Items)
	})
}
