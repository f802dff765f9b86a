package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// greeter asks a contact for its name, and greets it.
const greeter = `{
	"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "greeter", "name": "Greeter", "start": "start",
	"variables": {"name": {"type": "string"}},
	"nodes": {
		"start": {"type": "trigger", "config": {"on": [{"kind": "keyword", "keywords": ["hi"]}]}, "next": {"out": "ask"}},
		"ask": {"type": "question", "config": {"prompt": {"text": "Hello! Who are you?"}, "saveTo": "name"}, "next": {"out": "greet"}},
		"greet": {"type": "message", "config": {"text": "Nice to meet you, {{ vars.name }}."}}
	}
}`

// shown are the texts that a contact's phone shows, the oldest first.
func (c client) shown(t *testing.T, ref int, contact string) []string {
	t.Helper()
	texts := []string{}
	items := c.call(t, "GET", fmt.Sprintf("/sandbox/%d/messages?from=%s&limit=200", ref, contact), "").json(200)["items"].([]any)
	for _, it := range items {
		m := it.(map[string]any)
		texts = append([]string{fmt.Sprint(m["direction"], ": ", m["text"])}, texts...)
	}
	return texts
}

// awaitShown waits until a contact's phone shows some texts.
func (c client) awaitShown(t *testing.T, ref int, contact string, want ...string) {
	t.Helper()
	untilEqual(t, c.fixture, want, func() []string { return c.shown(t, ref, contact) })
}

// count is a whole number of an answer.
func count(v any) int { return int(v.(float64)) }

// bot makes a bot with a flow, and publishes it.
func (c client) bot(t *testing.T, ref int, flow string) string {
	t.Helper()
	b := c.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Greeter","flow":%s}`, ref, flow)).json(201)
	require.Empty(t, b["problems"])
	c.call(t, "POST", fmt.Sprintf("/bot/%s/publish", b["id"]), "{}").json(200)
	return b["id"].(string)
}

// TestBotOfTwoReferences publishes the same document for two references: each has
// a bot of its own.
func TestBotOfTwoReferences(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		one, two := ana.sandbox(t), ana.sandbox(t)
		document := echoFlow("same", onAnything)
		first, second := ana.bot(t, one, document), ana.bot(t, two, document)
		require.NotEqual(t, first, second)
		for _, ref := range []int{one, two} {
			ana.write(t, ref, "eve", "hello")
			ana.awaitShown(t, ref, "eve", "out: hello", "in: I am same.")
		}
		third := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Third","flow":%s}`, one, document)).json(201)["id"].(string)
		p := ana.call(t, "POST", "/bot/"+third+"/publish", "").problem(422, "validation")
		require.Equal(t, "slug.taken", p.Errors[0].Code)
		require.Equal(t, "body.flow/slug", p.Errors[0].Location)
	})
}

// TestBotDraft keeps drafts of bots apart by their revisions.
func TestBotDraft(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		a := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Greeter"}`, ana.sandbox(t)))
		path := "/bot/" + a.json(201)["id"].(string)
		require.Equal(t, `"1"`, a.Header().Get("ETag"))
		require.Equal(t, `"2"`, ana.call(t, "PATCH", path, `{"flow":`+greeter+`}`, "If-Match", `"1"`).Header().Get("ETag"))
		ana.call(t, "PATCH", path, `{"flow":{}}`, "If-Match", `"1"`).problem(412, "precondition_failed")
		ana.call(t, "PATCH", path, `{"flow":{}}`, "If-Match", `"one"`).problem(412, "precondition_failed")
		ana.call(t, "POST", path+"/publish", "{}").json(200)
		require.Equal(t, 3, count(ana.call(t, "PATCH", path, `{"active":false}`, "If-Match", `"2"`).json(200)["revision"]))
		bot := ana.call(t, "GET", path, "").json(200)
		require.Equal(t, "greeter", bot["flow"].(map[string]any)["slug"])
		require.Equal(t, 1, count(bot["version"]))
		require.Equal(t, 4, count(ana.call(t, "PATCH", path, `{"name":"New"}`, "If-Match", "*").json(200)["revision"]))
	})
}

// TestBot has a published bot answer a contact.
func TestBot(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		id := ana.bot(t, ref, greeter)
		ana.write(t, ref, "bob", "nothing for it")
		ana.write(t, ref, "bob", "Hi")
		ana.awaitShown(t, ref, "bob", "out: nothing for it", "out: Hi", "in: Hello! Who are you?")
		chat := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"engine": "botengine", "id": id}, chat["activeBot"])
		ana.write(t, ref, "bob", "Bob")
		ana.awaitShown(t, ref, "bob", "out: nothing for it", "out: Hi", "in: Hello! Who are you?", "out: Bob", "in: Nice to meet you, Bob.")
		runs := ana.call(t, "GET", "/bot/"+id+"/runs", "").json(200)["items"].([]any)
		require.Len(t, runs, 1)
		run := runs[0].(map[string]any)
		require.Equal(t, "completed", run["status"])
		d := ana.call(t, "GET", "/bot/run/"+run["id"].(string), "").json(200)
		require.Equal(t, map[string]any{"name": "Bob"}, d["variables"])
		require.Len(t, d["sent"], 2)
		require.Equal(t, "bot", d["sent"].([]any)[0].(map[string]any)["actor"])
		require.Len(t, d["steps"], 3)
	})
}

// TestBotByHand runs a draft with nothing but calls of the API.
func TestBotByHand(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		id := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Greeter","flow":%s}`, ref, greeter)).json(201)["id"].(string)
		turn := func(input string, before ...any) map[string]any {
			answer := ana.call(t, "POST", "/bot/"+id+"/run", fmt.Sprintf(`{"chatId":"bob","input":%q}`, input)).json(200)
			return ana.after(t, "/bot/run/", answer["run"].(map[string]any), before...)
		}
		first := turn("anything", "running")
		require.Equal(t, "waiting", first["status"])
		require.Equal(t, "reply", first["waitingFor"])
		second := turn("Bob", "waiting", "running")
		require.Equal(t, first["id"], second["id"])
		require.Equal(t, "completed", second["status"])
		sent := second["sent"].([]any)
		require.Equal(t, "Nice to meet you, Bob.", sent[1].(map[string]any)["text"])
		ana.call(t, "POST", "/bot/"+id+"/run", `{"chatId":"bob"}`).problem(422, "validation")
		ben := f.as(t, "ben")
		ben.call(t, "POST", "/bot/"+id+"/run", `{"chatId":"bob","input":"x"}`).problem(404, "not_found")
		ben.call(t, "GET", "/bot/run/"+first["id"].(string), "").problem(404, "not_found")
	})
}

// TestBotByHand_OlderMessage has a bot begin by hand in a chat whose newest message still
// waits for its turn. That was written before the bot asked, so it is no answer.
func TestBotByHand_OlderMessage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil) // its workers do not run yet
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		id := ana.bot(t, ref, greeter)
		ana.write(t, ref, "bob", "I wrote before")
		run := make(chan answer, 1)
		go func() { run <- ana.call(t, "POST", "/bot/"+id+"/run", `{"chatId":"bob","input":"Hi"}`) }()
		testkit.UntilCommitted(t, db, func() bool {
			var n int
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM flow_run`))
			return n == 1
		})
		working(t, f)
		(<-run).json(200)
		ana.awaitShown(t, ref, "bob", "out: I wrote before", "in: Hello! Who are you?")
		ana.write(t, ref, "bob", "Bob")
		ana.awaitShown(t, ref, "bob", "out: I wrote before", "in: Hello! Who are you?", "out: Bob", "in: Nice to meet you, Bob.")
	})
}

// TestBotKept makes, changes, publishes and deletes bots.
func TestBotKept(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		b := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Shop","trigger":"always"}`, ref)).json(201)
		path := "/bot/" + b["id"].(string)
		require.Equal(t, "always", b["trigger"])
		require.Equal(t, []any{"always"}, b["triggers"])
		require.Equal(t, "draft", b["status"])
		require.Equal(t, 0, count(b["version"]))
		b = ana.call(t, "PATCH", path, `{"trigger":"keyword","keywords":["order","buy"]}`).json(200)
		require.Equal(t, "keyword", b["trigger"])
		require.Equal(t, []any{"order", "buy"}, b["keywords"])
		b = ana.call(t, "PATCH", path, `{"flow":{"ui":{"x":1}}}`).json(200)
		require.Equal(t, map[string]any{"ui": map[string]any{"x": 1.0}}, b["flow"], "a draft may be anything")
		require.Equal(t, "manual", b["trigger"])
		require.NotEmpty(t, b["problems"])
		p := ana.call(t, "POST", path+"/publish", "").problem(422, "validation")
		require.NotEmpty(t, p.Errors)
		require.Contains(t, p.Errors[0].Location, "body.flow")
		require.NotEmpty(t, p.Errors[0].Code)
		require.Len(t, ana.call(t, "POST", path+"/validate", "{}").json(200)["problems"], len(b["problems"].([]any)))

		ana.call(t, "PATCH", path, `{"flow":`+greeter+`}`).json(200)
		require.Equal(t, 1, count(ana.call(t, "POST", path+"/publish", "").json(200)["version"]))
		require.Equal(t, 1, count(ana.call(t, "POST", path+"/publish", "").json(200)["version"]), "nothing has changed")
		ana.call(t, "PATCH", path, `{"trigger":"always"}`).json(200)
		require.Equal(t, 2, count(ana.call(t, "POST", path+"/publish", "").json(200)["version"]))
		require.Len(t, ana.call(t, "GET", path+"/versions", "").json(200)["items"], 2)

		other := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Two","flow":%s}`, ref, greeter)).json(201)
		p = ana.call(t, "POST", "/bot/"+other["id"].(string)+"/publish", "").problem(422, "validation")
		require.Equal(t, "slug.taken", p.Errors[0].Code)
		require.Len(t, ana.call(t, "GET", fmt.Sprintf("/bot/list?reference=%d", ref), "").json(200)["items"], 2)
		page := ana.call(t, "GET", "/bot/list?limit=1", "").json(200)
		require.Len(t, ana.call(t, "GET", "/bot/list?cursor="+page["next"].(string), "").json(200)["items"], 1)

		ana.call(t, "DELETE", path, "").is(200, `{"success":true}`)
		ana.call(t, "GET", path, "").problem(404, "not_found")
		ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		require.Empty(t, ana.call(t, "GET", "/bot/list", "").json(200)["items"], "they go with their reference")
	})
}

func TestBotRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	ref := ana.sandbox(t)
	body := func(more string) string { return fmt.Sprintf(`{"reference":%d,"name":"Shop"%s}`, ref, more) }
	id := ana.call(t, "POST", "/bot", body("")).json(http.StatusCreated)["id"].(string)
	for name, c := range map[string]struct{ method, path, body, location string }{
		"trigger":            {"POST", "/bot", body(`,"trigger":"hush-hush"`), "body.trigger"},
		"keywords":           {"POST", "/bot", body(`,"trigger":"always","keywords":["x"]`), "body.keywords"},
		"array":              {"POST", "/bot", body(`,"flow":[]`), "body.flow"},
		"null":               {"POST", "/bot", body(`,"flow":null`), "body.flow"},
		"twice":              {"POST", "/bot", body(`,"flow":{"a":{"b":1,"b":2}}`), "body.flow/a/b"},
		"nodes":              {"POST", "/bot", body(`,"flow":{"nodes":[]},"trigger":"always"`), "body.trigger"},
		"name":               {"PATCH", "/bot/" + id, `{"name":" "}`, "body.name"},
		"unknown":            {"PATCH", "/bot/" + id, `{"flows":{}}`, "body.flows"},
		"limit":              {"GET", "/bot/list?limit=0", "", "query.limit"},
		"cursor":             {"GET", "/bot/list?cursor=!", "", "query.cursor"},
		"cursor of runs":     {"GET", "/bot/" + id + "/runs?cursor=!", "", "query.cursor"},
		"cursor of versions": {"GET", "/bot/" + id + "/versions?cursor=!", "", "query.cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ana.call(t, c.method, c.path, c.body).problem(422, "validation")
			require.Len(t, p.Errors, 1)
			require.Equal(t, c.location, p.Errors[0].Location)
		})
	}
	ana.call(t, "POST", "/bot", `{"reference":99,"name":"x"}`).problem(404, "not_found")
	ana.call(t, "PATCH", "/bot/"+id, `{"flow":{}}`).json(200)
	ana.call(t, "POST", "/bot/"+id+"/run", `{"chatId":"bob","input":"x"}`).problem(409, "conflict")
	ana.call(t, "POST", "/bot/"+id+"/run", `{"chatId":"bob","input":"x","draft":true}`).problem(422, "validation")
}
