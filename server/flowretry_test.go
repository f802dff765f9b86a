package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestFlowRetry retries runs of flows.
func TestFlowRetry(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }, func(t *testing.T, f fixture) {
		var broken atomic.Bool
		shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if broken.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		t.Cleanup(shop.Close)
		ana := f.as(t, "ana")
		_, publish := ana.project(t)
		ordering := func(slug, method string) string {
			return publish(fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"Order","start":"t","nodes":{
				"t":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"order"}},
				"order":{"type":"http","config":{"method":%q,"url":%q},"next":{"out":"end"}},"end":{"type":"end","config":{"result":"ordered"}}}}`, slug, method, shop.URL))
		}
		start := func(flow string) string {
			return "/aiflow/run/" + ana.start(t, fmt.Sprintf(`{"flowId":%q}`, flow))["id"].(string)
		}
		fine := start(ordering("fine", "GET"))
		ana.call(t, "POST", fine+"/retry", "").problem(409, "conflict")
		ana.call(t, "POST", "/aiflow/run/none/retry", "{}").problem(404, "not_found")
		f.as(t, "ben").call(t, "POST", fine+"/retry", "{}").problem(404, "not_found")

		broken.Store(true)
		once := start(ordering("once", "POST"))
		require.Equal(t, "failed", ana.call(t, "GET", once, "").json(200)["status"])
		broken.Store(false)
		problem := ana.call(t, "POST", once+"/retry", "").problem(409, "conflict")
		require.Contains(t, problem.Detail, "repeat")
		retried := ana.call(t, "POST", once+"/retry", `{"repeat":true}`).json(200)
		require.Equal(t, "completed", ana.after(t, "/aiflow/run/", retried, "running")["status"])
		steps := ana.call(t, "GET", once, "").json(200)["steps"].([]any)
		require.Nil(t, steps[1].(map[string]any)["retry"])
		require.Equal(t, 1, count(steps[2].(map[string]any)["retry"]))
		require.Len(t, ana.audited(t, "action=run.retry&objectId="+retried["id"].(string)), 1)
	})
}

// TestBotSchedule begins a bot at its times, and not when it is switched off.
func TestBotSchedule(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var ahead atomic.Int64
		started := time.Now()
		tenPast := started.Truncate(time.Hour).Add(10 * time.Minute) // far from the next hour, whenever the test runs
		f := working(t, setupOn(t, db, func(c *server.Config) {
			c.Now = func() time.Time { return tenPast.Add(time.Since(started) + time.Duration(ahead.Load())) }
		}))
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		bot := ana.bot(t, ref, `{"format":"trunkline-flow/1","kind":"flow","engine":"botengine","slug":"tick","name":"Tick","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"schedule","cron":"0 * * * *"}]},"next":{"out":"tell"}},
			"tell":{"type":"event","config":{"name":"tick","data":{"at":"{{ start.at }}"}},"next":{"out":"say"}},
			"say":{"type":"message","config":{"text":"Nobody hears this."}}}}`)
		off := ana.bot(t, ref, `{"format":"trunkline-flow/1","kind":"flow","engine":"botengine","slug":"off","name":"Off","start":"t","nodes":{
			"t":{"type":"trigger","config":{"on":[{"kind":"schedule","cron":"0 * * * *"}]},"next":{"out":"e"}},"e":{"type":"end"}}}`)
		ana.call(t, "PATCH", "/bot/"+off, `{"active":false}`).json(200)
		runs := func(bot string) []any { return ana.call(t, "GET", "/bot/"+bot+"/runs", "").json(200)["items"].([]any) }
		require.Empty(t, runs(bot))
		ahead.Add(int64(time.Hour))
		ana.until(t, func() bool {
			items := runs(bot)
			return len(items) > 0 && items[0].(map[string]any)["endedAt"] != nil
		})
		run := runs(bot)[0].(map[string]any)
		require.Equal(t, ref, count(run["reference"]))
		require.Nil(t, run["chatId"])
		require.Equal(t, "schedule", run["input"].(map[string]any)["type"])
		require.Equal(t, "failed", run["status"])
		require.Equal(t, "channel.no_chat", run["error"].(map[string]any)["code"])
		require.Empty(t, runs(off))
		require.Equal(t, 200, ana.call(t, "DELETE", "/bot/"+bot, "").Code)
	})
}
