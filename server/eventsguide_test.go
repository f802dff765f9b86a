package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestEventsGuide makes an event of every kind on a Cloud API reference and
// compares the bodies that were delivered with those of docs/webhooks.md.
func TestEventsGuide(t *testing.T) {
	t.Parallel()
	const page = "../docs/webhooks.md"
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		shown := eventsShown(t, startTypes(t, db))
		kept, err := os.ReadFile(page)
		require.NoError(t, err)
		bodies := regexp.MustCompile(`(?s)(<!-- events:[^\n]*-->\n).*(<!-- /events -->)`)
		require.Regexp(t, bodies, string(kept))
		want := bodies.ReplaceAllString(string(kept), "${1}"+strings.ReplaceAll(shown, "$", "$$")+"${2}")
		if *update {
			require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
			return
		}
		require.Equal(t, want, string(kept), "run with -update")
	})
}

// eventsShown is the part of the page that shows the bodies.
func eventsShown(t *testing.T, w *typesWorld) string {
	t.Helper()
	kinds := map[string]string{}
	show := func(wanted, title string) {
		kind, _, _ := strings.Cut(wanted, ".")
		kinds[kind] += fmt.Sprintf("\n%s:\n\n<!-- run:%s -->\n```json\n%s\n```\n", title, wanted, wrapped(t, steady(w.first(t, wanted))))
	}
	write := func(file string, in graphtest.Inbound) {
		in.From, in.Name = contact, "Ana"
		if file != "" {
			body := in.Body.(wire)
			body["id"] = w.net.Files.Put("", body["mime_type"].(string), w.file(t, file))
		}
		_, err := w.net.Write(t.Context(), in)
		require.NoError(t, err)
	}
	w.hook.listen(t, w.ana, w.ref, "/all", `["message","status","data","calls","subscription","session"]`)
	w.ana.call(t, "POST", "/extractor", fmt.Sprintf(
		`{"name":"order number","kind":"regex","scope":{"reference":%d},"config":{"pattern":"(?P<order>[A-Z]-\\d+)"}}`, w.ref)).json(201)
	w.ana.bot(t, w.ref, `{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "leads", "name": "Leads", "start": "start",
		"nodes": {
			"start": {"type": "trigger", "config": {"on": [{"kind": "keyword", "keywords": ["bicycle"]}]}, "next": {"out": "lead"}},
			"lead": {"type": "event", "config": {"name": "lead", "data": {"interest": "{{ input.text }}"}}}
		}
	}`)

	write("", graphtest.Inbound{Text: "When does order A-17 arrive?"})
	show("message.text", "A text")
	show("data.order", "The values that an [extractor](extractors.md) found in a message")
	write("cat.png", graphtest.Inbound{Type: "image", Body: wire{"mime_type": "image/png", "caption": "A cat"}})
	show("message.image", "An image")
	write("clip.mp4", graphtest.Inbound{Type: "video", Body: wire{"mime_type": "video/mp4", "caption": "Look"}})
	show("message.video", "A video")
	write("offer.pdf", graphtest.Inbound{Type: "document", Body: wire{"mime_type": "application/pdf", "filename": "Offer 7.pdf", "caption": "Our offer"}})
	show("message.document", "A document")
	write("voice.ogg", graphtest.Inbound{Type: "audio", Body: wire{"mime_type": "audio/ogg; codecs=opus", "voice": true}})
	show("message.audio", "An audio")
	write("", graphtest.Inbound{Text: "Hello all", Group: "Y2FwaV9ncm91cA"})
	show("message.group", "A text in a group")
	write("", graphtest.Inbound{Text: "bicycle"})
	show("data.lead", "An `event` node of a [flow](flows.md)")

	send := func(text, clientID string) string {
		status, sent := w.request(t, "POST", "/chats/send", fmt.Sprintf(
			`{"reference":%d,"chatId":%q,"clientId":%q,"message":{"type":"text","text":%q}}`, w.ref, contact, clientID, text))
		require.Equal(t, 200, status, sent)
		return sent["message"].(map[string]any)["id"].(string)
	}
	id := send("Tomorrow before noon.", "order-A-17")
	show("message.mine", "A text that you sent")
	require.NoError(t, w.net.Status(t.Context(), id, "read", 0))
	show("status.READ", "A message that you sent was read")
	require.NoError(t, w.net.Status(t.Context(), send("Until then.", "order-A-18"), "failed", 131026))
	show("status.FAIL", "A message that you sent failed")

	require.NoError(t, w.net.PostChange(t.Context(), "900", "calls", missedCall(contact)))
	show("calls.missed", "A missed call")
	account := w.ana.call(t, "GET", "/account", "").json(200)["id"].(string)
	require.Equal(t, 200, w.ana.pay(t, subscribed("evt_1", 100, account, "active")).Code)
	show("subscription.active", "The account has paid")
	show("session.CONNECTED", "A session is connected")
	var out strings.Builder
	for _, kind := range eventKinds {
		fmt.Fprintf(&out, "\n### `%s`\n%s", kind, kinds[kind])
	}
	return out.String() + "\n"
}

// missedCall is what the network says of a call that nobody took.
func missedCall(from string) map[string]any {
	return map[string]any{"calls": []any{map[string]any{
		"id": "wacid.HBgLMTY1MDU1NTEyMzQVAgA", "from": from, "to": "15550783881", "event": "terminate", "direction": "USER_INITIATED",
		"timestamp": strconv.FormatInt(time.Now().Unix(), 10), "status": "FAILED",
	}}}
}

// first is the first body of all that were delivered which is of a kind and
// says something.
func (w *typesWorld) first(t *testing.T, wanted string) []byte {
	t.Helper()
	kind, says, _ := strings.Cut(wanted, ".")
	var found []byte
	w.hook.until(t, func() bool {
		for _, d := range w.hook.matching(func([]byte) bool { return true }) {
			if d.path == "/all" && d.header.Get("X-Trunkline-Event") == kind && published(d.json(t), says) {
				w.hook.verify(t, []delivered{d})
				found = d.body
				return true
			}
		}
		return false
	}, wanted)
	return found
}

// published says whether an event is what is looked for, by what tells it from the
// others of its kind.
func published(body map[string]any, what string) bool {
	switch what {
	case "mine":
		return body["mine"] == true
	case "group":
		return body["participant"] != nil
	case "order":
		values, _ := body["values"].(map[string]any)
		return values["order"] != nil
	case "lead":
		return body["event"] != nil
	}
	return body["type"] == what || body["status"] == what || body["state"] == what
}

// steady replaces what is another in each run, or on another machine: ids,
// times, addresses of files, and what a program beside the server makes.
func steady(body []byte) []byte {
	for _, r := range []struct{ what, by string }{
		{`"wamid\.[^"]+"`, `"wamid.HBgLMTY1MDU1NTEyMzQVAgASGBQzQQ=="`},
		{`"out-[0-9a-f-]{36}"`, `"out-01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44"`},
		{`"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"`, `"01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44"`},
		{`"(messageTimestamp|timestamp|at)":\d+`, `"${1}":1772366400`},
		{`files/[^/]+/[^/]+/`, `files/01957f2a-5a36-7c3e-9f0e-0d5b8f1c2a44/1Jx0fQ/`},
		{`\(#131026\) as the test wants: The message was not delivered\.`, `(#131026) Message undeliverable`},
		{`"jpegThumbnail":"[^"]*"`, `"jpegThumbnail":"/9j/2wCEAAUDBAQE"`},
		{`"waveform":"[^"]*"`, `"waveform":"AAUKDxQZHiMoLTI3"`},
	} {
		body = regexp.MustCompile(r.what).ReplaceAll(body, []byte(r.by))
	}
	return body
}

// wrapped writes an object in lines of at most 110 columns, its members in
// their order.
func wrapped(t *testing.T, object []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	_, err := d.Token()
	require.NoError(t, err)
	lines := []string{""}
	for d.More() {
		name, err := d.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
		member := fmt.Sprintf("%q: %s", name, value)
		if d.More() {
			member += ","
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = "  " + member
		case len(*last)+1+len(member) > 110:
			lines = append(lines, "  "+member)
		default:
			*last += " " + member
		}
	}
	return "{\n" + strings.Join(lines, "\n") + "\n}"
}
