package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// subscriptions are the requests by which a business account was subscribed.
func subscriptions(g *graphtest.Server) []string {
	out := []string{}
	for _, r := range g.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/subscribed_apps") {
			out = append(out, string(r.Body))
		}
	}
	return out
}

// TestSubscribe tells the network where to post.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		subscribe := func(more string) answer {
			return ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true%s}`, ref, more))
		}
		l, before := cloudNumber("900"), len(subscriptions(g))
		subscribe("").is(200, `{"success":true}`)
		require.Equal(t, []string{""}, subscriptions(g)[before:])

		const callback = "https://shop.test/webhooks/provider" // which ends here too
		subscribe(fmt.Sprintf(`,"callbackUrl":%q`, callback)).is(200, `{"success":true}`)
		override := subscriptions(g)[before+1:]
		require.Len(t, override, 2, "plainly first")
		require.Empty(t, override[0])
		require.JSONEq(t, fmt.Sprintf(`{"override_callback_uri":%q,"verify_token":%q}`, callback, l.VerifyToken), override[1])

		ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		require.Len(t, subscriptions(g), before+3, "a start leaves the address as it is")

		p := subscribe(`,"callbackUrl":"https://shop.test/elsewhere"`).problem(502, "provider_error")
		require.Contains(t, p.Detail, "2200")
		require.Contains(t, p.Detail, "Callback verification failed")
		require.Equal(t, callback, g.Override(l.BusinessAccountID), "a refusal changes nothing")
		subscribe("").is(200, `{"success":true}`)
		require.Empty(t, g.Override(l.BusinessAccountID))

		g.Fail(graphtest.Fault{Path: "/subscribed_apps", Status: 500})
		subscribe("").problem(502, "provider_error")
	})
}

// TestSubscribeRefused lists what is no subscription.
func TestSubscribeRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ref, cloud := ana.sandbox(t), ana.reference(t, reference(cloudNumber("870")))
	post := func(who client, ref int, more string) answer {
		return who.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d%s}`, ref, more))
	}
	post(ana, ref, `,"provider":true`).problem(422, "unsupported")
	post(f.as(t, "ben"), cloud, `,"provider":true`).problem(404, "not_found")
	for more, location := range map[string]string{
		``:                    "body.webhook",
		`,"provider":false`:   "body.webhook",
		`,"provider":"maybe"`: "body.provider",
		`,"webhook":"https://example.org/","callbackUrl":"https://example.org/"`:      "body.callbackUrl",
		`,"provider":true,"webhook":"https://example.org/"`:                           "body.webhook",
		`,"provider":true,"headers":[]`:                                               "body.headers",
		`,"provider":true,"events":["message"]`:                                       "body.events",
		`,"provider":true,"include":[]`:                                               "body.include",
		`,"provider":true,"secret":"x"`:                                               "body.secret",
		`,"provider":true,"callbackUrl":"example.org"`:                                "body.callbackUrl",
		`,"provider":true,"callbackUrl":"ftp://example.org/"`:                         "body.callbackUrl",
		`,"provider":true,"callbackUrl":"https://hush-hush@example.org/"`:             "body.callbackUrl",
		`,"provider":true,"callbackUrl":"https://example.org/#hush-hush"`:             "body.callbackUrl",
		`,"provider":true,"callbackUrl":"https://` + strings.Repeat("x", 2048) + `/"`: "body.callbackUrl",
	} {
		a := post(ana, cloud, more)
		require.Equal(t, location, a.problem(422, "validation").Errors[0].Location, more)
		require.NotContains(t, a.Body.String(), "hush-hush")
	}
}
