package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// two is the body of a reference with the two values that it needs.
func two(l graphtest.Number) string {
	return fmt.Sprintf(`{"name":"Shop","type":"provider-cloud","settings":{"phoneNumberId":%q,"accessToken":%q}}`, l.PhoneNumberID, l.AccessToken)
}

// issues are the kinds of the reports of a reference's or session's health.
func issues(session any) []string {
	reports, _ := session.(map[string]any)["health"].(map[string]any)["reports"].([]any)
	out := []string{}
	for _, r := range reports {
		if r := r.(map[string]any); r["level"] != "good" && r["level"] != "news" {
			out = append(out, r["kind"].(string))
		}
	}
	return out
}

func hello(l graphtest.Number, id string) string {
	return text(l.PhoneNumberID, l.BusinessAccountID, contact, id, "Hello")
}

// oneApp gives all references the secret and the token of an app.
func oneApp(g *graphtest.Server) func(*server.Config) {
	return func(c *server.Config) {
		c.GraphURL, c.MetaAppSecret, c.MetaVerifyToken = g.URL, "the app's own secret", "the app's own word"
	}
}

// TestOnboarding_TwoValues: the token and the phone number id are enough where
// the server has the secret of the app.
func TestOnboarding_TwoValues(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := cloudNumber("860")
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l}})
		f := setupOn(t, db, oneApp(g))
		ana := f.as(t, "ana")
		made := ana.call(t, "POST", "/reference", two(l)).json(201)
		ref := int(made["id"].(float64))
		require.Equal(t, wire{"phoneNumberId": "860", "businessAccountId": "86099", "accessToken": "••••-860"}, made["settings"])
		require.Empty(t, issues(made["session"]))

		require.Equal(t, 200, f.post(t, hello(l, "wamid.1"), "the app's own secret").Code)
		require.Equal(t, []string{"Hello"}, ana.texts(t, ref))
		require.Equal(t, 401, f.post(t, hello(l, "wamid.2"), "another secret").Code)
		session := ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		require.Equal(t, "CONNECTED", session["state"])
		require.Empty(t, issues(session))

		a := f.do(t, "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=the+app%27s+own+word", "")
		require.Equal(t, 200, a.Code)
		require.Equal(t, "1158201444", a.Body.String())
		require.Equal(t, 403, f.do(t, "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1&hub.verify_token=the+app", "").Code)
		require.NotContains(t, f.log.String(), "own secret")
		require.NotContains(t, f.log.String(), "own word")
	})
}

// TestOnboarding_NoSecret: the reference exists, says that callbacks are
// refused, and they are until a secret is set.
func TestOnboarding_NoSecret(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := cloudNumber("861")
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l}})
		f := setupOn(t, db, func(c *server.Config) { c.GraphURL = g.URL })
		ana := f.as(t, "ana")
		made := ana.call(t, "POST", "/reference", two(l)).json(201)
		ref := int(made["id"].(float64))
		require.Equal(t, []string{"callbacks.unverified"}, issues(made["session"]))
		status := fmt.Sprintf("/reference/session/status?reference=%d", ref)
		require.Contains(t, fmt.Sprint(ana.call(t, "GET", status, "").json(200)), "callbacks are refused")
		for _, secret := range []string{"", "x", l.AppSecret, "••••"} {
			f.post(t, hello(l, "wamid.1"), secret).problem(401, "unauthorized")
		}
		require.Equal(t, 403, f.do(t, "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1&hub.verify_token=", "").Code)
		require.Empty(t, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"])
		session := ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		require.Equal(t, "CONNECTED", session["state"])
		require.Equal(t, []string{"callbacks.unverified"}, issues(session))
		p := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true,"callbackUrl":"https://shop.test/in"}`, ref)).problem(422, "validation")
		require.Equal(t, []string{"body.callbackUrl"}, locations(p))

		ana.call(t, "PATCH", fmt.Sprintf("/reference/%d", ref), fmt.Sprintf(`{"settings":{"appSecret":%q}}`, l.AppSecret)).json(200)
		require.Equal(t, 200, f.post(t, hello(l, "wamid.1"), l.AppSecret).Code)
		require.Equal(t, []string{"Hello"}, ana.texts(t, ref))
		require.Empty(t, issues(ana.call(t, "GET", status, "").json(200)))
	})
}

// TestOnboarding_FlagsBetweenStarts: the secret of all references is no part of
// their rows, and one of a reference's own goes before it.
func TestOnboarding_FlagsBetweenStarts(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l, own := cloudNumber("862"), cloudNumber("863")
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l, own}})
		start := func(secret, token server.Secret) fixture {
			return setupOn(t, db, func(c *server.Config) { c.GraphURL, c.MetaAppSecret, c.MetaVerifyToken = g.URL, secret, token })
		}
		handshake := func(f fixture, token string) int {
			return f.do(t, "GET", "/webhooks/provider?hub.mode=subscribe&hub.challenge=1&hub.verify_token="+token, "").Code
		}
		f := start("", "")
		ana := f.as(t, "ana")
		ana.reference(t, two(l))
		ana.reference(t, reference(own))
		require.Equal(t, []int{401, 403}, []int{f.post(t, hello(l, "wamid.1"), "first").Code, handshake(f, "word")})
		f = start("first", "word")
		require.Equal(t, []int{200, 200}, []int{f.post(t, hello(l, "wamid.1"), "first").Code, handshake(f, "word")})
		require.Equal(t, []int{401, 200}, []int{f.post(t, hello(own, "wamid.2"), "first").Code, f.post(t, hello(own, "wamid.2"), own.AppSecret).Code})
		require.Equal(t, 200, handshake(f, own.VerifyToken))
		f = start("second", "phrase")
		require.Equal(t, []int{401, 403}, []int{f.post(t, hello(l, "wamid.3"), "first").Code, handshake(f, "word")})
		require.Equal(t, []int{200, 200}, []int{f.post(t, hello(l, "wamid.3"), "second").Code, handshake(f, "phrase")})
	})
}

// TestOnboarding_AccountUnknown: a token that names no account costs templates,
// not the reference; once the network tells, they are there.
func TestOnboarding_AccountUnknown(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l := cloudNumber("864")
		l.AllAccounts, l.AppSecret = true, "the app's own secret"
		var f fixture
		into := into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) }))
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l}, Callback: "http://trunkline.test/webhooks/provider", HTTPClient: into})
		f = working(t, setupOn(t, db, oneApp(g)))
		ana := f.as(t, "ana")
		made := ana.call(t, "POST", "/reference", two(l)).json(201)
		ref := int(made["id"].(float64))
		require.Equal(t, []string{"account.unknown"}, issues(made["session"]))
		require.NotContains(t, made["settings"], "businessAccountId")
		session := ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		require.Equal(t, "CONNECTED", session["state"])
		require.Equal(t, []string{"account.unknown"}, issues(session))
		_, err := g.Write(t.Context(), graphtest.Inbound{From: contact, Text: "Hello"})
		require.NoError(t, err)
		ana.call(t, "POST", "/chats/send", sendBody(ref, contact, `{"type":"text","text":"Hi"}`)).json(200)
		templates := fmt.Sprintf("/templates?reference=%d", ref)
		require.Contains(t, ana.call(t, "GET", templates, "").problem(422, "unsupported").Detail, "businessAccountId")
		ana.call(t, "POST", "/templates", fmt.Sprintf(`{"reference":%d,"name":"a","category":"MARKETING","language":"en","components":[{"type":"BODY","text":"Hi"}]}`, ref)).problem(422, "unsupported")
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true}`, ref)).problem(422, "unsupported")

		patched := ana.call(t, "PATCH", fmt.Sprintf("/reference/%d", ref), fmt.Sprintf(`{"settings":{"businessAccountId":%q}}`, l.BusinessAccountID)).json(200)
		require.Empty(t, issues(patched["session"]))
		ana.call(t, "GET", templates, "").json(200)
	})
}

// TestOnboarding_NetworkComesBack: a network that does not answer costs the
// creation nothing, and is asked again at the start of the session.
func TestOnboarding_NetworkComesBack(t *testing.T) {
	t.Parallel()
	l := cloudNumber("865")
	g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l}})
	g.Fail(graphtest.Fault{Path: "/debug_token", Code: 2, Message: "Service temporarily unavailable"})
	f := setup(t, oneApp(g))
	ana := f.as(t, "ana")
	made := ana.call(t, "POST", "/reference", two(l)).json(201)
	require.Equal(t, []string{"account.unknown"}, issues(made["session"]))
	session := ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%v}`, made["id"])).json(200)
	require.Equal(t, "CONNECTED", session["state"])
	require.Empty(t, issues(session))
	require.Equal(t, l.BusinessAccountID, ana.call(t, "GET", fmt.Sprintf("/reference/%v", made["id"]), "").json(200)["settings"].(map[string]any)["businessAccountId"])
}

// TestOnboarding_StrangerWithoutToken: who does not know the secret of the app
// gets a number's messages only with a token that may read the number.
func TestOnboarding_StrangerWithoutToken(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		l, theirs := cloudNumber("866"), cloudNumber("867")
		g := startGraph(t, &graphOptions{Numbers: []graphtest.Number{l, theirs}})
		f := setupOn(t, db, oneApp(g))
		const app = "the app's own secret"
		eve := f.as(t, "eve")
		junk, foreign := l, l
		junk.AccessToken, foreign.AccessToken = "junk", theirs.AccessToken
		refs := []int{eve.reference(t, two(junk)), eve.reference(t, two(foreign)), eve.reference(t, strings.Replace(two(junk), `"settings":{`, `"settings":{"businessAccountId":"86699",`, 1))}
		f.post(t, hello(l, "wamid.1"), app).problem(401, "unauthorized")
		ana := f.as(t, "ana")
		ref := ana.reference(t, two(l))
		require.Equal(t, 200, f.post(t, hello(l, "wamid.1"), app).Code)
		require.Equal(t, []string{"Hello"}, ana.texts(t, ref))
		for _, id := range refs {
			require.Empty(t, eve.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", id), "").json(200)["items"])
		}
	})
}

// TestReferenceRefused_NamesAll names all that is missing or wrong at once.
func TestReferenceRefused_NamesAll(t *testing.T) {
	t.Parallel()
	ana := setup(t, nil).as(t, "ana")
	for body, want := range map[string][]string{
		`{"name":"x","type":"provider-cloud"}`:                                                       {"body.settings.accessToken", "body.settings.phoneNumberId"},
		`{"type":"provider-cloud","settings":{"phoneNumberId":"a","businessAccountId":"b","x":"y"}}`: {"body.name", "body.settings.accessToken", "body.settings.businessAccountId", "body.settings.phoneNumberId", "body.settings.x"},
		`{"name":" ","type":"provider-pigeon"}`:                                                      {"body.name", "body.type"},
		`{"name":"","type":"provider-messenger","colour":1}`:                                         {"body.colour", "body.name", "body.settings.accessToken", "body.settings.pageId"},
		`{"settings":{"accessToken":7}}`:                                                             {"body.name", "body.settings.accessToken", "body.type"},
		`{"name":"x","type":"provider-cloud","settings":{"accessToken":7,"phoneNumberId":"1"}}`:      {"body.settings.accessToken"},
	} {
		require.ElementsMatch(t, want, locations(ana.call(t, "POST", "/reference", body).problem(422, "validation")), body)
	}
	require.Empty(t, ana.call(t, "POST", "/reference", `{`).problem(400, "validation").Errors[1:], "a body that is no JSON has no members")
	ref := ana.reference(t, reference(cloudNumber("868")))
	p := ana.call(t, "PATCH", fmt.Sprintf("/reference/%d", ref), `{"name":" ","settings":{"phoneNumberId":"x","accessToken":"","colour":"red"}}`).problem(422, "validation")
	require.ElementsMatch(t, []string{"body.name", "body.settings.phoneNumberId", "body.settings.accessToken", "body.settings.colour"}, locations(p))
}
