package server_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// text is a callback with one text from a contact.
func text(number, account, from, id, words string) string {
	return fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":"messages","value":{
		"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881","phone_number_id":%q},
		"contacts":[{"profile":{"name":"Sheena"},"wa_id":%q}],
		"messages":[{"from":%q,"id":%q,"timestamp":"1749416383","type":"text","text":{"body":%q}}]}}]}]}`,
		account, number, from, from, id, words)
}

// post posts a callback, signed with secret unless that is "".
func (f fixture) post(t *testing.T, body, secret string, header ...string) answer {
	t.Helper()
	if secret != "" {
		header = append(header, graph.SignatureHeader, graph.Sign(secret, []byte(body)))
	}
	return f.do(t, "POST", "/webhooks/provider", body, header...)
}

// texts are those of the contact's chat, oldest first; none when there is no
// chat.
func (c client) texts(t *testing.T, ref int) []string {
	t.Helper()
	out := []string{}
	a := c.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=200", ref, contact), "")
	if a.Code == 404 {
		return out
	}
	items := a.json(200)["items"].([]any)
	for i := len(items) - 1; i >= 0; i-- {
		out = append(out, items[i].(map[string]any)["text"].(string))
	}
	return out
}

// TestCallback takes a text and shows it.
func TestCallback(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		number := cloudNumber("800")
		ref := ana.reference(t, reference(number))
		body := text("800", "80099", "16505551234", "wamid.1", "Hello")
		for range 2 { // the second is a repeat
			a := f.post(t, body, number.AppSecret)
			require.Equal(t, 200, a.Code, a.Body.String())
			require.Empty(t, a.Body.String())
		}
		record := fmt.Sprintf(`{"reference":%d,"ref":%d,"remoteJid":"16505551234::single","chatId":"16505551234","mine":false,"id":"wamid.1","pushName":"Sheena","verifiedBizName":"",
			"messageTimestamp":1749416383,"type":"text","status":"DELIVERED","text":"Hello","direction":"in","actor":"contact","error":null}`, ref, ref)
		ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%%2B1+650-555+1234", ref), "").is(200, `{"items":[`+record+`],"next":null}`)
		ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").is(200, fmt.Sprintf(`{"items":[{"id":"16505551234","reference":%d,"name":"Sheena",
			"kind":"individual","phone":"16505551234","unread":1,"botActive":1,"activeBot":null,"handoff":null,"variables":{},"tags":[],"fields":{},
			"language":null,"optedOut":false,"lastMessage":%s,"windowExpiresAt":1749502783,"createdAt":"<now>","updatedAt":"<now>"}],"next":null}`, ref, record))
		// The first callback proves that the number is in touch with its network.
		out := ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)
		require.Equal(t, "CONNECTED", out["state"])
		require.NotNil(t, out["connectedAt"])
	})
}

// TestCallbackRefused lists what is no callback of a number here.
func TestCallbackRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	number := cloudNumber("801")
	ref := ana.reference(t, reference(number))
	hello := text("801", "80199", "16505551234", "wamid.1", "hush-hush")
	good := graph.Sign(number.AppSecret, []byte(hello))
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		code   string
	}{
		"no signature":         {hello, nil, 401, "unauthorized"},
		"empty signature":      {hello, []string{graph.SignatureHeader, ""}, 401, "unauthorized"},
		"other algorithm":      {hello, []string{"X-Hub-Signature", "sha1=" + strings.Repeat("0", 40)}, 401, "unauthorized"},
		"short signature":      {hello, []string{graph.SignatureHeader, good[:20]}, 401, "unauthorized"},
		"no hex":               {hello, []string{graph.SignatureHeader, "sha256=" + strings.Repeat("z", 64)}, 401, "unauthorized"},
		"upper case":           {hello, []string{graph.SignatureHeader, strings.ToUpper(good)}, 401, "unauthorized"},
		"wrong secret":         {hello, []string{graph.SignatureHeader, graph.Sign("another", []byte(hello))}, 401, "unauthorized"},
		"no secret":            {hello, []string{graph.SignatureHeader, graph.Sign("", []byte(hello))}, 401, "unauthorized"},
		"other body":           {hello + " ", []string{graph.SignatureHeader, good}, 401, "unauthorized"},
		"unknown number":       {text("1", "2", "3", "4", "5"), []string{graph.SignatureHeader, graph.Sign(number.AppSecret, []byte(text("1", "2", "3", "4", "5")))}, 401, "unauthorized"},
		"no entries":           {`{"object":"whatsapp_business_account"}`, []string{graph.SignatureHeader, good}, 401, "unauthorized"},
		"no JSON":              {`hush-hush`, nil, 400, "validation"},
		"cut off":              {hello[:100], nil, 400, "validation"},
		"array":                {`[` + hello + `]`, nil, 400, "validation"},
		"null":                 {`null`, nil, 400, "validation"},
		"text":                 {`"hush-hush"`, nil, 400, "validation"},
		"empty":                {``, nil, 400, "validation"},
		"spaces":               {"  \n ", nil, 400, "validation"},
		"two values":           {hello + hello, nil, 400, "validation"},
		"deep":                 {`{"object":"whatsapp_business_account","entry":` + strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000) + `}`, nil, 400, "validation"},
		"one byte over":        {hello + strings.Repeat(" ", 4<<20-len(hello)+1), nil, 413, "payload_too_large"},
		"entry is no array":    {`{"object":"whatsapp_business_account","entry":7}`, nil, 0, ""},
		"change is no object":  {`{"object":"whatsapp_business_account","entry":[{"id":"80199","changes":[7,null,"x"]}]}`, nil, 401, ""},
		"value is no object":   {`{"object":"whatsapp_business_account","entry":[{"id":"80199","changes":[{"field":"messages","value":[]}]}]}`, nil, 401, ""},
		"id is no text":        {`{"object":"whatsapp_business_account","entry":[{"id":{"a":1},"changes":[]}]}`, nil, 0, ""},
		"NUL in ids":           {strings.ReplaceAll(hello, `"801`, `"801\u0000`), nil, 401, ""},
		"invalid UTF-8 in ids": {strings.Replace(hello, `"801"`, "\"80\xff1\"", 1), nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := f.do(t, "POST", "/webhooks/provider", c.body, c.header...)
			if c.code == "" {
				require.Contains(t, []int{400, 401}, a.Code, a.Body.String())
				return
			}
			p := a.problem(c.status, c.code)
			require.NotContains(t, a.Body.String(), "hush-hush")
			if c.status == 413 {
				require.Contains(t, p.Detail, "4 MiB")
			}
		})
	}
	t.Run("two signatures", func(t *testing.T) {
		t.Parallel()
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/webhooks/provider", strings.NewReader(hello))
		req.Header[graph.SignatureHeader] = []string{good, good}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, req)
		require.Equal(t, 401, w.Code)
	})
	for method, status := range map[string]int{"PUT": 405, "DELETE": 405, "PATCH": 405, "OPTIONS": 405} {
		require.Equal(t, status, f.do(t, method, "/webhooks/provider", "").Code)
	}
	require.Empty(t, ana.texts(t, ref))
}

// TestCallbackOfExactlyTheBound is taken, whatever its content type.
func TestCallbackOfExactlyTheBound(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	number := cloudNumber("802")
	ref := ana.reference(t, reference(number))
	body := text("802", "80299", "16505551234", "wamid.1", "Hello")
	body += strings.Repeat(" ", 4<<20-len(body))
	require.Equal(t, 200, f.post(t, body, number.AppSecret, "Content-Type", "text/plain").Code)
	require.Equal(t, []string{"Hello"}, ana.texts(t, ref))
}

// TestCallbackOfOthers is answered with 200: nothing here is for us, and a
// network would repeat what is refused.
func TestCallbackOfOthers(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, object := range []string{`"instagram"`, `"user"`, `"whatsapp"`, `7`, `null`, `{"a":1}`} {
		a := f.do(t, "POST", "/webhooks/provider", `{"object":`+object+`,"entry":[{"id":"1","messaging":[{}]}]}`)
		require.Equal(t, 200, a.Code, object)
	}
	require.Equal(t, 200, f.do(t, "POST", "/webhooks/provider", `{}`).Code)
}

// TestCallbackBatch has a message that cannot be read between others, another
// number's entry, and one of a number that nobody here has.
func TestCallbackBatch(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		mine, his := cloudNumber("803"), cloudNumber("804")
		his.AppSecret = mine.AppSecret // two numbers of one app
		one, two := ana.reference(t, reference(mine)), ben.reference(t, reference(his))
		entry := func(number, messages string) string {
			return fmt.Sprintf(`{"id":"%s99","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"phone_number_id":%q},"messages":[%s]}}]}`, number, number, messages)
		}
		m := func(id, words string) string {
			return fmt.Sprintf(`{"from":"16505551234","id":%q,"timestamp":"1749416383","type":"text","text":{"body":%q}}`, id, words)
		}
		body := `{"object":"whatsapp_business_account","entry":[` + strings.Join([]string{
			entry("803", m("a", "one")+`,{"from":["odd"],"id":7,"type":{}},"odd",null,`+m("b", "two")),
			entry("804", m("a", "his")),
			entry("805", m("c", "nobody's")),
			entry("803", m("b", "again")+`,`+strings.Replace(m("d", "three"), "three", `three\u0000\ud83d`, 1)),
			`{"id":"80399","changes":[{"field":"something_new","value":{"metadata":{"phone_number_id":"803"}}}]}`,
		}, ",") + `]}`
		require.Equal(t, 200, f.post(t, body, mine.AppSecret).Code)
		require.Equal(t, []string{"one", "two", "three\ufffd"}, ana.texts(t, one))
		require.Equal(t, []string{"his"}, ben.texts(t, two))
		require.Contains(t, metrics(t, f), `trunkline_received_total{kind="provider-cloud",what="dead"} `)
	})
}

// TestHandshake answers the verification of a callback's address.
func TestHandshake(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	number := cloudNumber("806")
	ref := ana.reference(t, reference(number))
	query := func(mode, token, challenge string) string {
		return "/webhooks/provider?" + url.Values{"hub.mode": {mode}, "hub.verify_token": {token}, "hub.challenge": {challenge}}.Encode()
	}
	a := f.do(t, "GET", query("subscribe", number.VerifyToken, "<b>1</b>"), "")
	require.Equal(t, 200, a.Code)
	require.Equal(t, "<b>1</b>", a.Body.String())
	require.Contains(t, a.Header().Get("Content-Type"), "text/plain")
	require.Equal(t, "nosniff", a.Header().Get("X-Content-Type-Options"))
	for _, q := range []string{
		query("subscribe", "hush-hush", "1"), query("subscribe", "", "1"), query("unsubscribe", number.VerifyToken, "1"),
		query("subscribe", number.VerifyToken, ""), query("subscribe", number.VerifyToken+"\x00", "1"), "/webhooks/provider",
		query("subscribe", strings.Repeat("x", 60_000), "1"), "/webhooks/provider?%zz", "/webhooks/provider?hub.verify_token=%ff%fe&hub.mode=subscribe&hub.challenge=1",
	} {
		a := f.do(t, "GET", q, "")
		a.problem(403, "forbidden")
		require.NotContains(t, a.Body.String(), "hush-hush")
	}
	// The token of a reference that is gone is no token.
	ana.erase(t, fmt.Sprintf("/reference/%d", ref))
	f.do(t, "GET", query("subscribe", number.VerifyToken, "1"), "").problem(403, "forbidden")
}
