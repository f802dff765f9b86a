package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// eventKinds are the kinds of events that the document has to have.
var eventKinds = []string{"message", "status", "data", "calls", "subscription", "session"}

// TestEventsAreDocumented looks at each kind's request: its headers, its body
// with examples that fit, its answers.
func TestEventsAreDocumented(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	d, s := specification(t, f), schemas(t, f)
	require.ElementsMatch(t, eventKinds, keys(d["webhooks"].(map[string]any)))
	for _, kind := range eventKinds {
		require.Equal(t, []string{"post"}, keys(at(t, d, "webhooks", kind).(map[string]any)))
		op := at(t, d, "webhooks", kind, "post").(map[string]any)
		require.Empty(t, op["security"], kind)
		require.NotEmpty(t, op["summary"], kind)
		var headers []string
		for _, p := range op["parameters"].([]any) {
			require.Equal(t, "header", at(t, p, "in"))
			require.Equal(t, true, at(t, p, "required"))
			headers = append(headers, at(t, p, "name").(string))
		}
		require.ElementsMatch(t, deliveryHeaders, headers, kind)
		require.ElementsMatch(t, []string{"2XX", "410", "429", "default"}, keys(op["responses"].(map[string]any)), kind)
		examples := at(t, op, "requestBody", "content", "application/json", "examples").(map[string]any)
		require.NotEmpty(t, examples, kind)
		for name, e := range examples {
			raw, err := json.Marshal(at(t, e, "value"))
			require.NoError(t, err)
			require.NoError(t, s.fitsEvent(t, raw, kind), "%s %s", kind, name)
		}
	}
	message := at(t, d, "components", "schemas", "MessagingMessagePayload")
	require.Equal(t, "type", at(t, message, "discriminator", "propertyName"))
	types := []string{"text", "image", "video", "document", "audio"}
	require.ElementsMatch(t, types, keys(at(t, message, "discriminator", "mapping").(map[string]any)))
	require.Len(t, at(t, message, "oneOf"), len(types))
	examples := at(t, d, "webhooks", "message", "post", "requestBody", "content", "application/json", "examples")
	require.ElementsMatch(t, types, keys(examples.(map[string]any)))
}

var deliveryHeaders = []string{
	"webhook-id", "webhook-timestamp", "webhook-signature", "X-Trunkline-Event", "X-Trunkline-Reference", "X-Trunkline-Sequence",
}

// TestPayloadsFitTheDocument takes what package messaging writes, as its
// golden files have it.
func TestPayloadsFitTheDocument(t *testing.T) {
	t.Parallel()
	s := schemas(t, setup(t, nil))
	files, err := filepath.Glob(filepath.Join("..", "messaging", "testdata", "*.json"))
	require.NoError(t, err)
	seen := map[string]int{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		kind := "message"
		switch {
		case name == "chat":
			require.NoError(t, s.fits(t, raw, "components", "schemas", "MessagingChat"), name)
			continue
		case name == "record":
			require.NoError(t, s.fits(t, raw, "components", "schemas", "MessagingMessage"), name)
			continue
		case strings.HasSuffix(name, "status"), name == "payload-status-failed":
			kind = "status"
		case strings.HasPrefix(name, "payload-call"):
			kind = "calls"
		case strings.HasPrefix(name, "payload-session"):
			kind = "session"
		}
		require.NoError(t, s.fitsEvent(t, raw, kind), name)
		seen[kind]++
	}
	require.Greater(t, seen["message"], 20)
	require.Len(t, seen, 4)
}

// TestPayloadsAreClosed breaks payloads that fit: a member more, a member
// less, null, and the other way to write a length.
func TestPayloadsAreClosed(t *testing.T) {
	t.Parallel()
	s := schemas(t, setup(t, nil))
	for _, kind := range []string{"text", "image", "video", "document", "audio"} {
		raw, err := os.ReadFile(filepath.Join("..", "messaging", "testdata", "payload-"+kind+".json"))
		require.NoError(t, err)
		var whole map[string]any
		require.NoError(t, json.Unmarshal(raw, &whole))
		broken := func(what string, change func(p map[string]any)) {
			p := map[string]any{}
			require.NoError(t, json.Unmarshal(raw, &p))
			change(p)
			b, err := json.Marshal(p)
			require.NoError(t, err)
			require.Error(t, s.fitsEvent(t, b, "message"), "%s: %s", kind, what)
		}
		for name := range whole {
			broken("no "+name, func(p map[string]any) { delete(p, name) })
			broken("null "+name, func(p map[string]any) { p[name] = nil })
		}
		for _, name := range []string{"text", "caption", "pageCount", "waveform", "chatId", "surprise"} {
			if _, has := whole[name]; !has {
				broken("with "+name, func(p map[string]any) { p[name] = "x" })
			}
		}
		if n, ok := whole["fileLength"]; ok {
			_, digits := n.(string)
			require.Equal(t, kind != "image", digits, kind)
			broken("length", func(p map[string]any) {
				if p["fileLength"] = "12"; digits {
					p["fileLength"] = 12
				}
			})
		}
		broken("type", func(p map[string]any) { p["type"] = "sticker" })
		broken("status", func(p map[string]any) { p["status"] = "SENT" })
	}
}

// TestDeliveriesFitTheDocument lets a reference live and looks at all that its
// webhook was told.
func TestDeliveriesFitTheDocument(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, nil))
	d, s := specification(t, f), schemas(t, f)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	ana.call(t, "POST", "/references/registerWebHook",
		fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message","status","session"]}`, ref, echoURL)).json(201)
	in := ana.write(t, ref, "ana", "Hello")
	for _, m := range []string{
		`{"from":"ana","type":"location","latitude":38.7,"longitude":-9.1,"name":"Lisbon"}`,
		fmt.Sprintf(`{"from":"ana","type":"reaction","messageId":%q,"emoji":"👍"}`, in),
		`{"from":"ana","type":"reply","id":"y","title":"Yes"}`,
	} {
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), m).json(201)
	}
	ana.send(t, ref, "Hi")
	ana.call(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"buttons","text":"Sure?","buttons":[{"id":"y","title":"Yes"}]}`)).json(200)
	ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":"ana"}`, ref)).json(200)
	ana.call(t, "POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)

	var items []any
	kinds := map[string]int{}
	ana.until(t, func() bool {
		items = ana.call(t, "GET", fmt.Sprintf("/sandbox/%d/echo", ref), "").json(200)["items"].([]any)
		clear(kinds)
		for _, i := range items {
			kinds[headersOf(i).Get("X-Trunkline-Event")]++
		}
		return kinds["message"] == 6 && kinds["status"] == 6 && kinds["session"] == 2
	}, "%v", kinds)
	for _, i := range items {
		h := headersOf(i)
		kind := h.Get("X-Trunkline-Event")
		body, err := json.Marshal(at(t, i, "body"))
		require.NoError(t, err)
		require.NoError(t, s.fitsEvent(t, body, kind), string(body))
		for _, p := range at(t, d, "webhooks", kind, "post", "parameters").([]any) {
			value, err := json.Marshal(h.Get(at(t, p, "name").(string)))
			require.NoError(t, err)
			require.NotEqual(t, `""`, string(value))
			index := slices.Index(deliveryHeaders, at(t, p, "name").(string))
			require.NoError(t, s.fits(t, value, "webhooks", kind, "post", "parameters", fmt.Sprint(index), "schema"))
		}
	}
}

// headersOf are the headers of a delivery as the built-in receiver shows them.
func headersOf(item any) http.Header {
	h := http.Header{}
	for _, p := range item.(map[string]any)["headers"].([]any) {
		p := p.(map[string]any)
		h.Add(p["key"].(string), p["value"].(string))
	}
	return h
}
