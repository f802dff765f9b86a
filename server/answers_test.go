package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// TestAnswersOfExtractors asks for values: a question understands what extractors
// find, and says the same whether it is simulated, tested or run.
func TestAnswersOfExtractors(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) // a Monday
	ana := working(t, setup(t, func(c *server.Config) { c.Now = func() time.Time { return now } })).as(t, "ana")
	for i, c := range []struct {
		expect, language, said string
		want                   any
	}{
		{"date", "", "friday", "2026-03-06"},
		{"date", "", "on Friday!", "2026-03-06"},
		{"date", "en", "27/11", "2026-11-27"},
		{"date", "en", "27 November", "2026-11-27"},
		{"date", "de", "27/11", "2026-11-27"},
		{"date", "de", "heute", "2026-03-02"},
		{"date", "es", "el viernes", "2026-03-06"},
		{"date", "pt-BR", "amanhã", "2026-03-03"},
		{"date", "", "30.2.2026", nil},
		{"date", "", "soon", nil},
		{"time", "", "half past nine", "09:30:00"},
		{"time", "", "9 Uhr", "09:00:00"},
		{"datetime", "", "friday at 5 pm", "2026-03-06T17:00:00+01:00"},
		{"number", "", "two", 2.0},
		{"number", "de", "1.234", 1234.0},
		{"integer", "es", "veinte", 20.0},
		{"integer", "", "2.5", nil},
		{"email", "", "My address is ada@EXAMPLE.com", "ada@example.com"},
		{"url", "", "example.com", "https://example.com"},
		{"url", "", "ftp://example.com", nil},
		{"phone", "", "+49 151 12345678", "+4915112345678"},
		{"boolean", "", "of course", true},
		{"boolean", "", "perhaps", nil},
		{"boolean", "", "нет", false},
	} {
		document := fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":"ask-%d","name":"Ask","start":"begin","settings":{"timezone":"Europe/Berlin"},
			"variables":{"answer":{"type":"any"}},"nodes":{
			"begin":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"ask"}},
			"ask":{"type":"question","config":{"prompt":{"text":"When?"},"expect":%q,"saveTo":"answer","retries":0}}}}`, i, c.expect)
		ref := ana.sandbox(t)
		bot := ana.bot(t, ref, document)
		name := fmt.Sprintf("%s %q in %q", c.expect, c.said, c.language)

		given := fmt.Sprintf(`{"now":"2026-03-02T10:00:00Z","contact":{"id":"bob","name":"Bob","language":%q}}`, c.language)
		simulated := ana.call(t, "POST", "/bot/"+bot+"/simulate", `{"message":{"type":"text","text":"hi"},"given":`+given+`}`).json(200)
		state, err := json.Marshal(simulated["state"])
		require.NoError(t, err)
		simulated = ana.call(t, "POST", "/bot/"+bot+"/simulate", fmt.Sprintf(`{"state":%s,"input":%q}`, state, c.said)).json(200)
		require.Equal(t, c.want, simulated["variables"].(map[string]any)["answer"], "simulated: %s", name)

		ana.write(t, ref, "bob", "hi")
		ana.awaitShown(t, ref, "bob", "out: hi", "in: When?")
		if c.language != "" {
			ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"bob@sandbox","language":%q}`, ref, c.language)).json(200)
		}
		ana.write(t, ref, "bob", c.said)
		items := ana.call(t, "GET", "/bot/"+bot+"/runs", "").json(200)["items"].([]any)
		require.Len(t, items, 1, name)
		run := ana.after(t, "/bot/run/", items[0].(map[string]any), "running", "waiting")
		run = ana.call(t, "GET", "/bot/run/"+run["id"].(string), "").json(200)
		require.Equal(t, c.want, run["variables"].(map[string]any)["answer"], "run: %s", name)
	}
}
