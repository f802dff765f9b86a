package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSandbox lets a contact write each type.
func TestSandbox(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		path := fmt.Sprintf("/sandbox/%d/messages", ref)
		ana.call(t, "GET", path, "").is(200, `{"items":[],"next":null}`)
		ana.call(t, "GET", path+"?from=nobody", "").problem(404, "not_found")
		sent := ana.send(t, ref, "Hello?")["id"]
		for _, c := range []struct{ content, words, more string }{
			{`"type":"text","text":"Yes"`, "Yes", ""},
			{`"type":"location","latitude":1.5,"longitude":-2`, "Location: 1.5, -2", `,"location":{"latitude":1.5,"longitude":-2}`},
			{
				`"type":"location","latitude":1.5,"longitude":-2,"name":"Tower","address":"Quay 1"`, "Location: Tower, Quay 1 (1.5, -2)",
				`,"location":{"latitude":1.5,"longitude":-2,"name":"Tower","address":"Quay 1"}`,
			},
			{fmt.Sprintf(`"type":"reaction","messageId":%q,"emoji":"👍"`, sent), "Reacted with 👍", fmt.Sprintf(`,"reaction":{"messageId":%q,"emoji":"👍"}`, sent)},
			{`"type":"reply","id":"y","title":"Yes"`, "Yes", `,"reply":{"id":"y","title":"Yes"}`},
		} {
			ana.call(t, "POST", path, `{"from":"ana","pushName":"Ana",`+c.content+`}`).is(201, `{"success":true,"id":"<≈sandbox->"}`)
			record := message(ref, false, "DELIVERED", c.words, c.more)
			ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&limit=1", ref), "").is(200, `{"items":[`+record+`],"next":"<text>"}`)
		}
		shown := ana.call(t, "GET", path+"?from=ana&limit=2", "").json(200)
		require.Equal(t, "out", shown["items"].([]any)[0].(map[string]any)["direction"])
		rest := ana.call(t, "GET", path+"?from=ana&cursor="+shown["next"].(string), "").json(200)
		require.Len(t, rest["items"], 3)
		last := rest["items"].([]any)[2].(map[string]any)
		require.Equal(t, map[string]any{
			"direction": "in", "id": sent, "chatId": "ana@sandbox", "type": "text", "text": "Hello?", "status": "READ",
			"messageTimestamp": last["messageTimestamp"], "reactions": []any{map[string]any{"emoji": "👍", "mine": false}},
		}, last, "what a contact was sent counts as read when he writes")
	})
}

// TestSandboxChanges edits, deletes and reacts from both sides, and shows that
// an answer is being written.
func TestSandboxChanges(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.reference(t, `{"name":"Late","type":"provider-sandbox","settings":{"lateIds":"true"}}`)
		path := fmt.Sprintf("/sandbox/%d/messages", ref)
		write := func(body string) string {
			return ana.call(t, "POST", path, `{"from":"ana",`+body+`}`).json(201)["id"].(string)
		}
		about := func(kind, id any, more string) string {
			return fmt.Sprintf(`"type":%q,"messageId":%q%s`, kind, id, more)
		}
		item := func(id any) map[string]any {
			for _, i := range ana.call(t, "GET", path+"?from=ana", "").json(200)["items"].([]any) {
				if i := i.(map[string]any); i["id"] == id {
					return i
				}
			}
			require.Fail(t, "it is not shown", id)
			return nil
		}
		hers := write(`"type":"text","text":"Helo"`)
		a := ana.call(t, "POST", "/chats/send?wait=0", sendBody(ref, "ana", `{"type":"text","text":"Hi"}`)).json(200)["message"].(map[string]any)
		first := a["id"]
		require.Regexp(t, "^out-", first)
		require.Equal(t, "PENDING", a["status"])
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", "{"+about("edit", first, `,"text":"Hi Ana"`)+"}")).json(200)
		late := ana.call(t, "GET", path+"?from=ana", "").json(200)["items"].([]any)[0].(map[string]any)
		require.Regexp(t, "^sandbox-", late["id"])
		require.Equal(t, "Hi Ana", late["text"])
		require.Equal(t, true, late["edited"])

		write(about("edit", hers, `,"text":"Hello"`))
		write(about("reaction", late["id"], `,"emoji":"👍"`))
		ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", "{"+about("reaction", hers, `,"emoji":"🎉"`)+"}")).json(200)
		require.Equal(t, "Hello", item(hers)["text"])
		require.Equal(t, []any{map[string]any{"emoji": "🎉", "mine": true}}, item(hers)["reactions"])
		require.Equal(t, []any{map[string]any{"emoji": "👍", "mine": false}}, item(late["id"])["reactions"])
		record := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=ana&limit=3", ref), "").json(200)["items"].([]any)[2].(map[string]any)
		require.Equal(t, []any{"Hello", map[string]any{"messageId": hers}}, []any{record["text"], record["edited"]})

		place := write(`"type":"location","latitude":1,"longitude":2`)
		for name, body := range map[string]string{
			"nothing":         about("edit", "nothing", `,"text":"x"`),
			"not hers":        about("edit", first, `,"text":"x"`),
			"no text":         about("edit", place, `,"text":"x"`),
			"nothing to undo": about("revoke", late["id"], ""),
			"no message":      about("reaction", record["id"], `,"emoji":"x"`),
		} {
			p := ana.call(t, "POST", path, `{"from":"ana",`+body+`}`).problem(422, "validation")
			require.Equal(t, "body.messageId", p.Errors[0].Location, name)
		}
		ana.call(t, "POST", path, `{"from":"ben",`+about("revoke", hers, "")+`}`).problem(422, "validation")
		write(about("revoke", hers, ""))
		require.Equal(t, []any{"This message was deleted", true}, []any{item(hers)["text"], item(hers)["deleted"]})
		ana.call(t, "POST", path, `{"from":"ana",`+about("revoke", hers, "")+`}`).problem(422, "validation")

		typing := fmt.Sprintf("/sandbox/%d/typing", ref)
		ana.call(t, "GET", typing, "").is(200, `{"items":[],"next":null}`)
		ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana","typing":true}`, ref)).is(200, `{"success":true,"unread":0}`)
		shown := ana.call(t, "GET", typing, "").json(200)["items"].([]any)
		require.Equal(t, "ana@sandbox", shown[0].(map[string]any)["chatId"])
		ana.send(t, ref, "There")
		ana.call(t, "GET", typing, "").is(200, `{"items":[],"next":null}`)
	})
}

// TestSandboxTemplates hands templates in, and sends what fits them.
func TestSandboxTemplates(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		hand := func(name string) answer {
			return ana.call(t, "POST", "/templates", fmt.Sprintf(`{"reference":%d,"name":%q,"category":"utility","language":"en",
				"components":[{"type":"BODY","text":"Hello {{1}}!","example":{"body_text":[["Ana"]]}}]}`, ref, name))
		}
		send := func(template string) answer {
			return ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"template","template":`+template+`}`))
		}
		require.Equal(t, "body.message.template.name", send(call("hello", "en", `[]`)).problem(422, "validation").Errors[0].Location)
		require.Equal(t, "APPROVED", hand("hello").json(201)["status"])
		rejected := hand("rejected_hello").json(201)
		require.Equal(t, []any{"REJECTED", "INVALID_FORMAT"}, []any{rejected["status"], rejected["reason"]})
		hand("hello").problem(502, "provider_error")
		require.Equal(t, "body.name", hand("Hello").problem(422, "validation").Errors[0].Location)

		const ben = `[{"type":"body","parameters":[{"type":"text","text":"Ben"}]}]`
		for at, template := range map[string]string{
			"name":                        call("rejected_hello", "en", ben),
			"language.code":               call("hello", "de", ben),
			"language.policy":             `{"name":"hello","language":{"code":"en","policy":"fallback"},"components":` + ben + `}`,
			"namespace":                   `{"name":"hello","namespace":"x","language":{"code":"en"},"components":` + ben + `}`,
			"components":                  call("hello", "en", `[]`),
			"components[0].parameters[1]": call("hello", "en", `[{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`),
		} {
			require.Equal(t, "body.message.template."+at, send(template).problem(422, "validation").Errors[0].Location)
			preview := ana.call(t, "POST", "/templates/preview", fmt.Sprintf(`{"reference":%d,"template":%s}`, ref, template))
			require.Equal(t, "body.template."+at, preview.problem(422, "validation").Errors[0].Location)
		}
		sent := send(`{"name":"hello","language":{"code":"en","policy":"deterministic"},"components":` + ben + `}`).json(200)
		require.Equal(t, "Hello Ben!", sent["message"].(map[string]any)["text"])
		items := ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d&status=REJECTED", ref), "").json(200)["items"].([]any)
		require.Len(t, items, 1)
		gone := fmt.Sprintf("/templates?reference=%d&name=hello", ref)
		ana.call(t, "DELETE", gone, "").is(200, `{"success":true}`)
		ana.call(t, "DELETE", gone, "").problem(404, "not_found")
	})
}

// TestChatTextsAreCleared by null and by an empty text.
func TestChatTextsAreCleared(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.write(t, ref, "ben", "hi")
		change := func(more string) []any {
			chat := ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ben"%s}`, ref, more)).json(200)
			return []any{chat["language"], chat["name"]}
		}
		for _, empty := range []string{"null", `""`} {
			require.Equal(t, []any{"de", "Benjamin"}, change(`,"language":"de","name":"Benjamin"`))
			require.Equal(t, []any{"de", "Benjamin"}, change(""), "absent, they stay")
			require.Equal(t, []any{nil, "Benjamin"}, change(`,"language":`+empty))
			require.Equal(t, []any{nil, "ben"}, change(`,"name":`+empty))
		}
		for at, more := range map[string]string{"body.language": `,"language":7`, "body.name": `,"name":["x"]`} {
			a := ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ben"%s}`, ref, more))
			require.Equal(t, at, a.problem(422, "validation").Errors[0].Location)
		}
		long := ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ben","language":%q}`, ref, strings.Repeat("x", 36)))
		require.Equal(t, "body.language", long.problem(422, "validation").Errors[0].Location)
	})
}

// TestSandboxRefused lists what a contact cannot write.
func TestSandboxRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	ref := ana.sandbox(t)
	cloud := ana.reference(t, reference(cloudNumber("860")))
	for name, c := range map[string]struct{ body, location string }{
		"array":          {`["hush-hush"]`, "body"},
		"null":           {`null`, "body.from"},
		"nobody":         {`{"type":"text","text":"hush-hush"}`, "body.from"},
		"number":         {`{"from":7,"type":"text","text":"hush-hush"}`, "body.from"},
		"no name":        {`{"from":"hush hush","type":"text","text":"x"}`, "body.from"},
		"long name":      {`{"from":"` + strings.Repeat("x", 65) + `","type":"text","text":"x"}`, "body.from"},
		"NUL":            {`{"from":"a\u0000","type":"text","text":"x"}`, "body.from"},
		"name":           {`{"from":"ana","name":["hush-hush"],"type":"text","text":"x"}`, "body.name"},
		"no type":        {`{"from":"ana"}`, "body.type"},
		"type":           {`{"from":"ana","type":"hush-hush"}`, "body.type"},
		"sent only":      {`{"from":"ana","type":"template","template":{}}`, "body.type"},
		"no text":        {`{"from":"ana","type":"text"}`, "body.text"},
		"unknown member": {`{"from":"ana","type":"text","text":"x","hush":"hush-hush"}`, "body.hush"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), c.body)
			p := a.problem(422, "validation")
			require.Len(t, p.Errors, 1)
			require.Equal(t, c.location, p.Errors[0].Location)
			require.NotContains(t, a.Body.String(), "hush-hush")
		})
	}
	t.Run("cloud", func(t *testing.T) {
		t.Parallel()
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", cloud), `{"from":"ana","type":"text","text":"x"}`).problem(422, "unsupported")
		ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/messages", cloud), "").problem(422, "unsupported")
	})
}
