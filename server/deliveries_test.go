package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/webhook"
)

// hook is an integrator's endpoint that answers as it is told.
type hook struct {
	*httptest.Server
	id, secret string

	mu     sync.Mutex
	status int
	got    []hooked

	arrived testsignal.Signal
}

type hooked struct {
	header http.Header
	body   []byte
}

// hook registers an endpoint of a reference that answers with a status.
func (c client) hook(t *testing.T, ref, status int) *hook {
	t.Helper()
	h := &hook{status: status}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, hooked{r.Header.Clone(), body})
		h.arrived.Send()
		w.WriteHeader(h.status)
		_, _ = fmt.Fprintf(w, "answer %d", len(h.got))
	}))
	t.Cleanup(h.Close)
	ep := c.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, h.URL)).json(201)
	h.id, h.secret = ep["endpointId"].(string), ep["secret"].(string)
	return h
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// until waits until done returns true, which it asks now and after each request.
func (h *hook) until(t *testing.T, done func() bool) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&h.arrived}, done)
}

func (h *hook) all() []hooked {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]hooked{}, h.got...)
}

func local(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }

// deliveries lists what fits a query, once there are n of it.
func (c client) deliveries(t *testing.T, ref int, query string, n int) []map[string]any {
	t.Helper()
	var items []any
	c.until(t, func() bool {
		a := c.call(t, "GET", fmt.Sprintf("/references/deliveries?reference=%d%s", ref, query), "")
		items = a.json(200)["items"].([]any)
		return len(items) == n
	}, "%d of %q", n, query)
	out := make([]map[string]any, n)
	for i := range items {
		out[i] = items[i].(map[string]any)
	}
	return out
}

// TestDeliveries lists what was delivered, by all that it can be found by.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		list := fmt.Sprintf("/references/deliveries?reference=%d", ref)
		ana.call(t, "GET", list, "").is(200, `{"items":[],"next":null}`)
		good, bad := ana.hook(t, ref, 200), ana.hook(t, ref, 422)
		one := ana.write(t, ref, "ana", "one")
		two := ana.write(t, ref, "ben", "two")
		ana.deliveries(t, ref, "&state=delivered", 2)
		ana.until(t, func() bool { // the first attempts of both are in the log
			for _, d := range ana.call(t, "GET", list+"&state=pending", "").json(200)["items"].([]any) {
				if len(d.(map[string]any)["attempts"].([]any)) == 0 {
					return false
				}
			}
			return len(bad.all()) >= 2
		})
		ana.call(t, "GET", list+"&state=delivered&chatId=ana", "").is(200, fmt.Sprintf(`{"items":[
			{"id":"<uuid>","endpointId":%q,"event":"message","chatId":"ana@sandbox","messageId":%q,"sequence":1,"state":"delivered",
			"attempts":[{"at":"<now>","statusCode":200,"durationMs":"<any>","error":null,"response":"<≈answer>"}],"nextAttemptAt":null,"createdAt":"<now>"}
		],"next":null}`, good.id, one))
		pending := ana.deliveries(t, ref, "&endpoint="+bad.id+"&messageId="+two, 1)[0]
		require.Equal(t, "pending", pending["state"])
		first := pending["attempts"].([]any)[0].(map[string]any)
		require.InDelta(t, 422, first["statusCode"], 0)
		require.Equal(t, "answered 422 Unprocessable Entity", first["error"])

		for query, n := range map[string]int{
			"": 4, "&endpoint=" + good.id: 2, "&endpoint=" + bad.id + "&state=delivered": 0, "&state=dead": 0, "&chatId=ana": 2,
			"&chatId=nobody": 0, "&chatId=ben@sandbox&state=delivered": 1, "&messageId=" + one: 2, "&messageId=none": 0,
			"&messageId=" + one + "&chatId=ben": 0, "&event=message": 4, "&event=messages": 4, "&event=status": 0,
		} {
			ana.deliveries(t, ref, query, n)
		}
		var paged []any
		for cursor := ""; ; {
			page := ana.call(t, "GET", list+"&limit=1"+cursor, "").json(200)
			paged = append(paged, page["items"].([]any)...)
			if page["next"] == nil {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(page["next"].(string))
		}
		require.Len(t, paged, 4)

		for query, location := range map[string]string{
			"&state=sent": "query.state", "&event=x": "query.event", "&limit=0": "query.limit", "&cursor=x": "query.cursor", "&what=1": "query.what",
		} {
			p := ana.call(t, "GET", list+query, "").problem(422, "validation")
			require.Equal(t, location, p.Errors[0].Location)
		}
		ana.call(t, "GET", list+"&endpoint=none", "").problem(404, "not_found")
		stranger := f.as(t, "ben")
		stranger.call(t, "GET", list, "").problem(404, "not_found")
		his := stranger.sandbox(t)
		stranger.call(t, "GET", fmt.Sprintf("/references/deliveries?reference=%d&endpoint=%s", his, good.id), "").problem(404, "not_found")
	})
}

// TestDeliveriesOfASend are found by our id and by the network's.
func TestDeliveriesOfASend(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{cloudNumber("860")}})
		f := working(t, setupOn(t, db, func(c *server.Config) { local(c); c.GraphURL = g.URL }))
		ana := f.as(t, "ana")
		ref := ana.reference(t, reference(cloudNumber("860")))
		ana.hook(t, ref, 200)
		body := sendBody(ref, "+1 650-555-1234", `{"type":"template","template":{"name":"hello","language":{"code":"en"}}}`)
		ana.call(t, "POST", "/chats/send", body).json(200)
		ours := g.Shown("")[0].CallbackData // the network carries it back
		require.Contains(t, ours, "out-")
		theirs := ana.deliveries(t, ref, "&state=delivered&messageId="+ours, 1)[0]["messageId"].(string)
		require.NotEqual(t, ours, theirs)
		ana.deliveries(t, ref, "&messageId="+url.QueryEscape(theirs)+"&chatId="+url.QueryEscape("1 (650) 555-1234"), 1)
	})
}

// TestReplay delivers again.
func TestReplay(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref := ana.sandbox(t)
		h := ana.hook(t, ref, 200)
		for i := range 3 {
			ana.write(t, ref, "ana", strconv.Itoa(i))
		}
		ids := []string{}
		for _, d := range ana.deliveries(t, ref, "&state=delivered", 3) {
			ids = append(ids, d["id"].(string))
		}
		replay := func(who client, body string) answer {
			return who.call(t, "POST", "/references/deliveries/replay", body)
		}
		replay(ana, fmt.Sprintf(`{"ids":[%q,%q,"none"]}`, ids[0], ids[1])).is(200, `{"queued":2}`)
		ana.until(t, func() bool { return len(h.all()) == 5 })
		ana.deliveries(t, ref, "&state=delivered", 3)
		again := h.all()[3]
		require.Equal(t, h.all()[1].header.Get("Webhook-Id"), again.header.Get("Webhook-Id"))
		require.Equal(t, "2", again.header.Get("X-Trunkline-Sequence"))

		now := time.Now().Unix()
		replay(ana, fmt.Sprintf(`{"endpoint":%q}`, h.id)).is(200, `{"queued":0}`) // nothing has failed
		replay(ana, fmt.Sprintf(`{"endpoint":%q,"state":"delivered","until":%d}`, h.id, now-3600)).is(200, `{"queued":0}`)
		replay(ana, fmt.Sprintf(`{"endpoint":%q,"state":"delivered","since":%d,"until":%d}`, h.id, now-3600, now+60)).is(200, `{"queued":3}`)
		ana.until(t, func() bool { return len(h.all()) == 8 })
		ana.deliveries(t, ref, "&state=delivered", 3) // and what they answered is in the log

		for body, location := range map[string]string{
			`{}`: "body.endpoint", `{"ids":[]}`: "body.endpoint", `{"since":1}`: "body.endpoint",
			fmt.Sprintf(`{"ids":[%q],"endpoint":%q}`, ids[0], h.id):       "body.endpoint",
			fmt.Sprintf(`{"ids":[%q],"since":0}`, ids[0]):                 "body.since",
			fmt.Sprintf(`{"ids":[%q],"until":1}`, ids[0]):                 "body.until",
			fmt.Sprintf(`{"ids":[%q],"state":"dead"}`, ids[0]):            "body.state",
			fmt.Sprintf(`{"endpoint":%q,"state":"pending"}`, h.id):        "body.state",
			fmt.Sprintf(`{"endpoint":%q,"since":20,"until":10}`, h.id):    "body.until",
			fmt.Sprintf(`{"endpoint":%q,"since":"2026-01-01"}`, h.id):     "body.since",
			`{"ids":["` + strings.Repeat(`x","`, 200) + `x"]}`:            "body.ids",
			fmt.Sprintf(`{"endpoint":%q,"sinc":20}`, h.id):                "body.sinc",
			fmt.Sprintf(`{"endpoint":%q,"until":9999999999999999}`, h.id): "body.until",
		} {
			p := replay(ana, body).problem(422, "validation")
			require.Equal(t, location, p.Errors[0].Location, body)
		}
		for _, body := range []string{fmt.Sprintf(`{"endpoint":%q}`, h.id), fmt.Sprintf(`{"ids":[%q]}`, ids[0]), `{"ids":["\u0000"]}`, `{"endpoint":"\u0000"}`} {
			replay(ben, body).problem(404, "not_found")
		}
		ana.call(t, "PATCH", "/references/hookconf/"+h.id, `{"enabled":false}`).json(200)
		require.Equal(t, "body.ids", replay(ana, fmt.Sprintf(`{"ids":[%q]}`, ids[0])).problem(422, "validation").Errors[0].Location)
		require.Equal(t, "body.endpoint", replay(ana, fmt.Sprintf(`{"endpoint":%q,"state":"delivered"}`, h.id)).problem(422, "validation").Errors[0].Location)
		require.Len(t, h.all(), 8)
	})
}

// TestTestEvent shows what an endpoint answers to a message that nobody wrote.
func TestTestEvent(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		h := ana.hook(t, ref, 202)
		path := "/references/hookconf/" + h.id + "/test"
		ana.call(t, "POST", path, "").is(200, `{"at":"<now>","statusCode":202,"durationMs":"<any>","error":null,"response":"answer 1"}`)
		got := h.all()[0]
		require.NoError(t, webhook.Verify(h.secret, got.header, got.body, time.Now()))
		require.Equal(t, "message", got.header.Get("X-Trunkline-Event"))
		require.Equal(t, strconv.Itoa(ref), got.header.Get("X-Trunkline-Reference"))
		require.Equal(t, "0", got.header.Get("X-Trunkline-Sequence"))
		var body any
		require.NoError(t, json.Unmarshal(got.body, &body))
		var want any
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"reference":%d,"ref":%d,"remoteJid":"15555550100::single","chatId":"15555550100@sandbox","mine":false,"id":"<≈test->","pushName":"Test",
			"verifiedBizName":"","messageTimestamp":"<now>","type":"text","status":"DELIVERED","text":"This is a test event. No contact wrote it."}`, ref, ref), &want))
		alike(t, "$", want, body, string(got.body))

		h.answer(503)
		ana.call(t, "PATCH", "/references/hookconf/"+h.id, `{"enabled":false,"events":["session"]}`).json(200)
		ana.call(t, "POST", path, "{}").is(200,
			`{"at":"<now>","statusCode":503,"durationMs":"<any>","error":"answered 503 Service Unavailable","response":"answer 2"}`)
		h.Close()
		ana.call(t, "POST", path, "").is(200, `{"at":"<now>","statusCode":null,"durationMs":"<any>","error":"<≈refused>","response":""}`)
		log := ana.deliveries(t, ref, "&endpoint="+h.id, 3)
		require.Equal(t, []any{"failed", "failed", "delivered"}, []any{log[0]["state"], log[1]["state"], log[2]["state"]})
		require.InDelta(t, 0, log[0]["sequence"], 0)
		require.Nil(t, log[0]["chatId"])

		ana.call(t, "POST", "/references/hookconf/none/test", "").problem(404, "not_found")
		f.as(t, "ben").call(t, "POST", path, "").problem(404, "not_found")
	})
}

// TestDisabledEndpoint is one that answers that it is gone for good.
func TestDisabledEndpoint(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		h := ana.hook(t, ref, 410)
		ana.write(t, ref, "ana", "Hello")
		ana.until(t, func() bool {
			ep := ana.call(t, "GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), "").json(200)["items"].([]any)[0].(map[string]any)
			return ep["state"] == "disabled" && ep["lastError"] == "answered 410 Gone" && ep["enabled"] == false
		})
		require.Equal(t, "failed", ana.deliveries(t, ref, "&endpoint="+h.id, 1)[0]["state"])
		f.log.await(t, "trunkline.endpoint.disabled")
		for series, want := range map[string]float64{
			`trunkline_webhook_endpoints{state="disabled"}`:                      1,
			`trunkline_webhook_endpoints{state="ok"}`:                            0,
			`trunkline_webhook_endpoints_total{change="disabled"}`:               1,
			`trunkline_webhook_delivery_seconds_count{outcome="failed"}`:         1,
			`trunkline_webhook_attempt_duration_seconds_count{outcome="failed"}`: 1,
		} {
			ana.until(t, func() bool { return gauge(t, f, series) == want }, series)
		}
	})
}

// TestDeliveriesAreKeptFor30Days looks at the log of a server a day before it
// is emptied and, started again, a day after.
func TestDeliveriesAreKeptFor30Days(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ana := working(t, setupOn(t, db, local)).as(t, "ana")
		ref := ana.sandbox(t)
		ana.hook(t, ref, 200)
		ana.write(t, ref, "ana", "Hello")
		ana.deliveries(t, ref, "&state=delivered", 1)
		after := func(days int) client {
			f := working(t, setupOn(t, db, func(c *server.Config) {
				c.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
			}))
			again := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).json(200)
			return client{f, again["token"].(string)}
		}
		after(29).deliveries(t, ref, "", 1)
		after(31).deliveries(t, ref, "", 0)
	})
}

// TestHookPermission has a user who may do all but manage webhooks.
func TestHookPermission(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	db.MustExec(`UPDATE auth_user SET owner = 0, permissions = 'references.read,references.write,chats.read,chats.send'`)
	for _, r := range [][3]string{
		{"GET", fmt.Sprintf("/references/deliveries?reference=%d", ref), ""},
		{"POST", "/references/deliveries/replay", `{"ids":["x"]}`},
		{"POST", "/references/hookconf/x/test", ""},
		{"POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true}`, ref)},
	} {
		ana.until(t, func() bool { return ana.call(t, r[0], r[1], r[2]).Code == 403 })
		require.Contains(t, ana.call(t, r[0], r[1], r[2]).problem(403, "forbidden").Detail, "webhooks.manage")
	}
}
