package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// echoFlow is a flow or a bot that says its name: trigger is the configuration
// of its trigger node.
func echoFlow(slug, trigger string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":%q,"start":"begin","nodes":{
		"begin":{"type":"trigger","config":%s,"next":{"out":"say"}},"say":{"type":"message","config":{"text":"I am %s."}}}}`, slug, slug, trigger, slug)
}

// boundFlow publishes a flow of a new project, and has it listen on a reference.
func (c client) boundFlow(t *testing.T, ref int, draft, priority string) string {
	t.Helper()
	project := c.call(t, "POST", "/aiflow/project", `{"name":"Shop"}`).json(201)["id"].(string)
	id := c.call(t, "POST", "/aiflow/flow", fmt.Sprintf(`{"projectId":%q,"name":"Flow","draft":%s}`, project, draft)).json(201)["id"].(string)
	c.call(t, "POST", "/aiflow/flow/"+id+"/publish", "{}").json(200)
	c.call(t, "PUT", "/aiflow/flow/"+id+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true,"priority":%s}`, ref, priority)).json(200)
	return id
}

// bindTo has a flow listen on a reference.
func (c client) bindTo(t *testing.T, ref int, flow string) {
	t.Helper()
	c.call(t, "PUT", "/aiflow/flow/"+flow+"/bind", fmt.Sprintf(`{"reference":%d,"enabled":true}`, ref)).json(200)
}

const (
	onAnything = `{"on":[{"kind":"any_message"}]}`
	onMenu     = `{"on":[{"kind":"keyword","keywords":["menu"]},{"kind":"keyword","match":"regex","keywords":["^m"]}]}`
)

// TestTriggers lists who listens on a reference in the order in which they are
// asked, and explains a message by the same.
func TestTriggers(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		always := ana.bot(t, ref, echoFlow("always", onAnything))
		menu := ana.bot(t, ref, echoFlow("menu", onMenu))
		loud := ana.boundFlow(t, ref, echoFlow("loud", `{"on":[{"kind":"keyword","keywords":["loud"]}],"cooldown":"PT1H"}`), "7")
		off := ana.bot(t, ref, echoFlow("off", onAnything))
		ana.call(t, "PATCH", "/bot/"+off, `{"active":false}`).json(200)
		ana.call(t, "POST", "/bot", fmt.Sprintf(`{"reference":%d,"name":"Draft","trigger":"always"}`, ref)).json(201)

		var rows []string
		for _, it := range ana.call(t, "GET", fmt.Sprintf("/reference/%d/triggers", ref), "").json(200)["items"].([]any) {
			l := it.(map[string]any)
			rows = append(rows, fmt.Sprint(l["engine"], " ", l["id"], " ", l["name"], " ", l["trigger"], " ", l["triggers"], " ", l["priority"], " ", l["enabled"], " ", l["version"]))
		}
		require.Equal(t, []string{
			"aiflow " + loud + " Flow keyword [keyword] 7 true 1",
			"botengine " + menu + " Greeter keyword [keyword regex] 0 true 1",
			"botengine " + always + " Greeter always [always] 0 true 1",
			"botengine " + off + " Greeter always [always] 0 false 1",
		}, rows)
		f.as(t, "eve").call(t, "GET", fmt.Sprintf("/reference/%d/triggers", ref), "").problem(404, "not_found")

		// Why an answer came.
		loudOne := ana.write(t, ref, "eva", "loud")
		ana.awaitShown(t, ref, "eva", "out: loud", "in: I am loud.")
		menuOne := ana.write(t, ref, "eva", "menu")
		ana.awaitShown(t, ref, "eva", "out: loud", "in: I am loud.", "out: menu", "in: I am menu.")
		again := ana.write(t, ref, "eva", "loud")
		ana.awaitShown(t, ref, "eva", "out: loud", "in: I am loud.", "out: menu", "in: I am menu.", "out: loud", "in: I am always.")
		require.Equal(t, []string{"begun", loud + " answers", always + " behind", menu + " passes"}, ana.why(t, ref, "eva", loudOne))
		require.Equal(t, []string{"begun", menu + " answers", always + " behind", loud + " passes"}, ana.why(t, ref, "eva", menuOne))
		require.Equal(t, []string{"begun", always + " answers", loud + " cooling", menu + " passes"}, ana.why(t, ref, "eva", again))
	})
}

// why is the outcome of a message's route, and what each said that was asked.
func (c client) why(t *testing.T, ref int, contact, message string) []string {
	t.Helper()
	for _, s := range c.explained(t, ref, contact, message) {
		if s["step"] != "routed" {
			continue
		}
		var said []string
		asked, _ := s["asked"].([]any)
		for _, it := range asked {
			a := it.(map[string]any)
			said = append(said, fmt.Sprint(a["id"], " ", a["outcome"]))
		}
		slices.SortStableFunc(said, func(a, b string) int { return strings.Compare(outcomeOf(a), outcomeOf(b)) })
		return append([]string{s["outcome"].(string)}, said...)
	}
	return nil
}

func outcomeOf(said string) string { _, o, _ := strings.Cut(said, " "); return o }

// explained are the steps of a contact's message.
func (c client) explained(t *testing.T, ref int, contact, message string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, s := range c.call(t, "GET", fmt.Sprintf("/chats/explain?reference=%d&chatId=%s&messageId=%s", ref, contact, message), "").json(200)["steps"].([]any) {
		out = append(out, s.(map[string]any))
	}
	return out
}

// TestExplainRun follows messages into the run that takes them, and from the
// answers back to it.
func TestExplainRun(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		bot := ana.bot(t, ref, greeter)
		nobody := ana.write(t, ref, "bob", "Good morning")
		first := ana.write(t, ref, "bob", "Hi")
		ana.awaitShown(t, ref, "bob", "out: Good morning", "out: Hi", "in: Hello! Who are you?")
		second := ana.write(t, ref, "bob", "Bob")
		ana.awaitShown(t, ref, "bob", "out: Good morning", "out: Hi", "in: Hello! Who are you?", "out: Bob", "in: Nice to meet you, Bob.")
		require.Equal(t, []string{"nobody", bot + " passes"}, ana.why(t, ref, "bob", nobody))
		require.Equal(t, []string{"begun", bot + " answers"}, ana.why(t, ref, "bob", first))
		require.Equal(t, []string{"continued"}, ana.why(t, ref, "bob", second))

		for message, text := range map[string]string{first: "Hello! Who are you?", second: "Nice to meet you, Bob."} {
			steps := ana.explained(t, ref, "bob", message)
			n := slices.IndexFunc(steps, func(s map[string]any) bool { return s["step"] == "routed" })
			run, sent := steps[n+1], steps[n+2]
			require.Len(t, steps, n+3, "it sent one message")
			require.Equal(t, []any{"run", "botengine", bot, "completed"}, []any{run["step"], run["engine"], run["flowId"], run["status"]})
			require.Equal(t, "sent", sent["step"])
			back := ana.call(t, "GET", fmt.Sprintf("/chats/explain?reference=%d&chatId=bob&messageId=%s", ref, sent["messageId"]), "").json(200)
			require.Equal(t, text, back["message"].(map[string]any)["text"])
			require.Contains(t, fmt.Sprint(back["steps"]), run["runId"])
		}

		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"bob","botActive":0}`, ref)).json(200)
		silent := ana.write(t, ref, "bob", "Hi")
		untilEqual(t, f, []string{"silent"}, func() []string { return ana.why(t, ref, "bob", silent) })
	})
}
