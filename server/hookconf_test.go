package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/webhook"
)

const echoURL = "trunkline://echo"

// endpoint is the answer for an endpoint; more are its headers, events and so
// on where they differ.
func endpoint(ref int, url, headers, events, secret string) string {
	if secret != "" {
		secret = fmt.Sprintf(`,"secret":%q`, secret)
	}
	return fmt.Sprintf(`{"endpointId":"<uuid>","id":"%d","reference":%d,"webhook":%q,"headers":%s,"events":%s,"include":[],
		"format":"trunkline","enabled":true,"state":"ok","lastError":null,"createdAt":"<now>","updatedAt":"<now>"%s}`, ref, ref, url, headers, events, secret)
}

const defaultEvents = `["message","status","data","calls","subscription"]`

// TestHookconf configures webhooks by their URLs.
func TestHookconf(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		list := fmt.Sprintf("/references/hookconf?reference=%d", ref)
		ana.call(t, "GET", list, "").is(200, `{"items":[],"next":null}`)
		const one, two = "https://example.org/in?a=1", "https://example.org/other"
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":"%d","webhook":%q,"headers":[{"key":"X-Api-Key","value":"hush-hush"}]}`, ref, one)).
			is(200, `{"success":true,"message":"The webhook was added.","data":{}}`)
		ana.call(t, "GET", list, "").is(200, `{"items":[`+endpoint(ref, one, `[{"key":"X-Api-Key","value":"••••"}]`, defaultEvents, "")+`],"next":null}`)
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":%q,"headers":[]}`, ref, one)).
			is(200, `{"success":true,"message":"The webhook was updated.","data":{}}`)
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":%q}`, ref, two)).
			is(200, `{"success":true,"message":"The webhook was added.","data":{}}`)
		items := ana.call(t, "GET", list, "").is(200, `{"items":[`+endpoint(ref, one, `[]`, defaultEvents, "")+`,`+endpoint(ref, two, `[]`, defaultEvents, "")+`],"next":null}`)["items"].([]any)
		id := items[0].(map[string]any)["endpointId"].(string)
		path := "/references/hookconf/" + id

		ana.call(t, "PATCH", path, `{"headers":[{"key":"A","value":"1"},{"key":"B","value":"2"}],"events":["messages","session"],"enabled":false}`).is(200,
			strings.NewReplacer(`"enabled":true`, `"enabled":false`, `"state":"ok"`, `"state":"disabled"`).Replace(
				endpoint(ref, one, `[{"key":"A","value":"••••"},{"key":"B","value":"••••"}]`, `["message","session"]`, "")))
		ana.call(t, "PATCH", path, `{"enabled":true,"headers":[{"key":"B","value":"••••"}],"include":["extracted"]}`).is(200,
			strings.Replace(endpoint(ref, one, `[{"key":"B","value":"••••"}]`, `["message","session"]`, ""), `"include":[]`, `"include":["extracted"]`, 1))
		p := ana.call(t, "PATCH", path, `{"headers":[{"key":"C","value":"••••"}]}`).problem(422, "validation")
		require.Equal(t, "body.headers[0].value", p.Errors[0].Location)
		ana.call(t, "PATCH", path, `{"headers":[]}`).json(200)
		rotated := ana.call(t, "PATCH", path, `{"rotateSecret":true,"include":[],"events":["message","status","data","calls","subscription"]}`).
			is(200, endpoint(ref, one, `[]`, defaultEvents, "<≈whsec_>"))
		require.NotContains(t, ana.call(t, "GET", list, "").Body.String(), "whsec_")
		again := ana.call(t, "PATCH", path, `{"rotateSecret":true}`).json(200)
		require.NotEqual(t, rotated["secret"], again["secret"])

		ana.call(t, "DELETE", path, "").is(200, `{"success":true}`)
		ana.call(t, "DELETE", path, "").problem(404, "not_found")
		ana.call(t, "PATCH", path, `{}`).problem(404, "not_found")
		ana.call(t, "GET", list, "").is(200, `{"items":[`+endpoint(ref, two, `[]`, defaultEvents, "")+`],"next":null}`)
	})
}

// TestRegisterWebHook shows the secret of a new endpoint, once.
func TestRegisterWebHook(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		const url = "https://example.org/in"
		body := func(more string) string { return fmt.Sprintf(`{"reference":%d,"webhook":%q%s}`, ref, url, more) }
		made := ana.call(t, "POST", "/references/registerWebHook", body(`,"headers":[{"key":"K","value":"hush-hush"}],"events":["status"],"include":["extracted"]`))
		made.is(201, strings.Replace(endpoint(ref, url, `[{"key":"K","value":"••••"}]`, `["status"]`, "<≈whsec_>"), `"include":[]`, `"include":["extracted"]`, 1))
		again := ana.call(t, "POST", "/references/registerWebHook", body(""))
		again.is(200, strings.Replace(endpoint(ref, url, `[{"key":"K","value":"••••"}]`, `["status"]`, ""), `"include":[]`, `"include":["extracted"]`, 1))
		require.Equal(t, made.json(201)["endpointId"], again.json(200)["endpointId"])
		const own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		a := ana.call(t, "POST", "/references/registerWebHook", body(`,"secret":"`+own+`"`))
		require.NotContains(t, a.Body.String(), own, "who gives a secret knows it")
		a.json(200)
	})
}

// TestRegisterWebHook_TakesID: the body of hookconf is a body of
// registerWebHook, too.
func TestRegisterWebHook_TakesID(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		const path, url = "/references/registerWebHook", "https://example.org/in"
		shown := endpoint(ref, url, `[{"key":"K","value":"••••"}]`, defaultEvents, "")
		made := ana.call(t, "POST", path, fmt.Sprintf(`{"id":"%d","webhook":%q,"headers":[{"key":"K","value":"hush-hush"}]}`, ref, url)).
			is(201, endpoint(ref, url, `[{"key":"K","value":"••••"}]`, defaultEvents, "<≈whsec_>"))
		again := ana.call(t, "POST", path, fmt.Sprintf(`{"id":%d,"webhook":%q}`, ref, url)).is(200, shown)
		require.Equal(t, made["endpointId"], again["endpointId"])
		ana.call(t, "POST", path, fmt.Sprintf(`{"id":"%d","reference":%[1]d,"webhook":%q}`, ref, url)).is(200, shown)
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":"%d","webhook":%q,"headers":[{"key":"K","value":"hush-hush"}]}`, ref, url)).
			is(200, `{"success":true,"message":"The webhook was updated.","data":{}}`)

		for body, want := range map[string][]string{
			fmt.Sprintf(`{"id":"%d","reference":%d,"webhook":%q}`, ref, ref+1, url): {"body.id"},
			fmt.Sprintf(`{"webhook":%q}`, url):                                      {"body.reference"},
			`{}`:                                                                    {"body.reference", "body.webhook"},
			fmt.Sprintf(`{"id":"x","webhook":%q}`, url):                             {"body.id"},
			fmt.Sprintf(`{"id":0,"webhook":%q}`, url):                               {"body.id"},
			fmt.Sprintf(`{"id":null,"webhook":%q}`, url):                            {"body.id"},
			fmt.Sprintf(`{"id":%d,"reference":0,"webhook":%q}`, ref, url):           {"body.reference"},
		} {
			require.Equal(t, want, locations(ana.call(t, "POST", path, body).problem(422, "validation")), body)
		}
		ana.call(t, "POST", path, fmt.Sprintf(`{"id":"%d","webhook":%q}`, ref+1, url)).problem(404, "not_found")
	})
}

// TestWebhookRefused lists what an endpoint cannot be made from.
func TestWebhookRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	cloud := ana.reference(t, reference(cloudNumber("850")))
	web := func(url string) string { return fmt.Sprintf(`"webhook":%q`, url) }
	const ok = `"webhook":"https://example.org/"`
	for name, c := range map[string]struct {
		ref      int
		body     string
		location string
		says     string
	}{
		"no URL":             {ref, `"headers":[]`, "body.webhook", "required"},
		"empty URL":          {ref, web(""), "body.webhook", ""},
		"relative":           {ref, web("/in"), "body.webhook", "absolute"},
		"other scheme":       {ref, web("ftp://example.org/"), "body.webhook", "http"},
		"script":             {ref, web("javascript:alert(1)"), "body.webhook", ""},
		"with a user":        {ref, web("https://ana:hush-hush@example.org/"), "body.webhook", "header"},
		"with a fragment":    {ref, web("https://example.org/#hush-hush"), "body.webhook", "fragment"},
		"too long":           {ref, web("https://example.org/" + strings.Repeat("x", 2048)), "body.webhook", "2048"},
		"malformed":          {ref, web("https://exa mple.org/%zz"), "body.webhook", ""},
		"NUL":                {ref, `"webhook":"https://example.org/\u0000"`, "body.webhook", ""},
		"loopback":           {ref, web("http://127.0.0.1:9/"), "body.webhook", "--webhook-allow"},
		"loopback as number": {ref, web("http://2130706433/"), "body.webhook", "--webhook-allow"},
		"localhost":          {ref, web("http://LOCALHOST/"), "body.webhook", "--webhook-allow"},
		"IPv6":               {ref, web("http://[::ffff:10.0.0.1]/"), "body.webhook", "--webhook-allow"},
		"private":            {ref, web("http://192.168.1.1/"), "body.webhook", "--webhook-allow"},
		"metadata":           {ref, web("http://169.254.169.254/latest"), "body.webhook", "--webhook-allow"},
		"echo of a cloud":    {cloud, web(echoURL), "body.webhook", "provider-sandbox"},
		"other echo":         {ref, web("trunkline://other"), "body.webhook", ""},
		"header name":        {ref, ok + `,"headers":[{"key":"a b","value":"hush-hush"}]`, "body.headers[0].key", ""},
		"header break":       {ref, ok + `,"headers":[{"key":"a","value":"1"},{"key":"b","value":"hush\r\nhush-hush: 1"}]`, "body.headers[1].value", ""},
		"header NUL":         {ref, ok + `,"headers":[{"key":"a","value":"\u0000hush-hush"}]`, "body.headers[0].value", ""},
		"header of ours":     {ref, ok + `,"headers":[{"key":"Webhook-Id","value":"hush-hush"}]`, "body.headers[0].key", ""},
		"header Host":        {ref, ok + `,"headers":[{"key":"host","value":"hush-hush"}]`, "body.headers[0].key", ""},
		"header X-Trunkline": {ref, ok + `,"headers":[{"key":"X-Trunkline-Event","value":"hush-hush"}]`, "body.headers[0].key", ""},
		"header masked":      {ref, ok + `,"headers":[{"key":"a","value":"••••"}]`, "body.headers[0].value", "masked"},
		"header unkeyed":     {ref, ok + `,"headers":[{"value":"hush-hush"}]`, "body.headers[0].key", "required"},
		"header long":        {ref, ok + `,"headers":[{"key":"a","value":"` + strings.Repeat("hush-hush", 1000) + `"}]`, "body.headers[0].value", ""},
		"too many headers":   {ref, ok + `,"headers":[` + strings.TrimSuffix(strings.Repeat(`{"key":"a","value":"1"},`, 51), ",") + `]`, "body.headers", "50"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for path, body := range map[string]string{
				"/references/hookconf":        fmt.Sprintf(`{"id":"%d",%s}`, c.ref, c.body),
				"/references/registerWebHook": fmt.Sprintf(`{"reference":%d,%s}`, c.ref, c.body),
			} {
				a := ana.call(t, "POST", path, body)
				p := a.problem(422, "validation")
				require.Equal(t, c.location, p.Errors[0].Location, a.Body.String())
				require.Contains(t, p.Errors[0].Message, c.says)
				require.NotContains(t, a.Body.String(), "hush-hush")
			}
		})
	}
	for name, c := range map[string]struct{ more, location string }{
		"event":          {`"events":["message","hush-hush"]`, "body.events[1]"},
		"no event":       {`"events":[]`, "body.events"},
		"include":        {`"include":["hush-hush"]`, "body.include[0]"},
		"short secret":   {`"secret":"whsec_aHVzaA=="`, "body.secret"},
		"unprefixed":     {`"secret":"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`, "body.secret"},
		"unknown member": {`"secrets":"hush-hush"`, "body.secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,%s,%s}`, ref, ok, c.more))
			require.Equal(t, c.location, a.problem(422, "validation").Errors[0].Location)
			require.NotContains(t, a.Body.String(), "hush-hush")
		})
	}
	for _, id := range []string{`"0"`, `0`, `-1`, `"x"`, `""`, `"1.0"`, `1.0`, `null`, `true`, `{}`, `"99999999999999999999"`, `1e3`} {
		a := ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%s,%s}`, id, ok))
		require.Equal(t, "body.id", a.problem(422, "validation").Errors[0].Location, id)
	}
}

// TestWebhooksOfOthers are not found.
func TestWebhooksOfOthers(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana, ben := f.as(t, "ana"), f.as(t, "ben")
	ref := ana.sandbox(t)
	ep := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":"https://example.org/"}`, ref)).json(201)["endpointId"].(string)
	for _, r := range [][3]string{
		{"POST", "/references/hookconf", fmt.Sprintf(`{"id":"%d","webhook":"https://example.org/"}`, ref)},
		{"POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":"https://example.org/"}`, ref)},
		{"GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), ""},
		{"PATCH", "/references/hookconf/" + ep, `{"enabled":false}`},
		{"DELETE", "/references/hookconf/" + ep, ""},
	} {
		ben.call(t, r[0], r[1], r[2]).problem(404, "not_found")
	}
	require.Equal(t, "ok", ana.call(t, "GET", fmt.Sprintf("/references/hookconf?reference=%d", ref), "").json(200)["items"].([]any)[0].(map[string]any)["state"])
}

// TestEcho delivers to the built-in receiver.
func TestEcho(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		echo := fmt.Sprintf("/sandbox/%d/echo", ref)
		ana.call(t, "GET", echo, "").is(200, `{"items":[],"next":null}`)
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":"%d","webhook":%q,"headers":[{"key":"X-Key","value":"hush-hush"}]}`, ref, echoURL)).json(200)
		in := ana.write(t, ref, "ana", "Hello")
		out := ana.send(t, ref, "Hi")["id"]
		var items []any
		ana.until(t, func() bool {
			a := ana.call(t, "GET", echo, "")
			require.NotContains(t, a.Body.String(), "hush-hush")
			items = a.json(200)["items"].([]any)
			return len(items) == 3
		})
		var got []string
		for i := len(items) - 1; i >= 0; i-- { // the newest is first
			item := items[i].(map[string]any)
			headers := map[string]any{}
			for _, h := range item["headers"].([]any) {
				headers[h.(map[string]any)["key"].(string)] = h.(map[string]any)["value"]
			}
			require.Equal(t, "••••", headers["X-Key"])
			require.Equal(t, fmt.Sprint(ref), headers["X-Trunkline-Reference"])
			require.Equal(t, fmt.Sprint(len(got)+1), headers["X-Trunkline-Sequence"])
			body := item["body"].(map[string]any)
			got = append(got, fmt.Sprintf("%v %v %v", headers["X-Trunkline-Event"], body["id"], body["status"]))
		}
		require.Equal(t, []string{
			fmt.Sprintf("message %s DELIVERED", in), fmt.Sprintf("message %s SENDING", out), fmt.Sprintf("status %s DELIVERED", out),
		}, got)
		ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/echo", ana.reference(t, reference(cloudNumber("851")))), "").problem(422, "unsupported")
	})
}

// TestDelivery has a receiver that verifies what it gets, before and after a
// rotation.
func TestDelivery(t *testing.T) {
	t.Parallel()
	type delivery struct {
		header http.Header
		body   []byte
	}
	onDatabases(t, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }, func(t *testing.T, f fixture) {
		got := make(chan delivery, 100)
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got <- delivery{r.Header, body}
		}))
		defer receiver.Close()
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref, other := ana.sandbox(t), ben.sandbox(t)
		ep := ana.call(t, "POST", "/references/registerWebHook",
			fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"],"headers":[{"key":"Authorization","value":"Bearer x"}]}`, ref, receiver.URL)).json(201)
		ben.write(t, other, "ana", "for ben")
		in := ana.write(t, ref, "ana", "one")
		d := <-got
		require.NoError(t, webhook.Verify(ep["secret"].(string), d.header, d.body, time.Now()))
		require.Equal(t, "Bearer x", d.header.Get("Authorization"))
		require.Equal(t, "application/json", d.header.Get("Content-Type"))
		require.Equal(t, "message", d.header.Get("X-Trunkline-Event"))
		require.Equal(t, fmt.Sprint(ref), d.header.Get("X-Trunkline-Reference"))
		var payload map[string]any
		require.NoError(t, json.Unmarshal(d.body, &payload))
		want := fmt.Sprintf(`{"reference":%d,"ref":%d,"remoteJid":"ana::single","chatId":"ana@sandbox","mine":false,"id":%q,"pushName":"ana","verifiedBizName":"",
			"messageTimestamp":"<now>","type":"text","status":"DELIVERED","text":"one"}`, ref, ref, in)
		var w any
		require.NoError(t, json.Unmarshal([]byte(want), &w))
		alike(t, "$", w, any(payload), string(d.body))

		rotated := ana.call(t, "PATCH", "/references/hookconf/"+ep["endpointId"].(string), `{"rotateSecret":true}`).json(200)["secret"].(string)
		ana.write(t, ref, "ana", "two")
		d = <-got
		require.NoError(t, webhook.Verify(rotated, d.header, d.body, time.Now()))
		require.NoError(t, webhook.Verify(ep["secret"].(string), d.header, d.body, time.Now()), "the old secret signs for a while")
		ana.erase(t, fmt.Sprintf("/reference/%d", ref))
		ana.call(t, "PATCH", "/references/hookconf/"+ep["endpointId"].(string), `{}`).problem(404, "not_found")
	})
}
