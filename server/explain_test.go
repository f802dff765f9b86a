package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// TestExplain follows a message from the request to a webhook that refuses it.
func TestExplain(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		h := ana.hook(t, ref, 400)
		in := ana.write(t, ref, "ana", "Hello")
		explain := func(id string) answer {
			return ana.call(t, "GET", fmt.Sprintf("/chats/explain?reference=%d&chatId=ana&messageId=%s", ref, id), "")
		}
		steps := func(id string) (words []string, last map[string]any) {
			out := explain(id).json(200)
			require.Equal(t, id, out["message"].(map[string]any)["id"])
			after := 0.0
			for _, s := range out["steps"].([]any) {
				last = s.(map[string]any)
				require.GreaterOrEqual(t, last["afterMs"], after)
				after = last["afterMs"].(float64)
				w := fmt.Sprint(last["step"], " ", last["status"], " ", last["outcome"], " ", last["statusCode"])
				words = append(words, strings.TrimSpace(strings.ReplaceAll(w, " <nil>", "")))
			}
			return words, last
		}
		ana.until(t, func() bool {
			words, last := steps(in)
			return len(words) >= 4 && words[2] == "webhook retried 400" && last["outcome"] == "pending" && last["nextAttemptAt"] != nil
		})
		h.answer(200)
		var words []string
		var last map[string]any
		ana.until(t, func() bool {
			words, last = steps(in)
			return words[len(words)-1] == "webhook delivered 200"
		})
		require.Equal(t, []string{"received", "stored", "webhook retried 400"}, words[:3])
		require.Equal(t, []any{h.id, "message"}, []any{last["endpointId"], last["event"]})
		require.Contains(t, last, "durationMs")

		sent := ana.send(t, ref, "Hi Ana")["id"].(string)
		ana.until(t, func() bool { // the simulated phone may be faster than the attempt's end
			words, _ = steps(sent)
			return slices.Contains(words, "webhook delivered 200") && slices.Contains(words, "attempt sent")
		})
		require.Subset(t, words, []string{"stored", "status DELIVERED"})

		explain("nothing").problem(404, "not_found")
		ana.write(t, ref, "ben", "Hello")
		ana.call(t, "GET", fmt.Sprintf("/chats/explain?reference=%d&chatId=ben&messageId=%s", ref, in), "").problem(404, "not_found")
		f.as(t, "eve").call(t, "GET", fmt.Sprintf("/chats/explain?reference=%d&chatId=ana&messageId=%s", ref, in), "").problem(404, "not_found")
	})
}
