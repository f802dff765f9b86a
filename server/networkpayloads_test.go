package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
	"github.com/trunklinehq/trunkline/server"
)

// The whole payloads of Cloud API references and pages are compared by
// TestTypesReceived, TestTypesSent and their siblings for pages; those of the
// other networks here.

// pick is the payload of the first event of a kind in a chat that says
// something, as [told] has it.
func (in *integrator) pick(t *testing.T, kind, chat, what string) map[string]any {
	t.Helper()
	var found map[string]any
	in.until(t, func() bool {
		for _, d := range in.matching(func([]byte) bool { return true }) {
			body := d.json(t)
			if d.header.Get("X-Trunkline-Event") == kind && body["chatId"] == chat && published(body, what) {
				in.verify(t, []delivered{d})
				found = body
				return true
			}
		}
		return false
	}, "%s of %s: %s", kind, chat, what)
	return found
}

// TestPayloadsOfSandbox compares what is told of a simulated contact.
func TestPayloadsOfSandbox(t *testing.T) {
	t.Parallel()
	ana := working(t, setup(t, local)).as(t, "ana")
	in := startIntegrator(t)
	ref := ana.sandbox(t)
	in.listen(t, ana, ref, "/", "")
	ana.extractor(t, ref, "regex", `{"pattern":"(?P<order>[A-Z]-\\d+)"}`)
	const maria = "maria@sandbox"
	id := ana.write(t, ref, "maria", "Where is order A-17?")
	data := in.pick(t, "data", maria, "order")
	ana.call(t, "POST", "/chats/read", fmt.Sprintf(`{"reference":%d,"chatId":%q}`, ref, maria)).json(200)
	read := in.pick(t, "status", maria, "READ")
	ana.call(t, "POST", "/chats/send", sendBody(ref, maria, `{"type":"text","text":"On its way."}`)).json(200)
	mine := in.pick(t, "message", maria, "mine")
	golden(t, "networks/sandbox", []wire{
		{"event": "message", "payload": in.pick(t, "message", maria, "text")},
		{"event": "data", "payload": data},
		{"event": "status", "payload": read},
		{"event": "message", "payload": mine},
		{"event": "status", "payload": in.pick(t, "status", maria, "DELIVERED")},
	}, map[string]string{id: "<message>", mine["id"].(string): "<answer>", data["extractor"].(map[string]any)["id"].(string): "<extractor>"})
}

// TestPayloadsOfWeb compares what is told of contacts whose number is known, of
// contacts whose number is hidden, and of a group with both.
func TestPayloadsOfWeb(t *testing.T) {
	t.Parallel()
	fake := webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(fake.Close)
	root := fake.RootKey()
	ana := working(t, setup(t, func(c *server.Config) {
		local(c)
		addWeb(t, c, web.Options{HTTPClient: fake.HTTPClient(), RootKey: &root, Rates: web.Rates{Messages: -1, Outreach: -1}})
	})).as(t, "ana")
	ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
	ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d,"method":"qr"}`, ref)).json(200)
	var code map[string]any
	ana.until(t, func() bool {
		code, _ = ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)["qr"].(map[string]any)
		return code != nil
	})
	owner := fake.AddPhone(nil)
	device, err := owner.Scan(t.Context(), code["code"].(string))
	require.NoError(t, err)
	require.NoError(t, device.AwaitActive(t.Context()))
	in := startIntegrator(t)
	in.listen(t, ana, ref, "/", "")

	known := fake.AddPhone(&webtest.PhoneOptions{Name: "Ana"})
	hidden := fake.AddPhone(&webtest.PhoneOptions{Name: "Eve", Hidden: true})
	names := map[string]string{}
	say := func(from *webtest.Phone, to types.JID) {
		id, err := from.SendText(t.Context(), to, "Hello")
		require.NoError(t, err)
		names[id] = "<message>"
	}
	byNumber, byLID := known.JID().String(), hidden.LID().String()
	say(known, owner.JID())
	say(hidden, owner.LID())
	group := known.Groups().Create(webtest.GroupOptions{Subject: "Friends", Members: []*webtest.Phone{owner, hidden}})
	say(hidden, group)
	call := known.Calls().Ring(owner.JID(), false)
	known.Calls().HangUp(call, "timeout")
	names[call.ID], names[group.User] = "<call>", "<group>"
	came := []wire{
		{"event": "message", "payload": in.pick(t, "message", byNumber, "text")},
		{"event": "calls", "payload": in.pick(t, "calls", byNumber, "missed")},
		{"event": "message", "payload": in.pick(t, "message", byLID, "text")},
		{"event": "message", "payload": in.pick(t, "message", group.String(), "group")},
	}
	ana.call(t, "POST", "/chats/send", sendBody(ref, byLID, `{"type":"text","text":"Hello, Eve"}`)).json(200)
	mine := in.pick(t, "message", byLID, "mine")
	names[mine["id"].(string)] = "<answer>"
	hidden.Read(owner.LID(), types.EmptyJID, mine["id"].(string))
	happened := append(
		came,
		wire{"event": "message", "payload": mine},
		wire{"event": "status", "payload": in.pick(t, "status", byLID, "READ")},
	)
	raw, err := json.Marshal(happened)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"`+hidden.JID().User, "the number is hidden")
	golden(t, "networks/web", happened, names)
}
