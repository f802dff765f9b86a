package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// cloudTest runs fn with a cloud reference in a fake network, whose callbacks come
// back into the server.
func cloudTest(t *testing.T, o *graphOptions, fn func(t *testing.T, ana client, ref int, g *graphtest.Server)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		cloudNumberTest(t, db, cloudNumber("900"), o, fn)
	})
}

// cloudNumberTest is cloudTest for one reference on one database.
func cloudNumberTest(t *testing.T, db *sqlx.DB, l graphtest.Number, options *graphOptions, fn func(t *testing.T, ana client, ref int, g *graphtest.Server)) {
	t.Helper()
	var f fixture
	o := *options
	o.Numbers, o.Callback = []graphtest.Number{l}, "http://trunkline.test/webhooks/provider"
	o.HTTPClient = into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) }))
	g := startGraph(t, &o)
	f = working(t, setupOn(t, db, func(c *server.Config) { c.GraphURL, c.WebhookAllow = g.URL, []string{"127.0.0.1"} }))
	ana := f.as(t, "ana")
	fn(t, ana, ana.reference(t, reference(l)), g)
}

const contact = "16505551234"

// TestSendOverCloud sends to a contact that has written.
func TestSendOverCloud(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{Statuses: []string{"sent", "delivered", "read"}}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		in, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Sheena", Text: "Hello"})
		require.NoError(t, err)
		m := ana.call(t, "POST", "/chats/send", fmt.Sprintf(
			`{"reference":%d,"chatId":"+1 (650) 555-1234","message":{"type":"text","text":"Hi"},"context":{"messageId":%q}}`, ref, in)).json(200)["message"].(map[string]any)
		require.Contains(t, []string{"SENDING", "DELIVERED", "READ"}, m["status"])
		require.Contains(t, m["id"], "wamid.")
		require.Equal(t, contact, m["chatId"])
		shown, err := g.WaitShown(t.Context(), contact, 1)
		require.NoError(t, err)
		require.Equal(t, "Hi", shown[0].Text)
		require.Equal(t, in, shown[0].ReplyTo)
		require.Equal(t, m["id"], shown[0].ID)
		ana.until(t, func() bool { return ana.record(t, ref, m["id"])["status"] == "READ" })

		ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":%q}`, ref, contact)).is(200, `{"success":true,"unread":0}`)
		require.NoError(t, g.WaitRead(t.Context(), in))

		buttons := sendBody(ref, contact, `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"}]}`)
		ana.call(t, "POST", "/chats/send?dryRun=1", buttons).is(200, `{"allowed":true,"reason":null,"sentAs":"buttons","earliest":null,"windowExpiresAt":"<later>"}`)
		ana.call(t, "POST", "/chats/send", buttons).json(200)
		shown, err = g.WaitShown(t.Context(), contact, 2)
		require.NoError(t, err)
		require.Equal(t, "interactive", shown[1].Type)

		// What breaks a limit of the network is refused before it is stored.
		long := sendBody(ref, contact, `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"A title of too many characters"}]}`)
		refused := ana.call(t, "POST", "/chats/send", long).problem(422, "validation")
		require.Contains(t, fmt.Sprint(refused), "body.message.buttons[0].title")
		ana.call(t, "POST", "/chats/send", fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":{"type":"text","text":"x"},"context":{"messageId":"wamid.nothing"}}`, ref, contact)).
			problem(404, "not_found")
	})
}

// TestWindowClosed has a contact that never wrote.
func TestWindowClosed(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		text := sendBody(ref, contact, `{"type":"text","text":"Hi"}`)
		p := ana.call(t, "POST", "/chats/send", text).problem(409, "window_closed")
		require.Contains(t, p.Detail, "template")
		ana.call(t, "POST", "/chats/send?dryRun=1", text).
			is(200, `{"allowed":false,"reason":"window_closed","sentAs":"text","earliest":null,"windowExpiresAt":null}`)
		require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").Body.String(), "nothing is stored")
		m := ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"template","template":{"name":"welcome","language":{"code":"en_US"}}}`)).json(200)
		require.Equal(t, "SENDING", m["message"].(map[string]any)["status"])
		require.Len(t, g.Shown(contact), 1)
	})
}

// TestRefusedByNetwork keeps what the network refused, and says in its words
// why.
func TestRefusedByNetwork(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		body := sendBody(ref, contact, `{"type":"text","text":"hush-hush"}`)
		for _, c := range []struct {
			fault  graphtest.Fault
			status int
			code   string
			says   []string
		}{
			{graphtest.Fault{Code: 131009, Message: "(#131009) Parameter value is not valid", Details: "Too odd"}, 502, "provider_error", []string{"131009", "Too odd"}},
			{graphtest.Fault{Code: 131026, Message: "Message undeliverable"}, 502, "provider_error", []string{"131026"}},
			{graphtest.Fault{Code: 131047, Message: "Re-engagement message"}, 409, "window_closed", nil},
		} {
			g.Fail(c.fault)
			a := ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", "key-"+fmt.Sprint(c.fault.Code))
			p := a.problem(c.status, c.code)
			for _, part := range c.says {
				require.Contains(t, p.Detail, part)
			}
			require.NotContains(t, a.Body.String(), "hush-hush")
			last := ana.last(t, ref)
			require.Equal(t, "FAIL", last["status"])
			require.Contains(t, p.Detail, last["id"], "the problem names the message that was kept")
			require.NotNil(t, last["error"])

			again := ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", "key-"+fmt.Sprint(c.fault.Code)).json(200)["message"].(map[string]any)
			if c.status == 409 { // what was refused is not remembered
				require.Equal(t, "SENDING", again["status"])
			} else {
				require.Equal(t, last, again)
			}
		}
	})
}

// TestPending answers with what is still under way.
func TestPending(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		send := func() map[string]any {
			return ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"text","text":"x"}`)).json(200)["message"].(map[string]any)
		}
		g.Fail(graphtest.Fault{Code: 130429, Message: "Rate limit hit", RetryAfter: time.Second})
		m := send()
		require.Equal(t, "PENDING", m["status"])
		require.Contains(t, m["id"], "out-")
		_, err = g.WaitShown(t.Context(), contact, 1) // it is tried again by itself
		require.NoError(t, err)
		ana.until(t, func() bool {
			last := ana.last(t, ref)
			return last["status"] == "SENDING" && last["id"] != m["id"]
		})

		g.Fail(graphtest.Fault{Cut: true, Taken: true}) // it may have left
		m = send()
		require.Equal(t, "PENDING", m["status"])
		require.Equal(t, "unconfirmed", m["error"].(map[string]any)["code"])
	})
}

// record finds a message of the contact by any of its ids.
func (c client) record(t *testing.T, ref int, id any) map[string]any {
	t.Helper()
	items := c.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, contact), "").json(200)["items"].([]any)
	for _, m := range items {
		if m := m.(map[string]any); m["id"] == id {
			return m
		}
	}
	return nil
}

// last is the newest message of the contact.
func (c client) last(t *testing.T, ref int) map[string]any {
	t.Helper()
	items := c.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=1", ref, contact), "").json(200)["items"].([]any)
	return items[0].(map[string]any)
}
