package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// TestSessionEvents takes a reference through the states that it can have, and
// looks at what a webhook that asks for them is told.
func TestSessionEvents(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var f fixture
		number := cloudNumber("950")
		g := startGraph(t, &graphtest.Options{
			Numbers: []graphtest.Number{number}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		f = working(t, setupOn(t, db, func(c *server.Config) { c.GraphURL, c.WebhookAllow = g.URL, []string{"127.0.0.1"} }))
		s, ana := schemas(t, f), f.as(t, "ana")
		ref := ana.reference(t, reference(number))
		asks, others := startIntegrator(t), startIntegrator(t)
		asks.listen(t, ana, ref, "/", `["session"]`)
		others.listen(t, ana, ref, "/", "")
		session := func(action string) {
			ana.call(t, "POST", "/reference/session/"+action, fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		}
		n := 0
		published := func(state, lastError string) {
			n++
			d := asks.wait(t, n)[n-1]
			require.Equal(t, "session", d.header.Get("X-Trunkline-Event"))
			require.NoError(t, s.fitsEvent(t, d.body, "session"), string(d.body))
			var want any
			require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"reference":%d,"ref":%d,"state":%q,"lastError":%s,"timestamp":"<now>"}`,
				ref, ref, state, lastError), &want))
			alike(t, "$", want, any(d.json(t)), string(d.body))
		}
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"}) // the first callback
		require.NoError(t, err)
		published("CONNECTED", "null")
		session("logout")
		published("LOGGED_OUT", "null")
		session("logout") // nothing new
		session("start")
		published("CONNECTED", "null")

		g.Fail(graphtest.Fault{Code: 190, Message: "Session has expired"})
		ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"text","text":"x"}`))
		published("FAILED", `{"code":"credentials","message":"<≈Session has expired>","at":"<now>","retryAt":null}`)
		session("start")
		published("CONNECTED", "null")
		for _, d := range others.wait(t, 2) { // the message that came, and the one that failed
			require.Equal(t, "message", d.header.Get("X-Trunkline-Event"))
			require.NoError(t, s.fitsEvent(t, d.body, "message"), string(d.body))
		}
		require.Len(t, asks.wait(t, n), n)
	})
}
