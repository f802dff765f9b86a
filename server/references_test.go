package server_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// session is the session of a number of which nothing is known but its state.
func session(ref int, state, connected string) string {
	return fmt.Sprintf(`{"reference":%d,"state":%q,"qr":null,"pairingCode":null,"account":null,"connectedAt":%s,
		"health":{"lastInboundAt":null,"lastAckAt":null,"lastProbeAt":null},"lastError":null,"node":null}`, ref, state, connected)
}

func sandboxReference(ref int, name string) string {
	return fmt.Sprintf(`{"id":%d,"name":%q,"type":"provider-sandbox","settings":{},"session":%s,
		"capabilities":{"send":["text","template","buttons","list","location","contacts","reaction","edit","revoke","poll","interactive","image","video","document","audio","sticker"],"media":"<object>","window":null,
			"templates":true,"groups":true,"typing":true,"receipts":true,"calls":false},
		"createdAt":"<now>","updatedAt":"<now>"}`, ref, name, session(ref, "CONNECTED", `"<now>"`))
}

func cloudReference(ref int, name, session string) string {
	return fmt.Sprintf(`{"id":%d,"name":%q,"type":"provider-cloud",
		"settings":{"phoneNumberId":"700","businessAccountId":"70099","accessToken":"••••-700","appSecret":"••••-700","verifyToken":"••••-700"},
		"session":%s,
		"capabilities":{"send":["text","image","video","audio","document","sticker","template","buttons","list","location","contacts","reaction","interactive"],
			"media":{"image":5242880,"video":16777216,"audio":16777216,"document":104857600,"sticker":512000},
			"window":24,"templates":true,"groups":true,"typing":true,"receipts":true,"calls":false},
		"createdAt":"<now>","updatedAt":"<now>"}`, ref, name, session)
}

// TestReferences walks through the life of two references.
func TestReferences(t *testing.T) {
	t.Parallel()
	number := cloudNumber("700")
	g := startGraph(t, &graphtest.Options{Numbers: []graphtest.Number{number}})
	onDatabases(t, func(c *server.Config) { c.GraphURL = g.URL }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", "/reference/list", "").Body.String())
		made := ana.call(t, "POST", "/reference", `{"name":" Shop ","type":"provider-sandbox","settings":{}}`)
		shop := int(made.json(201)["id"].(float64))
		made.is(201, sandboxReference(shop, "Shop"))
		made = ana.call(t, "POST", "/reference", reference(number))
		cloud := int(made.json(201)["id"].(float64))
		made.is(201, cloudReference(cloud, "Cloud", session(cloud, "STARTING", "null")))

		one, two := fmt.Sprintf("/reference/%d", shop), fmt.Sprintf("/reference/%d", cloud)
		ana.call(t, "GET", one, "").is(200, sandboxReference(shop, "Shop"))
		ana.call(t, "GET", "/reference/list", "").is(200, fmt.Sprintf(`{"items":[%s,%s],"next":null}`,
			sandboxReference(shop, "Shop"), cloudReference(cloud, "Cloud", session(cloud, "STARTING", "null"))))
		ana.call(t, "GET", "/reference/list?type=provider-sandbox", "").is(200, fmt.Sprintf(`{"items":[%s],"next":null}`, sandboxReference(shop, "Shop")))
		first := ana.call(t, "GET", "/reference/list?limit=1", "").is(200, fmt.Sprintf(`{"items":[%s],"next":"<text>"}`, sandboxReference(shop, "Shop")))
		second := ana.call(t, "GET", "/reference/list?limit=1&cursor="+first["next"].(string), "").json(200)
		require.EqualValues(t, cloud, second["items"].([]any)[0].(map[string]any)["id"])
		require.Nil(t, second["next"])

		ana.call(t, "PATCH", one, `{"name":"Store"}`).is(200, sandboxReference(shop, "Store"))
		ana.call(t, "PATCH", one, `{}`).is(200, sandboxReference(shop, "Store"))
		// Masked secrets that come back unchanged stay what they were.
		ana.call(t, "PATCH", two, `{"settings":{"accessToken":"••••-700","appSecret":"••••-700"}}`).json(200)
		connected := fmt.Sprintf(`{"reference":%d,"state":"CONNECTED","qr":null,"pairingCode":null,
			"account":{"id":"700","name":"+1 555-078-3881","verifiedBizName":"Example Shop"},"connectedAt":"<now>",
			"health":{"lastInboundAt":null,"lastAckAt":null,"lastProbeAt":"<now>","reports":[
				{"kind":"access_token","level":"good","message":"<≈VALID>","at":"<now>"},
				{"kind":"phone_number","level":"good","message":"<≈GREEN>","at":"<now>"}]},"lastError":null,"node":null}`, cloud)
		body := fmt.Sprintf(`{"reference":%d}`, cloud)
		ana.call(t, "POST", "/reference/session/start", body).is(200, connected)
		ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", cloud), "").is(200, connected)
		out := ana.call(t, "POST", "/reference/session/logout", body).json(200)
		require.Equal(t, "LOGGED_OUT", out["state"])
		require.Nil(t, out["connectedAt"])
		ana.call(t, "POST", "/chats/send", sendBody(cloud, "16505551234", `{"type":"text","text":"x"}`)).problem(409, "session_not_connected")
		ana.call(t, "POST", "/reference/session/start", body).is(200, connected)

		require.Equal(t, true, ana.call(t, "DELETE", one, "").json(202)["success"])
		for _, method := range []string{"GET", "DELETE"} {
			ana.call(t, method, one, "").problem(404, "not_found")
		}
		ana.call(t, "PATCH", one, `{"name":"x"}`).problem(404, "not_found")
	})
}

// TestStartRefused shows a network's refusal in its own words.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	good, stranger := cloudNumber("710"), cloudNumber("710")
	stranger.AccessToken = "token-of-nobody"
	g := startGraph(t, &graphtest.Options{Numbers: []graphtest.Number{good}})
	f := setup(t, func(c *server.Config) { c.GraphURL = g.URL })
	ana := f.as(t, "ana")
	ref := ana.reference(t, reference(stranger))
	out := ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	require.Equal(t, "FAILED", out["state"])
	failed := out["lastError"].(map[string]any)
	require.Equal(t, "credentials", failed["code"])
	require.Contains(t, failed["message"], "Invalid OAuth access token")
	require.Nil(t, failed["retryAt"])
	ana.call(t, "POST", "/chats/send", sendBody(ref, "16505551234", `{"type":"text","text":"x"}`)).problem(409, "session_not_connected")

	// Other credentials, and it works.
	ana.call(t, "PATCH", fmt.Sprintf("/reference/%d", ref), fmt.Sprintf(`{"settings":{"accessToken":%q}}`, good.AccessToken)).json(200)
	out = ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
	require.Equal(t, "CONNECTED", out["state"])
	require.Nil(t, out["lastError"])
}

// TestReferenceRefused lists what a reference cannot be made from.
func TestReferenceRefused(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	settings := func(phone, account, token, secret, verify string) string {
		return fmt.Sprintf(`{"name":"x","type":"provider-cloud","settings":{"phoneNumberId":%q,"businessAccountId":%q,"accessToken":%q,"appSecret":%q,"verifyToken":%q}}`,
			phone, account, token, secret, verify)
	}
	for name, c := range map[string]struct{ body, location string }{
		"no type":          {`{"name":"x"}`, "body.type"},
		"unknown type":     {`{"name":"x","type":"provider-pigeon"}`, "body.type"},
		"no name":          {`{"type":"provider-sandbox"}`, "body.name"},
		"blank name":       {`{"name":"  ","type":"provider-sandbox"}`, "body.name"},
		"no token":         {settings("1", "2", "", "s", "v"), "body.settings.accessToken"},
		"masked secret":    {settings("1", "2", "t", "••••abcd", "v"), "body.settings.appSecret"},
		"phone is no id":   {settings("a b", "2", "t", "s", "v"), "body.settings.phoneNumberId"},
		"account is no id": {settings("1", "../me", "t", "s", "v"), "body.settings.businessAccountId"},
		"unknown setting":  {`{"name":"x","type":"provider-sandbox","settings":{"token":"hush-hush"}}`, "body.settings.token"},
		"not a string":     {`{"name":"x","type":"provider-sandbox","settings":{"token":7}}`, "body.settings.token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ana.call(t, "POST", "/reference", c.body)
			p := a.problem(422, "validation")
			require.Len(t, p.Errors, 1)
			require.Equal(t, c.location, p.Errors[0].Location)
			require.NotContains(t, a.Body.String(), "hush-hush")
		})
	}
	require.JSONEq(t, `{"items":[],"next":null}`, ana.call(t, "GET", "/reference/list", "").Body.String())
}

// TestProxyScheme refuses the address of a proxy that nothing could go through,
// and names the setting but not its value.
func TestProxyScheme(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	body := func(proxy string) string {
		return fmt.Sprintf(`{"name":"W","type":"provider-web","settings":{"proxyUrl":%q}}`, proxy)
	}
	for _, proxy := range []string{"ftp://user:hush@proxy.example:21", "socks4://proxy.example", "proxy.example:1080", "http://", "file:///etc/passwd", "://x", "SOCKS"} {
		p := ana.call(t, "POST", "/reference", body(proxy)).problem(422, "validation")
		require.Contains(t, fmt.Sprint(p), "settings.proxyUrl")
		require.Contains(t, fmt.Sprint(p), "http, https, socks5")
		require.NotContains(t, fmt.Sprint(p), "hush")
	}
	for _, proxy := range []string{"http://user:hush@proxy.example:3128", "https://proxy.example", "socks5://proxy.example:1080"} {
		made := ana.call(t, "POST", "/reference", body(proxy)).json(201)
		ana.call(t, "PATCH", fmt.Sprintf("/reference/%v", made["id"]), `{"settings":{"proxyUrl":"gopher://proxy.example"}}`).problem(422, "validation")
	}
}
