package server_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
	"github.com/trunklinehq/trunkline/server"
)

// withWeb is a server with WhatsApp Web on a fake network, and its user ana.
func withWeb(t *testing.T) (*webtest.Server, client) {
	t.Helper()
	fake, config := fakeWeb(t)
	return fake, working(t, setup(t, config)).as(t, "ana")
}

// fakeWeb is a fake network, and what makes a server use it.
func fakeWeb(t *testing.T) (*webtest.Server, func(*server.Config)) {
	t.Helper()
	fake := webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(fake.Close)
	root := fake.RootKey()
	return fake, func(c *server.Config) {
		local(c)
		addWeb(t, c, web.Options{HTTPClient: fake.HTTPClient(), RootKey: &root, Rates: web.Rates{Messages: -1, Outreach: -1}})
	}
}

// session waits until the session of a reference is as done wants, and returns it.
func (c client) session(t *testing.T, ref int, done func(s map[string]any) bool) (s map[string]any) {
	t.Helper()
	c.until(t, func() bool {
		s = c.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)
		return done(s)
	})
	return s
}

// shownQR starts to link a reference, and returns the text of its QR code.
func (c client) shownQR(t *testing.T, ref int) string {
	t.Helper()
	c.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d,"method":"qr"}`, ref)).json(200)
	s := c.session(t, ref, func(s map[string]any) bool { return s["qr"] != nil })
	return s["qr"].(map[string]any)["code"].(string)
}

// TestWebCalls rejects a call by a request and another by a setting, which also
// answers, and tells the integrator who rejected each.
func TestWebCalls(t *testing.T) {
	t.Parallel()
	fake, ana := withWeb(t)
	ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
	owner := fake.AddPhone(nil)
	device, err := owner.Scan(t.Context(), ana.shownQR(t, ref))
	require.NoError(t, err)
	require.NoError(t, device.AwaitActive(t.Context()))
	in := startIntegrator(t)
	in.listen(t, ana, ref, "/", "")
	one := ana.call(t, "GET", fmt.Sprintf("/reference/%d", ref), "").json(200)
	require.Equal(t, true, one["capabilities"].(map[string]any)["calls"])

	maria := fake.AddPhone(&webtest.PhoneOptions{Name: "Maria"})
	chat := maria.JID().String()
	reject := func(chat, call string) answer {
		return ana.call(t, "POST", "/chats/call/reject", fmt.Sprintf(`{"reference":%d,"chatId":%q,"callId":%q}`, ref, chat, call))
	}
	first := maria.Calls().Ring(owner.LID(), false)
	require.Equal(t, first.ID, in.pick(t, "calls", chat, "ringing")["id"])
	require.Equal(t, map[string]any{"reference": float64(ref), "chatId": chat, "id": first.ID, "status": "rejected"}, reject(chat, first.ID).json(200))
	require.NoError(t, maria.Calls().AwaitReject(t.Context(), first))
	require.Equal(t, "api", in.pick(t, "calls", chat, "rejected")["rejectedBy"])
	require.Equal(t, "rejected", reject(maria.JID().User, first.ID).json(200)["status"], "a repeat")
	unknown := reject(chat, "nothing").json(404)
	require.Equal(t, "body.callId", unknown["errors"].([]any)[0].(map[string]any)["location"])
	reject(fake.AddPhone(nil).JID().String(), first.ID).json(404)

	set := func(settings string) answer {
		return ana.call(t, "PATCH", fmt.Sprintf("/reference/%d", ref), `{"settings":`+settings+`}`)
	}
	logins := len(device.Logins())
	wrong := set(`{"calls":{"reject":"maybe","reply":7}}`).json(422)
	require.Equal(t, "body.settings.calls.reply", wrong["errors"].([]any)[0].(map[string]any)["location"])
	changed := set(`{"calls":{"reject":true,"reply":"Please write to us."}}`).json(200)
	require.Equal(t, map[string]any{"calls": map[string]any{"reject": true, "reply": "Please write to us."}}, changed["settings"])
	require.NoError(t, device.AwaitLogins(t.Context(), logins+1))
	second := maria.Calls().Ring(owner.LID(), true)
	require.NoError(t, maria.Calls().AwaitReject(t.Context(), second))
	_, err = maria.AwaitText(t.Context(), "Please write to us.")
	require.NoError(t, err)
	in.until(t, func() bool {
		return slices.ContainsFunc(in.matching(func([]byte) bool { return true }), func(d delivered) bool {
			body := d.json(t)
			return body["id"] == second.ID && body["status"] == "rejected" && body["rejectedBy"] == "setting"
		})
	}, "the setting rejected it")
	page := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s", ref, chat), "").json(200)["items"].([]any)
	require.Len(t, page, 1)
	require.Equal(t, "Please write to us.", page[0].(map[string]any)["text"])

	require.Empty(t, set(`{"calls":null}`).json(200)["settings"])

	sandbox := ana.sandbox(t)
	ana.write(t, sandbox, "maria", "Hello")
	refused := ana.call(t, "POST", "/chats/call/reject", fmt.Sprintf(`{"reference":%d,"chatId":"maria","callId":"c"}`, sandbox)).json(422)
	require.Equal(t, "unsupported", refused["code"])
	require.Empty(t, fake.Unknown())
}
