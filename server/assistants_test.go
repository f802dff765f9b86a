package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// asking is a flow whose assistant answers what contacts write, and says by
// which output it left.
func asking(config string) string {
	return fmt.Sprintf(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "asking", "name": "Asking", "start": "begin", "variables": {"answer": {"type": "any"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "assistant"}},
			"assistant": {"type": "assistant", "config": {"instructions": "You are the clerk of a hotel.", "saveTo": "answer", %s},
				"next": {"invalid": "invalid", "refused": "refused", "error": "failed"}},
			"invalid": {"type": "message", "config": {"text": "invalid"}},
			"refused": {"type": "message", "config": {"text": "refused"}},
			"failed": {"type": "message", "config": {"text": "{{ error.code }}"}}
		}
	}`, config)
}

// withAssistant runs fn for each dialect with a server whose workers run, which
// asks a fake of OpenAI, and a flow that listens on a reference.
func withAssistant(t *testing.T, config string, fn func(t *testing.T, ana client, ref int, project string, model *llmtest.Server)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fake := llmtest.NewServer()
		t.Cleanup(fake.Close)
		model, err := openai.New(&openai.Options{BaseURL: fake.OpenAI(), Key: "k"})
		require.NoError(t, err)
		f := working(t, setupOn(t, db, func(c *server.Config) {
			keeping(t)(c)
			c.Models, c.Model, c.EmbeddingModel = map[string]llm.Model{"openai": model}, "openai/model-1", "openai/embedding-1"
		}))
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		project, publish := ana.project(t)
		id := publish(asking(config))
		ana.call(t, "PUT", "/aiflow/flow/"+id+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, ref)).json(200)
		fn(t, ana, ref, project, fake)
	})
}

func last(m *llmtest.Server) llm.Request {
	all := m.Requests()
	return all[len(all)-1]
}

func TestAssistantRemembersTheChat(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1", "memory": {"scope": "chat"}`, func(t *testing.T, ana client, ref int, _ string, m *llmtest.Server) {
		m.Add(llmtest.Say("Welcome, Bob."), llmtest.Say("You are Bob."))
		ana.write(t, ref, "bob", "I am Bob")
		ana.awaitShown(t, ref, "bob", "out: I am Bob", "in: Welcome, Bob.")
		ana.write(t, ref, "bob", "Who am I?")
		ana.awaitShown(t, ref, "bob", "out: I am Bob", "in: Welcome, Bob.", "out: Who am I?", "in: You are Bob.")
		require.NoError(t, m.Done())
		var published []string
		for _, msg := range last(m).Messages {
			published = append(published, msg.Text())
		}
		require.Equal(t, []string{"I am Bob", "Welcome, Bob.", "Who am I?"}, published)
		require.True(t, strings.HasPrefix(last(m).System, "You are the clerk of a hotel."), last(m).System)

		detail := ana.call(t, "GET", "/aiusage/detail?feature=assistant", "").json(200)["items"].([]any)
		require.Len(t, detail, 2)
		input := 0
		for _, x := range detail {
			input += count(x.(map[string]any)["inputTokens"])
		}
		require.EqualValues(t, m.Count().Usage.Input, input, "the ledger agrees with the provider")

		ana.erase(t, fmt.Sprintf("/chats?reference=%d&chatId=bob@sandbox", ref))
		m.Add(llmtest.Say("Hello."))
		ana.write(t, ref, "bob", "And now?")
		ana.until(t, func() bool { return m.Done() == nil })
		require.Len(t, last(m).Messages, 1, "what is erased is not remembered")
	})
}

// TestAssistantOfAnErasedChat erases a chat while its model thinks, and a reference:
// neither what was said nor whose it was is kept.
func TestAssistantOfAnErasedChat(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1", "memory": {"scope": "chat"}`, func(t *testing.T, ana client, ref int, _ string, m *llmtest.Server) {
		// kept is whether a new message finds that something is remembered.
		kept := func() bool {
			m.Add(llmtest.Say("Hello."))
			ana.write(t, ref, "bob", "And now?")
			ana.until(t, func() bool { return m.Done() == nil })
			return len(last(m).Messages) > 1
		}
		thinks, proceed := make(chan struct{}), make(chan struct{})
		m.Add(llmtest.Step{Do: func(*llm.Request) (*llm.Response, error) {
			close(thinks)
			<-proceed
			return &llm.Response{Message: llm.Assistant("Welcome, Bob.")}, nil
		}})
		ana.write(t, ref, "bob", "I am Bob")
		<-thinks
		ana.erase(t, fmt.Sprintf("/chats?reference=%d&chatId=bob@sandbox", ref))
		close(proceed)
		completed := func() bool {
			all := ana.call(t, "GET", "/aiusage/detail?feature=assistant", "").json(200)["items"].([]any)
			return len(all) == 1 && all[0].(map[string]any)["costStatus"] != "unknown"
		}
		ana.until(t, completed)
		require.False(t, kept())
		ana.awaitShown(t, ref, "bob", "out: And now?", "in: Hello.")
		require.True(t, kept(), "but what is not erased is")

		ana.awaitShown(t, ref, "bob", "out: And now?", "in: Hello.", "out: And now?", "in: Hello.")
		ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		require.NotContains(t, ana.call(t, "GET", "/aiusage/detail", "").Body.String(), "bob")
		me := ana.call(t, "GET", "/user/me", "").json(200)["accountId"].(string)
		left, err := ana.Memory.For(me).Recall(t.Context(), memory.Question{
			Place: memory.Place{Scope: memory.ScopeChat, Chat: memory.Chat{Reference: int64(ref), ID: "bob@sandbox"}}, Messages: 20, Tokens: 8000,
		})
		require.NoError(t, err)
		require.Empty(t, left.Messages)
	})
}

func TestAssistantIsSeenInTheRun(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1"`, func(t *testing.T, ana client, ref int, project string, m *llmtest.Server) {
		file := ana.call(t, "POST", "/aiflow/project/"+project+"/file", `{"name":"prices.md","text":"# Rooms\n\nA double room is 120 euros."}`).json(201)
		m.Add(llmtest.Say("120 euros."))
		ana.write(t, ref, "bob", "How much is a double room?")
		ana.awaitShown(t, ref, "bob", "out: How much is a double room?", "in: 120 euros.")
		flow := ana.call(t, "GET", "/aiflow/flow/list?projectId="+project, "").json(200)["items"].([]any)[0].(map[string]any)["id"]
		run := ana.call(t, "GET", fmt.Sprintf("/aiflow/run?flowId=%s", flow), "").json(200)["items"].([]any)[0].(map[string]any)
		var out map[string]any
		for _, s := range ana.call(t, "GET", fmt.Sprintf("/aiflow/run/%s", run["id"]), "").json(200)["steps"].([]any) {
			if step := s.(map[string]any); step["node"] == "assistant" && step["out"] != nil {
				out = step["out"].(map[string]any)
			}
		}
		require.Equal(t, "120 euros.", out["answer"])
		require.Equal(t, "done", out["stopReason"])
		require.Equal(t, 1, count(out["usage"].(map[string]any)["calls"]))
		require.Equal(t, file["id"], out["sources"].([]any)[0].(map[string]any)["file"])
		require.Contains(t, last(m).System, "A double room is 120 euros.")
		require.Len(t, ana.call(t, "GET", "/aiusage/detail?feature=knowledge", "").json(200)["items"], 2, "the file, and the question")
	})
}

func TestAssistantOutputs(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1", "retry": {"max": 0}`, func(t *testing.T, ana client, ref int, _ string, m *llmtest.Server) {
		m.Add(llmtest.Step{Response: &llm.Response{Message: llm.Assistant("I must not."), Stop: llm.StopRefused}})
		ana.write(t, ref, "bob", "one")
		ana.awaitShown(t, ref, "bob", "out: one", "in: refused")
		m.Add(llmtest.Fail(&llm.Error{Code: llm.CodeTooLong, Message: "too long"}))
		ana.write(t, ref, "eve", "two")
		ana.awaitShown(t, ref, "eve", "out: two", "in: llm.context_too_long")
		require.NoError(t, m.Done())

		ana.call(t, "PUT", "/aiusage/budget", `{"items":[{"scope":"account","period":"day","tokens":1}]}`).json(200)
		ana.write(t, ref, "dan", "three")
		ana.awaitShown(t, ref, "dan", "out: three", "in: budget.exceeded")
		require.NoError(t, m.Done(), "nothing is asked beyond a budget")
	})
}

func TestAssistantAnswersJSON(t *testing.T) {
	schema := `{"type": "object", "required": ["nights"], "additionalProperties": false, "properties": {"nights": {"type": "integer"}}}`
	withAssistant(t, `"model": "openai/model-1", "output": {"mode": "json", "schema": `+schema+`}`, func(t *testing.T, ana client, ref int, project string, m *llmtest.Server) {
		m.Add(llmtest.Say(`{"nights": "two"}`), llmtest.Say(`{"nights": 2}`), llmtest.Say(`no`), llmtest.Say(`never`))
		ana.write(t, ref, "bob", "Two nights, please")
		ana.until(t, func() bool { return m.Count().Requests == 2 })
		ana.write(t, ref, "eve", "Some nights")
		ana.awaitShown(t, ref, "eve", "out: Some nights", "in: invalid")
		require.NoError(t, m.Done())
		flow := ana.call(t, "GET", "/aiflow/flow/list?projectId="+project, "").json(200)["items"].([]any)[0].(map[string]any)["id"]
		runs := ana.call(t, "GET", fmt.Sprintf("/aiflow/run?flowId=%s", flow), "").json(200)["items"].([]any)
		ana.until(t, func() bool { // another chat's run may be slower than the one that was asked for later
			detail := ana.call(t, "GET", fmt.Sprintf("/aiflow/run/%s", runs[1].(map[string]any)["id"]), "").json(200)
			return reflect.DeepEqual(map[string]any{"nights": 2.0}, detail["variables"].(map[string]any)["answer"])
		})
	})
}

// TestAnotherModelAnswers when the first does not. Package assistant tests what time
// each of them has.
func TestAnotherModelAnswers(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1", "fallbackModel": "mock/echo"`, func(t *testing.T, ana client, ref int, _ string, m *llmtest.Server) {
		m.Add(llmtest.Fail(&llm.Error{Code: llm.CodeForbidden, Message: "the key is wrong"}))
		ana.write(t, ref, "bob", "Hello there")
		ana.awaitShown(t, ref, "bob", "out: Hello there", "in: Hello there")
		require.Equal(t, 1, m.Count().Requests, "it is asked once")
	})
}

func TestAssistantSeesPictures(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1"`, func(t *testing.T, ana client, ref int, _ string, m *llmtest.Server) {
		m.Add(llmtest.Say("A grey square."))
		image := picture(t, 8, 8)
		kept := ana.upload(t, part{"reference", "", "", fmt.Sprint(ref)}, part{"file", "square.png", "image/png", string(image)}).json(201)
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":"bob","type":"image","mediaId":%q,"caption":"What is it?"}`, kept["mediaId"])).json(201)
		ana.until(t, func() bool { return m.Done() == nil })
		parts := last(m).Messages[0].Parts
		require.Len(t, parts, 2)
		require.Equal(t, "image/png", parts[0].MediaType)
		require.Equal(t, image, parts[0].Data)
		require.Equal(t, "What is it?", parts[1].Text)
	})
}

func TestProjectFiles(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		project, _ := ana.project(t)
		path := "/aiflow/project/" + project + "/file"
		file := ana.call(t, "POST", path, `{"name":"menu.csv","text":"item,price\ntea,2\n"}`).json(201)
		require.Equal(t, "text/csv", file["type"])
		ana.call(t, "POST", path, `{"name":"house.md","text":"# Pets\n\nDogs are welcome."}`).json(201)
		require.Len(t, ana.call(t, "GET", path, "").json(200)["items"], 2)
		found := ana.call(t, "POST", "/aiflow/project/"+project+"/search", `{"text":"the price of tea"}`).json(200)["items"].([]any)
		require.Equal(t, "item: tea; price: 2", found[0].(map[string]any)["text"])

		for body, location := range map[string]string{
			`{"name":"a.md"}`: "body.text", `{"name":"a.json","text":"{"}`: "body.text", `{"name":"a.md","text":" "}`: "body.text",
			`{"name":"\u0001","text":"x"}`: "body.name",
		} {
			p := ana.call(t, "POST", path, body).problem(422, "validation")
			require.Equal(t, location, p.Errors[0].Location, body)
		}
		ana.call(t, "POST", path, `{"name":"a.pdf","type":"application/pdf","text":"%PDF"}`).problem(422, "unsupported")
		big := fmt.Sprintf(`{"name":"a.txt","text":%q}`, strings.Repeat("é", 6<<20))
		ana.call(t, "POST", path, big).problem(413, "payload_too_large")

		one := fmt.Sprintf("%s/%s", path, file["id"])
		ben.call(t, "GET", path, "").problem(404, "not_found")
		ben.call(t, "DELETE", one, "").problem(404, "not_found")
		ben.call(t, "POST", "/aiflow/project/"+project+"/search", `{"text":"tea"}`).problem(404, "not_found")
		ana.call(t, "DELETE", one, "").json(200)
		ana.call(t, "DELETE", one, "").problem(404, "not_found")
		require.NotContains(t, ana.call(t, "GET", "/aiflow/project/"+project+"/export", "").Body.String(), "Dogs", "files stay behind")
		ana.call(t, http.MethodDelete, "/aiflow/project/"+project, "").json(200)
	})
}

func TestDraftFromText(t *testing.T) {
	withAssistant(t, `"model": "openai/model-1"`, func(t *testing.T, ana client, _ int, project string, m *llmtest.Server) {
		flow := ana.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Front desk"}`, project)).json(201)
		path := fmt.Sprintf("/aiflow/flow/%s/draft-from-text", flow["id"])
		valid := `{"start": "s", "nodes": {"s": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "m"}},
			"m": {"type": "message", "config": {"text": "Hello"}}}}`
		m.Add(llmtest.Say(strings.ReplaceAll(valid, `"message"`, `"massage"`)), llmtest.Say(valid))
		made := ana.call(t, "POST", path, `{"text":"Say hello"}`).json(200)
		require.Empty(t, made["problems"])
		require.Equal(t, "front-desk", made["draft"].(map[string]any)["slug"])
		require.Equal(t, "openai/model-1", made["model"])
		require.Equal(t, 2, count(made["usage"].(map[string]any)["calls"]))
		require.Contains(t, last(m).Messages[2].Text(), "/nodes/m/type")
		require.Equal(t, flow["draft"], ana.call(t, "GET", fmt.Sprintf("/aiflow/flow/%s", flow["id"]), "").json(200)["draft"], "nothing is saved")
		require.Len(t, ana.call(t, "GET", "/aiusage/detail?feature=draft", "").json(200)["items"], 2)

		for range 4 {
			m.Add(llmtest.Say(`{"nodes": {}}`))
		}
		made = ana.call(t, "POST", path, `{"text":"Say hello","model":"openai/model-2"}`).json(200)
		require.NotEmpty(t, made["problems"])
		m.Add(llmtest.Say("I"), llmtest.Say("will"), llmtest.Say("not"), llmtest.Say("!"))
		ana.call(t, "POST", path, `{"text":"Say hello"}`).problem(502, "provider_error")
		require.NoError(t, m.Done())
		p := ana.call(t, "POST", path, `{"text":"Say hello","model":"nobody/x"}`).problem(422, "validation")
		require.Equal(t, "body.model", p.Errors[0].Location)

		sketch := ana.call(t, "POST", path, `{"text":"Ask for the name, then hand over to a person","model":"mock/assistant"}`).json(200)
		require.Empty(t, sketch["problems"])
		saved := ana.call(t, "PATCH", fmt.Sprintf("/aiflow/flow/%s", flow["id"]), string(encode(t, map[string]any{"draft": sketch["draft"]})))
		require.Empty(t, saved.json(200)["problems"])
		var draft json.RawMessage = encode(t, sketch["draft"])
		require.Contains(t, string(draft), "handoff")
	})
}

// TestAssistantIsSeenTyping shows the contact that an answer is being written;
// for the people here the message stays unread.
func TestAssistantIsSeenTyping(t *testing.T) {
	t.Parallel()
	onPage(t, graphOptions{}, func(t *testing.T, w *typesWorld) {
		_, publish := w.ana.project(t)
		id := publish(asking(`"model": "mock/echo"`))
		w.ana.call(t, "PUT", "/aiflow/flow/"+id+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, w.ref)).json(200)
		_, err := w.net.Pages.Write(t.Context(), graphtest.PageInbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		require.NoError(t, w.net.WaitRequest(t.Context(), func(r graphtest.Request) bool { return strings.Contains(string(r.Body), "typing_on") }))
		chat := w.ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", w.ref), "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, 1, count(chat["unread"]))
	})
}

// TestAssistantsGuide does what docs/assistants.md does: a newcomer's first
// assistant needs no key.
func TestAssistantsGuide(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../docs/assistants.md")
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		project, publish := ana.project(t)
		ana.call(t, "POST", "/aiflow/project/"+project+"/file", guide.Block(t, "house")).json(201)
		id := publish(guide.Block(t, "clerk"))
		ana.call(t, "PUT", "/aiflow/flow/"+id+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, ref)).json(200)
		ana.write(t, ref, "ana", "When is breakfast served?")
		ana.awaitShown(t, ref, "ana", "out: When is breakfast served?", "in: Breakfast is served from seven to ten, and is included.")
		ana.write(t, ref, "ana", "Are dogs welcome?")
		ana.awaitShown(t, ref, "ana", "out: When is breakfast served?", "in: Breakfast is served from seven to ten, and is included.",
			"out: Are dogs welcome?", "in: Dogs are welcome for 10 euros a night.")
	})
}
