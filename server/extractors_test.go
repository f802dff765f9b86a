package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// extractor makes an extractor of a reference and returns its id.
func (c client) extractor(t *testing.T, ref int, kind, config string) string {
	t.Helper()
	return c.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"Our %s","kind":%q,"scope":{"reference":%d},"config":%s}`, kind, kind, ref, config)).json(201)["id"].(string)
}

// include registers a path of the integrator that waits for what is extracted.
func (in *integrator) include(t *testing.T, c client, ref int, path string) {
	t.Helper()
	body := fmt.Sprintf(`{"reference":%d,"webhook":%q,"include":["extracted"]}`, ref, in.url+path)
	in.secrets = append(in.secrets, c.call(t, "POST", "/references/registerWebHook", body).json(201)["secret"].(string))
}

// published are the events that a path got, in short: what kind, and the values in it.
func (in *integrator) published(t *testing.T, path string) []string {
	t.Helper()
	out := []string{}
	for _, d := range in.matching(func([]byte) bool { return true }) {
		event := d.header.Get("X-Trunkline-Event")
		if d.path != path || event == "status" {
			continue
		}
		body := d.json(t)
		values := body["extracted"]
		if event == "data" {
			values = body["values"]
			event += " " + body["extractor"].(map[string]any)["kind"].(string)
		}
		raw, err := json.Marshal(values)
		require.NoError(t, err)
		out = append(out, fmt.Sprint(event, " ", body["text"], " ", string(raw)))
	}
	return out
}

func (in *integrator) awaitPublished(t *testing.T, path string, want ...string) {
	t.Helper()
	in.until(t, func() bool { return len(in.published(t, path)) >= len(want) }, "%s got %v", path, in.published(t, path))
	require.Equal(t, want, in.published(t, path))
}

// TestExtractorsReadMessages: values become variables of the chat, part of the
// message, and one event for each extractor that found something; an endpoint
// that asks for them gets the message with them, in its place. No bot is needed.
func TestExtractorsReadMessages(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		in := startIntegrator(t)
		in.listen(t, ana, ref, "/plain", "")
		in.include(t, ana, ref, "/extracted")
		ana.extractor(t, ref, "regex", `{"pattern":"#(?P<order>\\d+)","groups":{"order":"number"}}`)
		ana.extractor(t, ref, "entity", `{"types":["email","quantity"]}`)
		ana.extractor(t, ref, "entity", `{"types":["percentage"]}`)
		id := ana.write(t, ref, "bob", "where is #17? I am bob@example.com")
		const found = `{"email":"bob@example.com","order":17}`
		in.awaitPublished(t, "/plain", "message where is #17? I am bob@example.com null", `data regex <nil> {"order":17}`, `data entity <nil> {"email":"bob@example.com"}`)
		in.awaitPublished(t, "/extracted", "message where is #17? I am bob@example.com "+found, `data regex <nil> {"order":17}`, `data entity <nil> {"email":"bob@example.com"}`)

		chat := fmt.Sprintf("reference=%d&chatId=bob", ref)
		m := ana.call(t, "GET", "/chats/messages?"+chat, "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"order": 17.0, "email": "bob@example.com"}, m["extracted"])
		c := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"order": 17.0, "email": "bob@example.com"}, c["variables"])
		steps := []string{}
		for _, s := range ana.call(t, "GET", "/chats/explain?messageId="+id+"&"+chat, "").json(200)["steps"].([]any) {
			step := s.(map[string]any)
			steps = append(steps, step["step"].(string))
			if step["step"] == "extracted" {
				require.Equal(t, m["extracted"], step["values"])
			}
		}
		require.Contains(t, steps, "extracted")

		ana.write(t, ref, "bob", "nothing here")
		ana.write(t, ref, "bob", "#18")
		in.awaitPublished(t, "/extracted", "message where is #17? I am bob@example.com "+found, `data regex <nil> {"order":17}`, `data entity <nil> {"email":"bob@example.com"}`,
			"message nothing here null", `message #18 {"order":18}`, `data regex <nil> {"order":18}`)
		in.verify(t, in.matching(func([]byte) bool { return true }))
		for n, d := range in.matching(func([]byte) bool { return true }) {
			require.NotEmpty(t, d.header.Get("X-Trunkline-Sequence"), n)
		}
	})
}

// orders is a bot that repeats what an extractor found in the message that it
// answers.
const orderBot = `{
	"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "orders", "name": "Orders", "start": "start",
	"nodes": {
		"start": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "say"}},
		"say": {"type": "message", "config": {"text": "Order {{ chat.variables.order }} is on its way."}}
	}
}`

// TestValuesComeBeforeBots: whoever answers a message knows what was found in it.
// Extractors of a bot and of a flow read the messages of its reference; where bots
// keep silent messages are read all the same.
func TestValuesComeBeforeBots(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref, other := ana.sandbox(t), ana.sandbox(t)
		bot := ana.bot(t, ref, orderBot)
		e := ana.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"n","kind":"regex","scope":{"bot":%q},"config":{"pattern":"#(?P<order>\\d+)"}}`, bot)).json(201)
		require.Equal(t, map[string]any{"bot": bot}, e["scope"])
		ana.write(t, ref, "bob", "where is #17?")
		ana.awaitShown(t, ref, "bob", "out: where is #17?", "in: Order 17 is on its way.")
		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"bob","botActive":0}`, ref)).json(200)
		ana.write(t, ref, "bob", "and #18?")
		variable := func(ref int, want any) {
			ana.until(t, func() bool {
				items := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"].([]any)
				return len(items) > 0 && items[0].(map[string]any)["variables"].(map[string]any)["order"] == want
			})
		}
		variable(ref, "18")

		_, publish := ana.project(t)
		flow := publish(paid)
		ana.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"n","kind":"regex","scope":{"flow":%q},"config":{"pattern":"#(?P<order>\\d+)"}}`, flow)).json(201)
		ana.call(t, "PUT", "/aiflow/flow/"+flow+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, other)).json(200)
		ana.write(t, other, "eve", "and #19?")
		variable(other, "19")

		ana.call(t, "DELETE", "/bot/"+bot, "").json(200)
		ana.call(t, "DELETE", "/aiflow/flow/"+flow, "").json(200)
		require.Empty(t, ana.call(t, "GET", "/extractor/list", "").json(200)["items"], "they go with what they are of")
	})
}

// mute is a model that never answers.
type mute struct{}

func (mute) Generate(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestModelsThatHang hold neither the message back for ever, nor what comes
// behind it, nor the values of others.
func TestModelsThatHang(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, func(c *server.Config) { local(c); c.Models = map[string]llm.Model{"mute": mute{}} }))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	in := startIntegrator(t)
	in.include(t, ana, ref, "/extracted")
	ana.extractor(t, ref, "regex", `{"pattern":"#(?P<order>\\d+)"}`)
	ana.extractor(t, ref, "ai", `{"model":"mute/x","schema":{"type":"object","properties":{"city":{"type":"string"}}}}`)
	ana.bot(t, ref, orderBot)
	ana.write(t, ref, "bob", "#17 to Rome") // and nothing ever ends what the model is asked but the server
	in.until(t, func() bool { return len(in.published(t, "/extracted")) >= 1 })
	ana.awaitShown(t, ref, "bob", "out: #17 to Rome", "in: Order 17 is on its way.")
	in.awaitPublished(t, "/extracted", `message #17 to Rome {"order":"17"}`, `data regex <nil> {"order":"17"}`, "message Order 17 is on its way. null")
}

// TestExtractorOperations keeps, tries and evaluates extractors.
func TestExtractorOperations(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		made := ana.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"Contact","kind":"entity","scope":{"reference":%d},"config":{"types":["phone","date"],
			"tests":[{"text":"tomorrow","now":"2026-03-04T12:00:00Z","values":{"date":"2026-03-05"}},{"text":"never","values":{"date":"2026-03-05"}}]}}`, ref)).json(201)
		path := "/extractor/" + made["id"].(string)
		require.Equal(t, true, made["enabled"])
		require.Nil(t, made["training"])
		require.Equal(t, made, ana.call(t, "GET", path, "").json(200))
		require.Equal(t, []any{made}, ana.call(t, "GET", fmt.Sprintf("/extractor/list?reference=%d", ref), "").json(200)["items"])
		ana.call(t, "POST", path+"/run", `{"text":"é call (11) 98765-4321 tomorrow","region":"BR","now":"2026-03-04T23:30:00-03:00"}`).is(200, `{
			"values":{"phone":"+5511987654321","date":"2026-03-05"},"usage":null,"durationMs":"<any>","matches":[
			{"name":"phone","type":"phone","value":"+5511987654321","text":"(11) 98765-4321","start":8,"end":23,"confidence":"<any>"},
			{"name":"date","type":"date","value":"2026-03-05","text":"tomorrow","start":24,"end":32,"confidence":"<any>"}]}`)
		ana.call(t, "POST", path+"/run", fmt.Sprintf(`{"text":"tomorrow","now":%d}`, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC).Unix())).
			is(200, `{"values":{"date":"2026-03-05"},"usage":null,"durationMs":"<any>","matches":"<any>"}`)
		id := ana.write(t, ref, "bob", "on 2026-05-06")
		ana.call(t, "POST", path+"/run", fmt.Sprintf(`{"reference":%d,"chatId":"bob","messageId":%q}`, ref, id)).
			is(200, `{"values":{"date":"2026-05-06"},"usage":null,"durationMs":"<any>","matches":"<any>"}`)
		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"bob","fields":{"timezone":"Pacific/Kiritimati"}}`, ref)).json(200)
		id = ana.write(t, ref, "bob", "today")
		there := time.Now().In(time.FixedZone("", 14*60*60)).Format(time.DateOnly)
		found := ana.call(t, "POST", path+"/run", fmt.Sprintf(`{"reference":%d,"chatId":"bob","messageId":%q}`, ref, id)).json(200)["values"]
		if next := time.Now().In(time.FixedZone("", 14*60*60)).Format(time.DateOnly); next == there {
			require.Equal(t, map[string]any{"date": there}, found, "in the zone of the contact")
		}
		e := ana.call(t, "POST", path+"/evaluate", "").json(200)
		require.Equal(t, 2, count(e["tests"]))
		require.Equal(t, 1, count(e["right"]))
		require.InDelta(t, 0.5, e["accuracy"], 0.001)
		require.Len(t, e["failures"], 1)

		changed := ana.call(t, "PATCH", path, `{"name":"When","enabled":false,"config":{"types":["date"]}}`).json(200)
		require.Equal(t, "When", changed["name"])
		require.Equal(t, false, changed["enabled"])
		require.Equal(t, made["scope"], changed["scope"])
		for body, location := range map[string]string{
			`{"config":{"types":["colour"]}}`:           "body.config.types[0]",
			`{"config":{"typos":["date"]}}`:             "body.config.typos",
			`{"scope":{"reference":1,"bot":"x"}}`:       "body.scope.bot",
			`{"scope":{"flow":"x"}}`:                    "body.scope.flow",
			`{"name":" "}`:                              "body.name",
			`{"scope":{"reference":99}}`:                "body.scope.reference",
			`{"scope":{"reference":1,"lines":[]}}`:      "body.scope.lines",
			`{"config":{"types":["date"],"a\u0000":1}}`: "body.config",
		} {
			a := ana.call(t, "PATCH", path, body)
			require.Contains(t, []int{404, 422}, a.Code, body)
			require.Contains(t, a.Body.String(), `"location":"`+location, body)
		}
		ana.call(t, "POST", path+"/run", `{"text":"x","chatId":"bob"}`).problem(422, "validation")
		ana.call(t, "POST", path+"/run", `{}`).problem(422, "validation")
		ana.call(t, "DELETE", path, "").is(200, `{"success":true}`)
		ana.call(t, "GET", path, "").problem(404, "not_found")

		ai := ana.extractor(t, ref, "ai", `{"model":"nobody/x","schema":{"type":"object","properties":{"city":{"type":"string"}}}}`)
		ana.call(t, "POST", "/extractor/"+ai+"/run", `{"text":"to Rome"}`).problem(503, "unavailable")
		learns := ana.extractor(t, ref, "intent", `{"intents":[{"name":"refund","examples":["money back","refund me"]},{"name":"delivery","examples":["where is it","track my parcel"]}]}`)
		ana.until(t, func() bool { return ana.call(t, "GET", "/extractor/"+learns, "").json(200)["training"] == "ready" })
		require.Equal(t, map[string]any{"intent": "delivery"}, ana.call(t, "POST", "/extractor/"+learns+"/run", `{"text":"where is my parcel"}`).json(200)["values"])
		ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		require.Empty(t, ana.call(t, "GET", "/extractor/list", "").json(200)["items"], "they go with their reference")
	})
}

// TestExtractorsOfWhatIsDeleted: they go with their bot, their flow, and the
// project of their flow.
func TestExtractorsOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		project := ana.call(t, "POST", "/aiflow/project", `{"name":"Shop"}`).json(201)["id"].(string)
		flow := func() string {
			return ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"f"}`, project)).json(201)["id"].(string)
		}
		bot := ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"b"}`, ref)).json(201)["id"].(string)
		one, other := flow(), flow()
		for _, scope := range []string{`{"bot":"` + bot + `"}`, `{"flow":"` + one + `"}`, `{"flow":"` + other + `"}`} {
			ana.call(t, "POST", "/extractor", `{"name":"x","kind":"regex","scope":`+scope+`,"config":{"pattern":"x"}}`).json(201)
		}
		for i, path := range []string{"/bot/" + bot, "/aiflow/flow/" + one, "/aiflow/project/" + project} {
			ana.call(t, "DELETE", path, "").json(200)
			require.Len(t, ana.call(t, "GET", "/extractor/list", "").json(200)["items"], 2-i, path)
		}
	})
}

// TestExtractNodes: flows find entities, words of a dictionary and intents of the
// account's extractors; those of another account are not there.
func TestExtractNodes(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		words := ana.extractor(t, ref, "entity", `{"dictionary":[{"value":"Margherita","synonyms":["cheese pizza"]}]}`)
		wants := ana.extractor(t, ref, "intent", `{"intents":[{"name":"refund","examples":["money back","refund me","give me a refund"]},{"name":"delivery","examples":["where is it","track my parcel","when does it arrive"]}]}`)
		ana.until(t, func() bool { return ana.call(t, "GET", "/extractor/"+wants, "").json(200)["training"] == "ready" })
		project, publish := ana.project(t)
		draft := func(words, wants string) string {
			return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":"find","name":"Find","start":"begin",
				"variables":{"found":{"type":"object"},"means":{"type":"object"}},"nodes":{
				"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"find"}},
				"find":{"type":"extract","config":{"method":"entity","input":"{{ input.said }}","entities":["email","datetime","dictionary:%s"],"locale":"en","saveTo":"found"},"next":{"match":"mean","nomatch":"none"}},
				"mean":{"type":"extract","config":{"method":"intent","input":"{{ input.said }}","intents":%q,"saveTo":"means"},"next":{"intent:delivery":"end","match":"none","nomatch":"none"}},
				"none":{"type":"end","config":{"result":"nothing"}},
				"end":{"type":"end","config":{"result":"{{ json(vars.found) }}"}}}}`, words, wants)
		}
		flow := publish(draft(words, wants))
		run := ana.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"said":"where is my margerita, when does it arrive? bob@example.com 2026-05-06 at 18:00"}}`, flow))
		require.Equal(t, "completed", run["status"], run)
		require.JSONEq(t, fmt.Sprintf(`{"email":"bob@example.com","datetime":"2026-05-06T18:00:00","dictionary:%s":"Margherita"}`, words), run["output"].(string))
		require.Equal(t, "nothing", ana.start(t, fmt.Sprintf(`{"flowId":%q,"input":{"said":"hello"}}`, flow))["output"])

		ben := f.as(t, "ben")
		theirs := ben.call(t, "POST", "/aiflow/project", `{"name":"P","description":""}`).json(201)["id"]
		made := ben.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"F","draft":%s}`, theirs, draft(words, wants))).json(201)
		require.Len(t, made["problems"], 2, "of another account")
		require.NotEqual(t, project, theirs)
	})
}

// TestExtractorsAreMetered: what models take for extractors is in the ledger, and
// with what they found.
func TestExtractorsAreMetered(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	ana := working(t, setupOn(t, db, func(c *server.Config) { c.Models = map[string]llm.Model{"mine": traveller{}} })).as(t, "ana")
	ref := ana.sandbox(t)
	id := ana.extractor(t, ref, "ai", `{"model":"mine/x","schema":{"type":"object","properties":{"city":{"type":"string"}}}}`)
	r := ana.call(t, "POST", "/extractor/"+id+"/run", `{"text":"to Rome, please"}`).json(200)
	require.Equal(t, map[string]any{"city": "Rome"}, r["values"])
	require.Equal(t, map[string]any{
		"calls": 1.0, "inputTokens": 90.0, "cachedInputTokens": 0.0, "outputTokens": 10.0, "reasoningTokens": 0.0, "cost": nil, "unpricedCalls": 1.0,
	}, r["usage"])
	m := r["matches"].([]any)[0].(map[string]any)
	require.Equal(t, "Rome", m["text"])
	require.Equal(t, 3, count(m["start"]))
	require.Nil(t, ana.call(t, "POST", "/extractor/"+id+"/run", `{"text":"to Rome, please"}`).json(200)["usage"], "it was said a moment ago")
	ana.write(t, ref, "bob", "to Rome, now")
	var rows []struct {
		Feature, Model string
		Chat           string `db:"chat_id"`
	}
	ana.until(t, func() bool {
		rows = nil
		err := db.SelectContext(t.Context(), &rows, `SELECT feature, model, chat_id FROM usage_call ORDER BY seq`)
		return err == nil && len(rows) == 2
	})
	require.Equal(t, "extractor", rows[0].Feature)
	require.Empty(t, rows[0].Chat)
	require.Equal(t, "bob@sandbox", rows[1].Chat)
}

// TestExtractor_KindInAnyCase: the letter case of a kind is the same.
func TestExtractor_KindInAnyCase(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		for kind, config := range map[string]string{
			"AI": `{"model":"mock/m","schema":{"type":"object","properties":{"a":{"type":"string"}}}}`, "aI": `{"model":"mock/m","schema":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			"Regex": `{"pattern":"(?P<a>x)"}`, "REGEX": `{"pattern":"(?P<a>x)"}`, "Entity": `{"types":["email"]}`,
			"Intent": `{"intents":[{"name":"a","examples":["one","two"]},{"name":"b","examples":["three","four"]}]}`,
		} {
			made := ana.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"E","kind":%q,"scope":{"reference":%d},"config":%s}`, kind, ref, config)).json(201)
			require.Equal(t, strings.ToLower(kind), made["kind"])
			require.Equal(t, made["kind"], ana.call(t, "GET", "/extractor/"+made["id"].(string), "").json(200)["kind"])
		}
		for _, kind := range []string{`"regexp"`, `""`, `"ＡＩ"`, `" ai"`, `null`, `1`, `"ai\u0000"`} {
			p := ana.call(t, "POST", "/extractor", fmt.Sprintf(`{"name":"E","kind":%s,"scope":{"reference":%d},"config":{}}`, kind, ref)).problem(422, "validation")
			require.Equal(t, "body.kind", p.Errors[0].Location, kind)
		}
	})
}
