package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// sendEvent is what an integrator reads of an event of a send.
type sendEvent struct {
	Reference int    `json:"reference"`
	ID        string `json:"id"`
	RequestID string `json:"requestId"`
	ClientID  string `json:"clientId"`
	Status    string `json:"status"`
	At        int64  `json:"at"`
	Template  *struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components json.RawMessage `json:"components"`
	} `json:"template"`
	Error *struct{ Code, Message, Advice string } `json:"error"`
}

// TestSends_AreMatchedWithTheirEvents sends 300 messages without waiting, over
// a network that gives its ids late: its statuses come before its answers, some
// answers are lost, and some messages fail. Each is found again in its events by
// clientId and by requestId, and by both in GET /messages.
func TestSends_AreMatchedWithTheirEvents(t *testing.T) {
	t.Parallel()
	const all, lost, failed = 300, 30, 30
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ana, g := localCloud(t, db, &graphOptions{Statuses: []string{"sent", "delivered", "read"}, Latency: 100 * time.Millisecond})
		g.Templates.Put(shipped("90099"))
		ref := ana.reference(t, reference(cloudNumber("900")))
		in := startIntegrator(t)
		in.listen(t, ana, ref, "/", `["message","status"]`)
		g.Fail(graphtest.Fault{Times: lost, Taken: true, Cut: true}, graphtest.Fault{Times: failed, Code: 131026, Message: "Message undeliverable"})

		requests := map[string]string{} // requestId by clientId
		for i := range all {
			clientID := fmt.Sprintf("order-%d ü", i)
			m := ana.call(t, "POST", "/chats/send?wait=0", fmt.Sprintf(`{"reference":%d,"chatId":"1650555%04d","clientId":%q,"message":{"type":"template","template":%s}}`,
				ref, i, clientID, call("order_shipped", "en_US", filledOrder))).json(200)["message"].(map[string]any)
			require.Equal(t, clientID, m["clientId"])
			require.Contains(t, m["requestId"], "out-", "also when a status was so fast that id is the network's already")
			requests[clientID] = m["requestId"].(string)
		}
		const events = 3*(all-failed) + failed
		got := in.wait(t, events)
		require.Len(t, got, events)

		found := map[string][]sendEvent{} // by clientId
		failures := 0
		for _, d := range got {
			var e sendEvent
			require.NoError(t, json.Unmarshal(d.body, &e))
			require.Equal(t, requests[e.ClientID], e.RequestID)
			found[e.ClientID] = append(found[e.ClientID], e)
			if e.Status == "FAIL" {
				failures++
				require.Equal(t, "131026", e.Error.Code)
				require.Contains(t, e.Error.Message, "Message undeliverable")
				require.Contains(t, e.Error.Advice, "The contact cannot receive the message")
				continue
			}
			require.Nil(t, e.Error)
			require.NotEqual(t, e.RequestID, e.ID, "the network's")
			if d.header.Get("X-Trunkline-Event") == "status" {
				require.Positive(t, e.At)
				continue
			}
			require.Equal(t, "order_shipped", e.Template.Name)
			require.Equal(t, "en_US", e.Template.Language.Code)
			require.JSONEq(t, filledOrder, string(e.Template.Components))
		}
		require.Equal(t, failed, failures)
		require.Len(t, found, all)
		for clientID, events := range found {
			last := events[len(events)-1]
			for _, id := range []string{clientID, requests[clientID], last.ID} {
				m := ana.call(t, "GET", fmt.Sprintf("/messages/%s?reference=%d", url.PathEscape(id), ref), "").json(200)
				require.Equal(t, last.ID, m["id"])
				require.Equal(t, last.Status, m["status"])
				require.Equal(t, clientID, m["clientId"])
				require.Equal(t, requests[clientID], m["requestId"])
			}
		}
	})
}

// localCloud is a server whose cloud references are in a fake network, and which
// posts webhooks to this computer.
func localCloud(t *testing.T, db *sqlx.DB, o *graphOptions) (client, *graphtest.Server) {
	t.Helper()
	var f fixture
	o.Numbers, o.Callback = []graphtest.Number{cloudNumber("900")}, "http://trunkline.test/webhooks/provider"
	o.HTTPClient = into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) }))
	g := startGraph(t, o)
	f = working(t, setupOn(t, db, func(c *server.Config) { c.GraphURL, c.WebhookAllow = g.URL, []string{"127.0.0.1"} }))
	return f.as(t, "ana"), g
}

// TestClientID_IsRefused gives what is none, in every place that takes one.
func TestClientID_IsRefused(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref := ana.sandbox(t)
		ana.write(t, ref, "ana", "Hello")
		send := func(clientID string) answer {
			return ana.call(t, "POST", "/chats/send", fmt.Sprintf(`{"reference":%d,"chatId":"ana","clientId":%s,"message":{"type":"text","text":"Hi"}}`, ref, clientID))
		}
		located := func(a answer, status int, code, location string) {
			t.Helper()
			p := a.problem(status, code)
			if location != "" {
				require.Equal(t, location, p.Errors[0].Location)
			}
		}
		for _, bad := range []string{`""`, `7`, `"a\u0000b"`, `"a\nb"`, `"\u007f"`, `"` + strings.Repeat("é", 129) + `"`} {
			located(send(bad), 422, "validation", "body.clientId")
		}
		require.Len(t, ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref), "").json(200)["items"], 1)
		long := strings.Repeat("é", 128)
		id := send(`"` + long + `"`).json(200)["message"].(map[string]any)["id"]

		one := func(c client, id, ref any) answer {
			return c.call(t, "GET", fmt.Sprintf("/messages/%s?reference=%v", url.PathEscape(fmt.Sprint(id)), ref), "")
		}
		require.Equal(t, id, one(ana, long, ref).json(200)["id"])
		require.Equal(t, id, one(ana, id, ref).json(200)["requestId"])
		located(one(ana, "unknown", ref), 404, "not_found", "")
		located(one(ana, "a/b?c%", ref), 404, "not_found", "")
		located(one(ana, id, 999), 404, "not_found", "")
		located(one(ben, id, ref), 404, "not_found", "")
		located(one(ben, long, ref), 404, "not_found", "")
		located(one(ana, id, "x"), 422, "validation", "query.reference")
		located(one(ana, "a\x00b", ref), 422, "validation", "path.messageId")
		located(one(ana, "a\nb", ref), 422, "validation", "path.messageId")
		located(one(ana, strings.Repeat("x", 513), ref), 422, "validation", "path.messageId")

		list := func(query string) answer {
			return ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&%s", ref, query), "")
		}
		for query, location := range map[string]string{
			"clientId=a%00b": "query.clientId", "clientId=a%0Ab": "query.clientId", "clientId=" + strings.Repeat("x", 129): "query.clientId",
			"status=SENT": "query.status", "status=read": "query.status", "direction=both": "query.direction", "cursor=x": "query.cursor",
			"cursor=MC4w&before=MC4w": "query.cursor", "cursor=MC4w&after=MC4w": "query.after",
		} {
			located(list(query), 422, "validation", location)
		}
		require.Len(t, list("clientId=" + url.QueryEscape(long)).json(200)["items"], 1)
		require.Len(t, list("direction=in").json(200)["items"], 1)
		require.Empty(t, list("direction=in&status=PLAYED").json(200)["items"])
		next := list("limit=1").json(200)["next"].(string)
		require.Equal(t, list("before="+next).json(200), list("cursor="+next).json(200))
	})
}
