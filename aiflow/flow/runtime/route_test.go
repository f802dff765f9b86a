package runtime_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// listener is a flow whose trigger is given and that asks one question.
func listener(t testing.TB, name, on, more string) runtime.Source {
	t.Helper()
	return document(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"trigger","settings":{`+settings(more)+`},
		"nodes":{"trigger":{"type":"trigger","config":{"on":[`+on+`]`+strings.TrimSuffix(","+trigger(more), ",")+`},"next":{"out":"ask"}},
		"ask":{"type":"question","config":{"prompt":{"text":"`+name+`?"}},"next":{"out":"end"}},
		"end":{"type":"message","config":{"text":"`+name+`."}}}}`)
}

// settings and trigger are the two halves of what a listener has beside its
// rules: "settings | trigger".
func settings(more string) string { s, _, _ := strings.Cut(more, "|"); return s }
func trigger(more string) string  { _, s, _ := strings.Cut(more, "|"); return s }

const (
	anything = `{"kind":"any_message"}`
	menu     = `{"kind":"keyword","keywords":["menu"]}`
)

func TestWhoAnswers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "always", listener(t, "always", anything, ""))
		f.shelf.add(t, "younger", listener(t, "younger", anything, ""))
		f.shelf.add(t, "menu", listener(t, "menu", menu, ""))
		f.say(t, "ana", "hi")
		f.awaitDid(t, "ana", "always?")
		f.say(t, "ben", "menu")
		f.awaitDid(t, "ben", "menu?")
		f.shelf.add(t, "loud", listener(t, "loud", anything, `|"priority":5`))
		f.say(t, "cid", "menu")
		f.awaitDid(t, "cid", "loud?")
		f.say(t, "ana", "menu") // somebody waits for it
		f.awaitDid(t, "ana", "always?", "always.")
		require.Empty(t, f.did(t, "dan"))
	})
}

func TestCooldown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "menu", listener(t, "menu", menu, `|"cooldown":"PT1H"`))
		f.shelf.add(t, "always", listener(t, "always", anything, ""))
		f.say(t, "ana", "menu", "yes", "menu", "yes")
		f.awaitDid(t, "ana", "menu?", "menu.", "always?", "always.")
		f.clock.Advance(time.Hour)
		f.say(t, "ana", "menu")
		f.awaitDid(t, "ana", "menu?", "menu.", "always?", "always.", "menu?")
	})
}

// sleeper is a flow that says something, sleeps for a day and says another
// thing.
func sleeper(t testing.TB, whenBusy string) runtime.Source {
	t.Helper()
	return document(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"trigger","nodes":{
		"trigger":{"type":"trigger","config":{"on":[{"kind":"any_message"}],"whenBusy":"`+whenBusy+`"},"next":{"out":"begin"}},
		"begin":{"type":"message","config":{"text":"begin {{ input.text }}"},"next":{"out":"sleep"}},
		"sleep":{"type":"delay","config":{"for":"P1D"},"next":{"out":"end"}},
		"end":{"type":"message","config":{"text":"end {{ start.text }}"}}}}`)
}

func TestWhenBusy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"ignore":    {"begin a", "end a", "begin c"},
		"interrupt": {"begin a", "begin b", "end b", "begin c"},
		"queue":     {"begin a", "end a", "begin b"},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				f := running(t, db, nil)
				f.shelf.add(t, "sleeper", sleeper(t, name))
				f.say(t, "ana", "a", "b")
				quiet(t, f, "ana")
				f.clock.Advance(24 * time.Hour)
				f.Notify()
				f.until(t, func() bool { return len(f.did(t, "ana")) >= len(want)-1 })
				quiet(t, f, "ana")
				f.say(t, "ana", "c")
				if name == "queue" {
					quiet(t, f, "ana")
				}
				f.awaitDid(t, "ana", want...)
				f.once(t)
			})
		})
	}
}

// quiet waits until nothing in a chat waits to be worked on but for what
// is behind a run.
func quiet(t testing.TB, f *fixture, chat string) {
	t.Helper()
	f.until(t, func() bool {
		var n int
		require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT (SELECT count(*) FROM flow_input WHERE chat_id = $1 AND after_run = 0)
			+ (SELECT count(*) FROM flow_run WHERE chat_id = $1 AND status = 'running' AND turn > 0)`, chat))
		return n == 0
	})
}

func TestAnotherFlowInterrupts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "polite", listener(t, "polite", anything, `"interruptible":true|`))
		f.shelf.add(t, "menu", listener(t, "menu", menu, ""))
		f.shelf.add(t, "always", listener(t, "always", anything, ""))
		f.say(t, "ana", "hi", "menu", "menu")
		f.awaitDid(t, "ana", "polite?", "menu?", "menu.")
		page, err := f.acc.Runs(t.Context(), runtime.Filter{ChatID: "ana", Owner: "polite"})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Equal(t, runtime.Cancelled, page.Items[0].Status)
	})
}

func TestSilence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		dropped := make(chan string, 100)
		f := running(t, db, func(o *runtime.Options) {
			o.Observer = &runtime.Observer{Dropped: func(what string) { dropped <- what }}
		})
		f.shelf.add(t, "patience", nodes(t, ``, `
			"first":{"type":"question","config":{"prompt":{"text":"Well?"},"timeout":"PT1H"},"next":{"timeout":"late","out":"end"}},
			"late":{"type":"message","config":{"text":"Too late."}},
			"end":{"type":"message","config":{"text":"Good."}}`))
		f.say(t, "ana", "hi")
		f.awaitDid(t, "ana", "Well?")
		f.host.hush(true, epoch.Add(2*time.Hour))
		f.say(t, "ana", "to a person")
		require.Equal(t, "silent", <-dropped)
		f.clock.Advance(time.Hour)
		f.Notify()
		f.until(t, func() bool {
			var at int64
			require.NoError(t, f.raw.GetContext(t.Context(), &at, `SELECT COALESCE(max(at_us), 0) FROM flow_timer`))
			return at == epoch.Add(2*time.Hour).UnixMicro()
		})
		require.Len(t, f.did(t, "ana"), 1, "a timer waits for the person too")
		f.host.hush(false, time.Time{})
		f.clock.Advance(time.Hour)
		f.Notify()
		f.awaitDid(t, "ana", "Well?", "Too late.")
	})
}

// TestRefusals has the reference refuse what a node sends, within the transaction
// of the turn: nothing of the turn is done but what its error output does.
func TestRefusals(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.host.refuse["two"] = &flow.Error{Code: "channel.window_closed", Message: "The window is closed."}
		f.shelf.add(t, "refused", nodes(t, ``, `
			"first":{"type":"message","config":{"text":"one"},"next":{"out":"two"}},
			"two":{"type":"message","config":{"text":"two"},"next":{"out":"three","error":"sorry"}},
			"three":{"type":"message","config":{"text":"three"}},
			"sorry":{"type":"message","config":{"text":"{{ error.code }}"}}`))
		f.say(t, "ana", "hi")
		f.awaitDid(t, "ana", "one", "channel.window_closed")
		f.once(t)
	})
}

func TestJump(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.host.jumps["other"] = nodes(t, ``, `"first":{"type":"message","config":{"text":"other {{ start.n }}"}}`)
		to := func(flow string) string {
			return `"first":{"type":"message","config":{"text":"one"},"next":{"out":"jump"}},
				"jump":{"type":"flow","config":{"flow":"` + flow + `","input":{"n":"{{ 1 + 1 }}"}}}`
		}
		f.shelf.add(t, "one", nodes(t, ``, to("other")))
		f.say(t, "ana", "hi")
		f.awaitDid(t, "ana", "one", "other 2")
		page, err := f.acc.Runs(t.Context(), runtime.Filter{Owner: "other"})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Equal(t, runtime.Completed, page.Items[0].Status)

		run, err := f.acc.Start(t.Context(), runtime.Start{Engine: flow.EngineFlow, Owner: "lost", Source: nodes(t, ``, to("nowhere")), Chat: chatOf("ben"), Wait: patient})
		require.NoError(t, err)
		require.Equal(t, runtime.Failed, run.Status)
		require.Equal(t, "flow.not_found", run.Error.Code)
	})
}

// TestGivesUp has a host that fails on one chat: others are answered, and so
// is the chat once what fails is given up.
func TestGivesUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, func(o *runtime.Options) { o.Logger = slog.New(slog.DiscardHandler) })
		f.shelf.add(t, "parrot", nodes(t, ``, `"first":{"type":"message","config":{"text":"{{ input.text }}"}}`))
		f.host.breaks = "poison"
		f.say(t, "ana", "poison", "cure")
		f.say(t, "ben", "hi")
		f.awaitDid(t, "ben", "hi")
		f.awaitDid(t, "ana", "cure")
	})
}
