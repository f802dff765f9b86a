package runtime_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// questions is a flow that asks n times, and repeats what it hears.
func questions(t testing.TB, n int) runtime.Source {
	t.Helper()
	rest := ""
	for i := range n {
		name, next := fmt.Sprint("q", i), fmt.Sprint("q", i+1)
		if i == 0 {
			name = "first"
		}
		if i == n-1 {
			next = "end"
		}
		rest += fmt.Sprintf(`%q:{"type":"question","config":{"prompt":{"text":"%d {{ input.text }}"},"saveTo":"heard"},"next":{"out":%q}},`, name, i, next)
	}
	return nodes(t, `"heard":{"type":"string"}`, rest+`"end":{"type":"message","config":{"text":"end {{ input.text }}"}}`)
}

// TestMessagesOfOnePersonDoNotMeet has contacts write faster than anybody can
// answer, each message to another of two nodes: each answers the one before.
func TestMessagesOfOnePersonDoNotMeet(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	a := running(t, testkit.Open(t, url), nil)
	b := a.successor(t, testkit.Open(t, url), nil).start(t)
	const turns, chats = 6, 8
	a.shelf.add(t, "questions", questions(t, turns-1))
	for turn := range turns {
		for c := range chats {
			[]*fixture{a, b}[(turn+c)%2].say(t, fmt.Sprint("c", c), fmt.Sprint("m", turn))
		}
	}
	for c := range chats {
		var want []string
		for turn := range turns - 1 {
			want = append(want, fmt.Sprintf("%d m%d", turn, turn))
		}
		a.awaitDid(t, fmt.Sprint("c", c), append(want, fmt.Sprint("end m", turns-1))...)
	}
	a.once(t)
}

// awaitAnswer hangs until a test answers, or its end hangs up.
func awaitAnswer(answer <-chan struct{}, r *http.Request) {
	select {
	case <-answer:
	case <-r.Context().Done():
	}
}

// TestMessagesWaitBehindACall has a contact write on while a flow asks a slow
// server: what it says then answers the question that follows.
func TestMessagesWaitBehindACall(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		asked, answer := make(chan struct{}, 1), make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case asked <- struct{}{}:
			default:
			}
			awaitAnswer(answer, r)
		}))
		t.Cleanup(server.Close)
		f := running(t, db, alone)
		f.shelf.add(t, "slow", nodes(t, `"heard":{"type":"string"}`, `
			"first":{"type":"http","config":{"url":"`+server.URL+`"},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"Well?"},"saveTo":"heard"},"next":{"out":"end"}},
			"end":{"type":"message","config":{"text":"Heard {{ vars.heard }}."}}`))
		f.say(t, "ana", "hi", "early")
		<-asked
		f.say(t, "ana", "late")
		require.Empty(t, f.did(t, "ana"))
		close(answer)
		f.awaitDid(t, "ana", "Well?", "Heard early.", "Well?") // the late one begins again
	})
}

// TestSlowCallHoldsNobody lets a server hang that one chat asks while a
// thousand others talk on.
func TestSlowCallHoldsNobody(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		answer := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { awaitAnswer(answer, r) }))
		t.Cleanup(server.Close)
		f := running(t, db, alone)
		f.shelf.add(t, "slow", nodes(t, ``, `
			"first":{"type":"condition","config":{"branches":[{"id":"slow","when":"input.text == \"slow\""}]},"next":{"slow":"call","else":"end"}},
			"call":{"type":"http","config":{"url":"`+server.URL+`","timeout":"PT60S"},"next":{"out":"end","error":"end"}},
			"end":{"type":"message","config":{"text":"Done."}}`))
		const hanging, chats = 100, 1000
		for i := range hanging {
			f.say(t, fmt.Sprint("slow", i), "slow")
		}
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			for i := range chats {
				if err := f.IncomingTx(t.Context(), tx, incoming(fmt.Sprint("c", i), "hi")); err != nil {
					return err
				}
			}
			return nil
		}))
		f.until(t, func() bool {
			var n int
			require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM test_did`))
			require.LessOrEqual(t, n, chats)
			return n == chats
		})
		f.until(t, func() bool {
			page, err := f.acc.Runs(t.Context(), runtime.Filter{Status: runtime.Running, Limit: 2 * hanging})
			require.NoError(t, err)
			return len(page.Items) == hanging && !slices.ContainsFunc(page.Items, func(r runtime.Run) bool { return r.WaitsFor != flow.WaitEffect })
		})
		close(answer)
		f.until(t, func() bool {
			var n int
			require.NoError(t, f.raw.GetContext(t.Context(), &n, `SELECT count(*) FROM test_did`))
			return n == chats+hanging
		})
		f.once(t)
	})
}

// TestLongRunsLetOthersGo counts far beyond the steps of one turn.
func TestLongRunsLetOthersGo(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		f.shelf.add(t, "count", nodes(t, `"n":{"type":"integer","default":0}`, `
			"first":{"type":"condition","config":{"branches":[{"id":"long","when":"input.text == \"long\""}]},"next":{"long":"loop","else":"end"}},
			"loop":{"type":"loop","config":{"kind":"count","times":"1000","max":1000},"next":{"body":"add","done":"end"}},
			"add":{"type":"set","config":{"assign":[{"var":"n","op":"increment","value":1}]}},
			"end":{"type":"message","config":{"text":"{{ vars.n }}"}}`))
		f.say(t, "ana", "long")
		f.say(t, "ben", "short")
		var hers atomic.Int64
		gone := make(chan struct{})
		f.host.looks = func(chat string) {
			if chat == "ana" && hers.Add(1) == 2 { // between two turns of hers there is time for his
				<-gone
			}
		}
		f.start(t)
		f.awaitDid(t, "ben", "0")
		close(gone)
		f.awaitDid(t, "ana", "1000")
		require.Greater(t, hers.Load(), int64(1))
		var turns int
		require.NoError(t, f.raw.GetContext(t.Context(), &turns, `SELECT turn FROM flow_run WHERE chat_id = $1`, "ana"))
		require.Greater(t, turns, 4, "it had several turns")
		var order []string
		require.NoError(t, f.raw.SelectContext(t.Context(), &order, `SELECT chat FROM test_did ORDER BY id`))
		require.Equal(t, []string{"ben", "ana"}, order)
	})
}

// TestTimeSurvivesRestarts stops the node while a run waits for time, and while
// a question waits for an answer.
func TestTimeSurvivesRestarts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "patience", nodes(t, ``, `
			"first":{"type":"delay","config":{"for":"P2D"},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"Still there?"},"timeout":"PT1H"},"next":{"out":"end","timeout":"gone"}},
			"end":{"type":"message","config":{"text":"Good."}},
			"gone":{"type":"message","config":{"text":"Gone."}}`))
		f.say(t, "ana", "hi")
		f.say(t, "ben", "hi")
		f.until(t, func() bool {
			page, err := f.acc.Runs(t.Context(), runtime.Filter{Status: runtime.Waiting})
			require.NoError(t, err)
			return len(page.Items) == 2
		})
		f.stop()
		f.clock.Advance(47 * time.Hour)
		f = f.successor(t, db, nil).start(t)
		f.clock.Advance(time.Hour)
		f.Notify()
		f.awaitDid(t, "ana", "Still there?")
		f.awaitDid(t, "ben", "Still there?")
		f.stop()
		f = f.successor(t, db, nil).start(t)
		f.say(t, "ben", "yes")
		f.awaitDid(t, "ben", "Still there?", "Good.")
		f.stop()
		f.clock.Advance(time.Hour)
		f = f.successor(t, db, nil).start(t)
		f.awaitDid(t, "ana", "Still there?", "Gone.")
		require.Len(t, f.did(t, "ben"), 2)
	})
}

// TestFrozenNode freezes a turn of a node, so that another takes the same turn;
// what the first one finishes late changes nothing.
func TestFrozenNode(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		exclusive := func(o *runtime.Options) { o.Exclusive = true }
		first := setup(t, testkit.Open(t, url), exclusive)
		first.shelf.add(t, "questions", questions(t, 2))
		frozen, thawed := make(chan struct{}), make(chan struct{})
		var turns atomic.Int64
		first.host.looks = func(string) {
			if turns.Add(1) == 1 { // what was taken from the node may come to it again
				close(frozen)
				<-thawed
			}
		}
		first.start(t)
		first.say(t, "ana", "m0")
		<-frozen
		second := first.successor(t, testkit.Open(t, url), exclusive).start(t)
		second.awaitDid(t, "ana", "0 m0")
		close(thawed)
		second.say(t, "ana", "m1", "m2")
		second.awaitDid(t, "ana", "0 m0", "1 m1", "end m2")
		first.stop()
		second.once(t)
		require.Len(t, second.did(t, "ana"), 3)
	})
}
