package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// orderFlow asks for an order, looks it up, and waits for the payment.
const orderFlow = `{"format":"trunkline-flow/1","kind":"flow","slug":"ordering","name":"Ordering","start":"begin","variables":{"order":{"type":"string"},"price":{"type":"any"}},"nodes":{
	"begin":{"type":"trigger","config":{"on":[{"kind":"keyword","keywords":["hi"]}]},"next":{"out":"ask"}},
	"ask":{"type":"question","config":{"prompt":{"text":"Which order?"},"saveTo":"order"},"next":{"out":"look"}},
	"look":{"type":"http","config":{"method":"GET","url":"http://world/orders/{{ vars.order }}","extract":[{"var":"price","path":"response.body.price"}]},"next":{"out":"say","error":"sorry"}},
	"say":{"type":"message","config":{"text":"It costs {{ vars.price }}."},"next":{"out":"paid"}},
	"paid":{"type":"wait","config":{"event":"paid"},"next":{"out":"thanks"}},
	"thanks":{"type":"message","config":{"text":"Thank you."},"next":{"out":"end"}},
	"sorry":{"type":"message","config":{"text":"I cannot find it."},"next":{"out":"end"}},
	"end":{"type":"end","config":{"result":"{{ vars.price }}"}}}}`

// TestReplayRuns plays a run against drafts that do the same, that say other
// things, and that ask the world for what the run did not.
func TestReplayRuns(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }, func(t *testing.T, f fixture) {
		world := newInternet(t, map[string][]webAnswer{"/orders/A1": {{Status: 200, Body: []byte(`{"price":12.50}`)}}})
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		draft := strings.ReplaceAll(orderFlow, anywhere, world.URL)
		id := ana.boundFlow(t, ref, draft, "0")
		ana.write(t, ref, "bob", "hi")
		ana.awaitShown(t, ref, "bob", "out: hi", "in: Which order?")
		ana.write(t, ref, "bob", "A1")
		ana.awaitShown(t, ref, "bob", "out: hi", "in: Which order?", "out: A1", "in: It costs 12.5.")
		runs := ana.call(t, "GET", "/aiflow/run?flowId="+id, "").json(200)["items"].([]any)
		run := runs[0].(map[string]any)["id"].(string)
		ana.call(t, "POST", "/aiflow/run/"+run+"/event", `{"name":"paid"}`).json(200)
		ana.until(t, func() bool {
			return ana.call(t, "GET", "/aiflow/run/"+run, "").json(200)["status"] == "completed"
		})
		ana.awaitShown(t, ref, "bob", "out: hi", "in: Which order?", "out: A1", "in: It costs 12.5.", "in: Thank you.")
		asked, shown := len(world.calls), ana.shown(t, ref, "bob")

		replay := func(body string) map[string]any {
			t.Helper()
			items := ana.call(t, "POST", "/aiflow/flow/"+id+"/replay", body).json(200)["items"].([]any)
			require.Len(t, items, 1)
			return items[0].(map[string]any)
		}
		// The same draft does the same, whoever chooses the run.
		for _, body := range []string{`{}`, fmt.Sprintf(`{"runs":[%q]}`, run), fmt.Sprintf(`{"chats":[{"reference":%d,"chatId":"bob"}]}`, ref)} {
			require.Equal(t, map[string]any{
				"runId": run, "version": 1.0, "same": true, "reproduced": true, "status": map[string]any{"before": "completed", "after": "completed"},
				"output": nil, "variables": []any{}, "messages": []any{}, "path": []any{}, "calls": []any{}, "untaken": []any{}, "problem": nil,
			}, replay(body))
		}

		// Another text, and another way to the end.
		change := func(from, to string) {
			t.Helper()
			require.Contains(t, draft, from)
			draft = strings.Replace(draft, from, to, 1)
			ana.call(t, "PATCH", "/aiflow/flow/"+id, `{"draft":`+draft+`}`).json(200)
		}
		change(`It costs {{ vars.price }}.`, `That is {{ vars.price * 2 }}.`)
		change(`"next":{"out":"paid"}`, `"next":{"out":"end"}`)
		got := replay(`{}`)
		require.Equal(t, []any{
			map[string]any{"change": "removed", "at": 1.0, "node": "say", "message": map[string]any{"type": "text", "text": "It costs 12.5."}},
			map[string]any{"change": "removed", "at": 2.0, "node": "thanks", "message": map[string]any{"type": "text", "text": "Thank you."}},
			map[string]any{"change": "added", "at": 1.0, "node": "say", "message": map[string]any{"type": "text", "text": "That is 25."}},
		}, got["messages"])
		require.Equal(t, []any{
			map[string]any{"change": "removed", "at": 4.0, "step": "paid.out"}, map[string]any{"change": "removed", "at": 5.0, "step": "thanks.out"},
		}, got["path"])
		require.Equal(t, []any{false, true}, []any{got["same"], got["reproduced"]})

		// A call that the run did not make is not made.
		change(`"look":{"type":"http"`, `"look2":{"type":"http"`)
		change(`"next":{"out":"look"}`, `"next":{"out":"look2"}`)
		require.Empty(t, replay(`{}`)["calls"], "the same request of a node with another name")
		change(`/orders/`, `/v2/orders/`)
		got = replay(`{}`)
		require.Equal(t, []any{map[string]any{"node": "look2", "kind": "http", "answer": "missing"}}, got["calls"])
		require.Equal(t, map[string]any{"name": "", "before": 12.5, "after": nil}, got["output"])
		require.Equal(t, []any{map[string]any{"name": "price", "before": 12.5, "after": nil}}, got["variables"])

		// What the draft does not wait for.
		change(`"next":{"out":"ask"}`, `"next":{"out":"end"}`)
		require.Len(t, replay(`{}`)["untaken"], 1)

		require.Len(t, world.calls, asked, "nothing is called")
		require.Equal(t, shown, ana.shown(t, ref, "bob"), "nothing is sent")

		p := ana.call(t, "POST", "/aiflow/flow/"+id+"/replay", `{"runs":["`+id+`"]}`).problem(404, "not_found")
		require.Equal(t, "body.runs[0]", p.Errors[0].Location)
		ana.call(t, "POST", "/aiflow/flow/"+id+"/replay", fmt.Sprintf(`{"chats":[{"reference":%d,"chatId":"nobody"}]}`, ref+1000)).problem(404, "not_found")
		change(`"start":"begin"`, `"start":"nowhere"`)
		ana.call(t, "POST", "/aiflow/flow/"+id+"/replay", `{}`).problem(422, "validation")
		f.as(t, "eve").call(t, "POST", "/aiflow/flow/"+id+"/replay", `{}`).problem(404, "not_found")
	})
}

// TestReplayTooMuch: drafts that send megabytes for each of many runs do not fill
// the memory; the first runs are answered, the others say why they are not.
func TestReplayTooMuch(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	working(t, f)
	ana := f.as(t, "ana")
	const document = `{"format":"trunkline-flow/1","kind":"flow","slug":"talker","name":"Talker","start":"begin","nodes":{
		"begin":{"type":"trigger","config":{"on":[{"kind":"manual"}]},"next":{"out":"end"}},"end":{"type":"end"}}}`
	id := ana.boundFlow(t, ana.sandbox(t), document, "0")
	for range 8 {
		ana.start(t, fmt.Sprintf(`{"flowId":%q}`, id))
	}
	draft := strings.Replace(document, `"next":{"out":"end"}}`, `"next":{"out":"rounds"}},
		"rounds":{"type":"loop","config":{"kind":"count","times":"400","max":1000,"index":"round"},"next":{"body":"say","done":"end"}},
		"say":{"type":"message","config":{"text":"{{ padStart(string(round), 4000, 'x') }}"}}`, 1)
	ana.call(t, "PATCH", "/aiflow/flow/"+id, `{"draft":`+draft+`}`).json(200)
	items := ana.call(t, "POST", "/aiflow/flow/"+id+"/replay", `{}`).json(200)["items"].([]any)
	require.Len(t, items, 8)
	first, last := items[0].(map[string]any), items[7].(map[string]any)
	require.Nil(t, first["problem"])
	require.Equal(t, 400, len(first["messages"].([]any))) //nolint:testifylint // the messages fill screens
	require.Contains(t, last["problem"], "fewer runs")
	require.Zero(t, len(last["messages"].([]any))) //nolint:testifylint // as above
}

// TestReplayBot replays what was said to a bot, after the minutes that passed.
func TestReplayBot(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		id := ana.bot(t, ref, greeter)
		ana.write(t, ref, "bob", "hi")
		ana.awaitShown(t, ref, "bob", "out: hi", "in: Hello! Who are you?")
		ana.write(t, ref, "bob", "Bob")
		ana.awaitShown(t, ref, "bob", "out: hi", "in: Hello! Who are you?", "out: Bob", "in: Nice to meet you, Bob.")
		ana.call(t, "PATCH", "/bot/"+id, `{"flow":`+strings.Replace(greeter, "Nice to meet you", "Welcome", 1)+`}`).json(200)
		var messages []any
		f.until(t, func() bool {
			items := ana.call(t, "POST", "/bot/"+id+"/replay", `{}`).json(200)["items"].([]any)
			require.Len(t, items, 1)
			messages = items[0].(map[string]any)["messages"].([]any)
			return len(messages) == 2
		})
		require.Equal(t, "Welcome, Bob.", messages[1].(map[string]any)["message"].(map[string]any)["text"])
	})
}
