package server_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// talker asks without end, and makes a call between two questions.
const talker = `{
	"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "talker", "name": "Talker", "start": "start",
	"variables": {"name": {"type": "string"}},
	"nodes": {
		"start": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "ask"}},
		"ask": {"type": "question", "config": {"prompt": {"text": "You said {{ input.text }}?"}, "saveTo": "name", "timeout": "PT1H"}, "next": {"out": "call"}},
		"call": {"type": "http", "config": {"url": "http://10.1.2.3/"}, "next": {"out": "call2", "error": "call2"}},
		"call2": {"type": "http", "config": {"url": "http://10.1.2.3/"}, "next": {"out": "hand", "error": "hand"}},
		"hand": {"type": "condition", "config": {"branches": [{"id": "yes", "when": "vars.name contains \"7\""}]}, "next": {"yes": "give", "else": "again"}},
		"give": {"type": "handoff", "config": {"target": "sales", "timeout": "PT1H"}, "next": {"assigned": "again", "closed": "again", "timeout": "again"}},
		"again": {"type": "question", "config": {"prompt": {"text": "Again {{ input.text }}?"}, "saveTo": "name", "timeout": "PT1H"}, "next": {"out": "call"}}
	}
}`

// TestBotsAmongDeletions has contacts, people and deletions meet in the same
// chats, while bots are published, switched and deleted: everything is worked
// on, nothing waits for itself, and no conversation outlives its bot.
func TestBotsAmongDeletions(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.PostgresURL(t))
	f := working(t, setupOn(t, db, nil))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	var mu sync.Mutex
	bot := ana.bot(t, ref, talker)
	bad := map[string]int{}
	op := func(method, path, body string) answer {
		a := ana.call(t, method, path, body)
		if a.Code >= 400 && a.Code != 404 && a.Code != 409 {
			mu.Lock()
			bad[fmt.Sprint(method, " ", path, " ", a.Code, " ", a.Body.String())]++
			mu.Unlock()
		}
		return a
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 60 {
				who := fmt.Sprintf("c%d", r.IntN(200))
				if r.IntN(3) == 0 {
					who = fmt.Sprintf("c%d", r.IntN(5))
				}
				mu.Lock()
				id := bot
				mu.Unlock()
				switch n := r.IntN(40); {
				case n < 22:
					op("POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":%q,"type":"text","text":"t%d"}`, who, r.IntN(100)))
				case n < 26:
					op("PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"%s@sandbox","handoff":"take"}`, ref, who))
				case n < 30:
					op("PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"%s@sandbox","handoff":"close"}`, ref, who))
				case n < 36:
					op("DELETE", fmt.Sprintf("/chats?reference=%d&chatId=%s@sandbox", ref, who), "")
				case n < 37:
					op("POST", "/bot/"+id+"/publish", "")
				case n < 38:
					op("PATCH", "/bot/"+id, fmt.Sprintf(`{"active":%v}`, r.IntN(3) > 0))
				case n < 39 && w == 0:
					op("DELETE", "/bot/"+id, "")
					b := op("POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"T","flow":%s}`, ref, talker)).json(201)
					mu.Lock()
					bot = b["id"].(string)
					mu.Unlock()
					op("POST", "/bot/"+b["id"].(string)+"/publish", "")
				default:
					op("POST", "/chats/send", sendBody(ref, who+"@sandbox", `{"type":"text","text":"hello"}`))
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, bad)
	ana.until(t, func() bool {
		var n int
		require.NoError(t, db.GetContext(t.Context(), &n, `SELECT (SELECT count(*) FROM flow_input WHERE after_run = 0) + (SELECT count(*) FROM flow_run WHERE ended_us = 0 AND waits IN ('','effect'))`))
		return n == 0
	})
	var orphans, deadlocks int
	require.NoError(t, db.GetContext(t.Context(), &orphans, `SELECT count(*) FROM flow_run WHERE ended_us = 0 AND NOT EXISTS (SELECT 1 FROM botengine_bot b WHERE b.id = owner)`))
	require.Zero(t, orphans, "conversations of deleted bots")
	require.NoError(t, db.GetContext(t.Context(), &deadlocks, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	require.Zero(t, deadlocks)
	f.log.hasNoErrors(t)
}

// TestRunOfErasedChat begins a run in a chat that is erased at that moment: it
// goes its way.
func TestRunOfErasedChat(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		me := ana.call(t, "GET", "/user/me", "").json(200)["accountId"].(string)
		doc, _ := flow.Decode([]byte(`{"format":"trunkline-flow/1","kind":"flow","slug":"x","name":"X","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"wait"}},"wait":{"type":"delay","config":{"for":"PT1H"}}}}`))
		run, err := f.Runs.For(me).Start(t.Context(), runtime.Start{
			Engine: "test", Source: runtime.Source{Document: doc}, Wait: eventually,
			Chat: runtime.Chat{Account: me, Reference: int64(ref), Key: "nowhere", ID: "ghost@sandbox"},
		})
		require.NoError(t, err)
		require.Equal(t, runtime.Waiting, run.Status)
	})
}
