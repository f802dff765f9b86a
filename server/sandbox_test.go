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
			{fmt.Sprintf(`"type":"reaction","messageId":%q,"emoji":"👍"`, sent), "Reacted with 👍", fmt.Sprintf(`,"reaction":{"messageId":%q,"emoji":"👍"}`, sent)},
			{`"type":"reply","id":"y","title":"Yes"`, "Yes", `,"reply":{"id":"y","title":"Yes"}`},
		} {
			ana.call(t, "POST", path, `{"from":"ana","name":"Ana",`+c.content+`}`).is(201, `{"success":true,"id":"<≈sandbox->"}`)
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
			"messageTimestamp": last["messageTimestamp"],
		}, last, "what a contact was sent counts as read when he writes")
	})
}

// TestSandboxRefused lists what a contact cannot write.
func TestSandboxRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	ref := ana.sandbox(t)
	cloud := ana.line(t, reference(cloudLine("860")))
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
