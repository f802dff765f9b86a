package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
)

// TestSendTypes sends each type to a sandbox, whose phone shows it as sent.
func TestSendTypes(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		for language, text := range map[string]string{"en_US": `Order {{1}} is here.","example":{"body_text":[["7"]]},"x":"`, "en": "Welcome"} {
			ana.call(t, "POST", "/templates", fmt.Sprintf(`{"reference":%d,"name":"welcome","category":"UTILITY","language":%q,
				"components":[{"type":"BODY","text":"%s"}]}`, ref, language, text)).json(201)
		}
		in, own := ana.write(t, ref, "ana", "Hello"), ana.send(t, ref, "Hello you")["id"]
		for _, c := range []struct{ name, content, text, more string }{
			{"text", `{"type":"text","text":"Héllo \"w\u00f6rld\" 👋\nline","previewUrl":true}`, "Héllo \"wörld\" 👋\nline", ""},
			{
				"template", `{"type":"template","template":{"name":"welcome","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"7"}]}]}}`,
				"Order 7 is here.", `,"template":{"name":"welcome","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"7"}]}]}`,
			},
			{"template without components", `{"type":"template","template":{"name":"welcome","language":{"code":"en"}}}`, "Welcome", `,"template":{"name":"welcome","language":{"code":"en"},"components":[]}`},
			{"buttons", `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"},{"id":"n","title":"No"}]}`, "Sure?\n1. Yes\n2. No", ""},
			{
				"list", `{"type":"list","text":"Which?","button":"Choose","sections":[{"title":"All","rows":[{"id":"1","title":"One","description":"first"},{"id":"2","title":"Two"}]}]}`,
				"Which?\n1. One – first\n2. Two", "",
			},
			{
				"location", `{"type":"location","latitude":38.7,"longitude":-9.1,"name":"Shop","address":"Rua 1"}`, "Location: Shop, Rua 1 (38.7, -9.1)",
				`,"location":{"latitude":38.7,"longitude":-9.1,"name":"Shop","address":"Rua 1"}`,
			},
			{
				"reaction", fmt.Sprintf(`{"type":"reaction","messageId":%q,"emoji":"👍"}`, in), "Reacted with 👍",
				fmt.Sprintf(`,"reaction":{"messageId":%q,"emoji":"👍"}`, in),
			},
			{
				"contacts", `{"type":"contacts","contacts":[{"name":{"formattedName":"Ben Silva"},"phones":[{"phone":"+351 21","type":"WORK"}]}]}`,
				"Contact: Ben Silva", `,"contacts":[{"name":{"formattedName":"Ben Silva"},"phones":[{"phone":"+351 21","type":"WORK"}]}]`,
			},
			{
				"poll", `{"type":"poll","question":"Which day?","options":["Mon","Tue"],"multiple":true}`, "Which day?\n1. Mon\n2. Tue",
				`,"poll":{"question":"Which day?","options":["Mon","Tue"],"multiple":true}`,
			},
			{"edit", fmt.Sprintf(`{"type":"edit","messageId":%q,"text":"Hi"}`, own), "Hi", fmt.Sprintf(`,"edited":{"messageId":%q}`, own)},
			{
				"revoke", fmt.Sprintf(`{"type":"revoke","messageId":%q}`, own), "This message was deleted",
				fmt.Sprintf(`,"revoked":{"messageId":%q}`, own),
			},
			{"interactive", `{"type":"interactive","interactive":{"type":"cta_url","body":{"text":"See"}}}`, "See", ""},
			{"mentions", `{"type":"text","text":"Hi @ben","mentions":["ben@sandbox"]}`, "Hi @ben", ""},
			{"tag", `{"type":"text","text":"Still here","tag":"HUMAN_AGENT"}`, "Still here", ""},
			{
				"reaction removed", fmt.Sprintf(`{"type":"reaction","messageId":%q,"emoji":""}`, in), "Reaction removed",
				fmt.Sprintf(`,"reaction":{"messageId":%q,"emoji":""}`, in),
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				record := strings.Replace(message(ref, true, "DELIVERED", c.text, c.more), `"pushName":"Ana"`, `"pushName":"ana"`, 1)
				sent := ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", c.content)).
					is(200, `{"success":true,"message":`+record+`}`)["message"].(map[string]any)
				if strings.Contains(c.content, `"messageId"`) {
					return // it changes another: TestSandboxChanges
				}
				shown := ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/messages?from=ana&limit=1", ref), "").json(200)
				item := fmt.Sprintf(`{"direction":"in","id":%q,"chatId":"ana@sandbox","status":"DELIVERED","messageTimestamp":"<now>",%s`,
					sent["id"], strings.TrimPrefix(c.content, "{"))
				ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/messages?from=ana&limit=1", ref), "").
					is(200, fmt.Sprintf(`{"items":[%s],"next":"<text>"}`, item))
				require.NotNil(t, shown["next"])
			})
		}
		for _, message := range []string{
			fmt.Sprintf(`{"type":"edit","messageId":%q,"text":"Hi"}`, in), `{"type":"revoke","messageId":"nothing"}`,
		} {
			p := ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", message)).problem(422, "validation")
			require.Equal(t, "body.message.messageId", p.Errors[0].Location)
		}
	})
}

// TestSendRefused lists messages that break a rule; nothing of them is stored.
func TestSendRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	ref := ana.sandbox(t)
	t.Run("messages", func(t *testing.T) { refuseMessages(t, ana, ref) })
	require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").Body.String())
}

func refuseMessages(t *testing.T, ana client, ref int) {
	t.Helper()
	for name, c := range map[string]struct{ message, location string }{
		"null":                {`null`, "body.message.type"},
		"text":                {`"hush-hush"`, "body.message"},
		"array":               {`["hush-hush"]`, "body.message"},
		"no type":             {`{"text":"hush-hush"}`, "body.message.type"},
		"null type":           {`{"type":null}`, "body.message.type"},
		"number as type":      {`{"type":7}`, "body.message.type"},
		"unknown type":        {`{"type":"hush-hush"}`, "body.message.type"},
		"received only":       {`{"type":"reply","id":"1","title":"hush-hush"}`, "body.message.type"},
		"no text":             {`{"type":"text"}`, "body.message.text"},
		"blank text":          {`{"type":"text","text":" \n"}`, "body.message.text"},
		"number as text":      {`{"type":"text","text":7}`, "body.message.text"},
		"unknown member":      {`{"type":"text","text":"hush-hush","extra":"hush-hush"}`, "body.message.extra"},
		"NUL only":            {`{"type":"text","text":"\u0000"}`, "body.message.text"},
		"no template":         {`{"type":"template"}`, "body.message.template.name"},
		"template as text":    {`{"type":"template","template":"hush-hush"}`, "body.message.template"},
		"no language":         {`{"type":"template","template":{"name":"hush-hush"}}`, "body.message.template.language.code"},
		"unknown in template": {`{"type":"template","template":{"name":"a","language":{"code":"en"},"extra":1}}`, "body.message.template.extra"},
		"no buttons":          {`{"type":"buttons","text":"a"}`, "body.message.buttons"},
		"four buttons":        {`{"type":"buttons","text":"a","buttons":[{"id":"1","title":"1"},{"id":"2","title":"2"},{"id":"3","title":"3"},{"id":"4","title":"4"}]}`, "body.message.buttons"},
		"button twice":        {`{"type":"buttons","text":"a","buttons":[{"id":"1","title":"1"},{"id":"1","title":"2"}]}`, "body.message.buttons[1].id"},
		"button untitled":     {`{"type":"buttons","text":"a","buttons":[{"id":"1"}]}`, "body.message.buttons[0].title"},
		"button as text":      {`{"type":"buttons","text":"a","buttons":["hush-hush"]}`, "body.message.buttons"},
		"no sections":         {`{"type":"list","text":"a","button":"b"}`, "body.message.sections"},
		"no list button":      {`{"type":"list","text":"a","sections":[{"rows":[{"id":"1","title":"1"}]}]}`, "body.message.button"},
		"row untitled":        {`{"type":"list","text":"a","button":"b","sections":[{"rows":[{"id":"1"}]}]}`, "body.message.sections[0].rows[0].title"},
		"off the map":         {`{"type":"location","latitude":91,"longitude":0}`, "body.message.latitude"},
		"beside the map":      {`{"type":"location","latitude":1,"longitude":-181}`, "body.message.longitude"},
		"nowhere":             {`{"type":"location"}`, "body.message.latitude"},
		"latitude as text":    {`{"type":"location","latitude":"hush-hush","longitude":1}`, "body.message.latitude"},
		"react to nothing":    {`{"type":"reaction","emoji":"👍"}`, "body.message.messageId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", c.message))
			p := a.problem(422, "validation")
			require.Equal(t, c.location, p.Errors[0].Location, a.Body.String())
			require.NotContains(t, a.Body.String(), "hush-hush")
			a = ana.call(t, "POST", "/chats/send?dryRun=1", sendBody(ref, "ana", c.message))
			require.Equal(t, c.location, a.problem(422, "validation").Errors[0].Location)
		})
	}
}

// TestSendWithoutWaiting gives back our own id.
func TestSendWithoutWaiting(t *testing.T) {
	t.Parallel()
	f := setup(t, nil) // nobody works
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	var m map[string]any
	testkit.Within(t, messaging.DefaultWait, "a send that does not wait", func() {
		m = ana.call(t, "POST", "/chats/send?wait=0", sendBody(ref, "ana", `{"type":"text","text":"x"}`)).json(200)["message"].(map[string]any)
	})
	require.Equal(t, "PENDING", m["status"])
	require.Nil(t, m["error"])
	start := time.Now()
	m = ana.call(t, "POST", "/chats/send?wait=1", sendBody(ref, "ana", `{"type":"text","text":"y"}`)).json(200)["message"].(map[string]any)
	require.Equal(t, "PENDING", m["status"])
	require.Greater(t, time.Since(start), time.Second)
	for _, wait := range []string{"-1", "31", "x", "1.5", "99999999999999999999"} {
		ana.call(t, "POST", "/chats/send?wait="+wait, sendBody(ref, "ana", `{"type":"text","text":"x"}`)).problem(422, "validation")
	}
}

// TestDryRun says what would become of a message, and sends nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, nil))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.call(t, "POST", "/chats/send?dryRun=1", sendBody(ref, "ana", `{"type":"text","text":"x"}`)).
		is(200, `{"allowed":true,"reason":null,"sentAs":"text","earliest":null,"windowExpiresAt":null}`)
	ana.call(t, "POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	ana.call(t, "POST", "/chats/send?dryRun=1", sendBody(ref, "ana", `{"type":"text","text":"x"}`)).
		is(200, `{"allowed":false,"reason":"session_not_connected","sentAs":"text","earliest":null,"windowExpiresAt":null}`)
	for _, bad := range []string{"2", "true", "-1"} {
		ana.call(t, "POST", "/chats/send?dryRun="+bad, sendBody(ref, "ana", `{"type":"text","text":"x"}`)).problem(422, "validation")
	}
	// A message that the answer would quote has to be there, dry or not.
	unknown := fmt.Sprintf(`{"reference":%d,"chatId":"ana","message":{"type":"text","text":"x"},"context":{"messageId":"nothing"}}`, ref)
	ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	for _, query := range []string{"", "?dryRun=1"} {
		p := ana.call(t, "POST", "/chats/send"+query, unknown).problem(404, "not_found")
		require.Equal(t, "body.context.messageId", p.Errors[0].Location, query)
	}
	require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").Body.String())
}

// TestIdempotency repeats requests under a key.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		ref, other := ana.sandbox(t), ben.sandbox(t)
		body := sendBody(ref, "ana", `{"type":"text","text":"once"}`)
		first := ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", "key-1")
		require.Empty(t, first.Header().Values("Idempotent-Replayed"))
		want := first.json(200)
		for _, same := range []string{body, sendBody(ref, " ANA@sandbox", `{"text":"once",  "type":"text"}`)} {
			again := ana.call(t, "POST", "/chats/send", same, "Idempotency-Key", "key-1")
			require.Equal(t, want, again.json(200))
			require.Equal(t, "true", again.Header().Get("Idempotent-Replayed"))
		}
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"text","text":"other"}`), "Idempotency-Key", "key-1").problem(409, "conflict")
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ben", `{"type":"text","text":"once"}`), "Idempotency-Key", "key-1").problem(409, "conflict")
		// Another account has keys of its own.
		a := ben.call(t, "POST", "/chats/send", sendBody(other, "ana", `{"type":"text","text":"once"}`), "Idempotency-Key", "key-1")
		a.json(200)
		require.Empty(t, a.Header().Values("Idempotent-Replayed"))
		// A refused request is not remembered.
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"text"}`), "Idempotency-Key", "key-2").problem(422, "validation")
		a = ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", "key-2")
		a.json(200)
		require.Empty(t, a.Header().Values("Idempotent-Replayed"))

		for _, key := range []string{"with space", "ünicode", "tab\there", strings.Repeat("x", 256)} {
			p := ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", key).problem(422, "validation")
			require.Equal(t, "header.Idempotency-Key", p.Errors[0].Location)
		}
		ana.call(t, "POST", "/chats/send", body, "Idempotency-Key", strings.Repeat("~", 255)).json(200)
		items := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana", ref), "").json(200)["items"]
		require.Len(t, items, 3)
	})
}

// TestIdempotencyTogether sends one key many times at once.
func TestIdempotencyTogether(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		answers := make([]answer, 16)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				for range 5 { // where the first takes long, a repeat is told to come again
					answers[i] = ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"text","text":"once"}`), "Idempotency-Key", "k")
					if answers[i].Header().Get("Retry-After") == "" {
						return
					}
				}
			})
		}
		wg.Wait()
		fresh, id := 0, answers[0].json(200)["message"].(map[string]any)["id"]
		for _, a := range answers {
			m := a.json(200)["message"].(map[string]any)
			require.Equal(t, id, m["id"])
			require.NotEqual(t, "PENDING", m["status"], "a repeat waits for the first")
			if a.Header().Get("Idempotent-Replayed") == "" {
				fresh++
			}
		}
		require.Equal(t, 1, fresh)
	})
}
