package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// client is a user of a server.
type client struct {
	fixture
	token string
}

// as signs up a user with an account of its own.
func (f fixture) as(t *testing.T, name string) client {
	t.Helper()
	return client{f, f.signUp(t, name+"@example.org")}
}

// call sends a request with the user's token.
func (c client) call(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	return c.do(t, method, path, body, append([]string{"Authorization", "Bearer " + c.token}, header...)...)
}

// sandbox makes a sandbox reference and returns its id.
func (c client) sandbox(t *testing.T) int {
	t.Helper()
	return c.reference(t, `{"name":"Shop","type":"provider-sandbox","settings":{}}`)
}

func (c client) reference(t *testing.T, body string) int {
	t.Helper()
	return int(c.call(t, "POST", "/reference", body).json(201)["id"].(float64))
}

// write lets a simulated contact write a text and returns the message's id.
func (c client) write(t *testing.T, ref int, from, text string) string {
	t.Helper()
	a := c.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), fmt.Sprintf(`{"from":%q,"type":"text","text":%q}`, from, text))
	return a.json(201)["id"].(string)
}

// send sends a text to the contact ana and returns its record.
func (c client) send(t *testing.T, ref int, text string) map[string]any {
	t.Helper()
	a := c.call(t, "POST", "/chats/send", sendBody(ref, "ana", fmt.Sprintf(`{"type":"text","text":%q}`, text)))
	return a.json(200)["message"].(map[string]any)
}

func sendBody(ref int, chat, message string) string {
	return fmt.Sprintf(`{"reference":%d,"chatId":%q,"message":%s}`, ref, chat, message)
}

// onDatabases runs fn for each dialect with a server whose workers run.
func onDatabases(t *testing.T, change func(*server.Config), fn func(t *testing.T, f fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, working(t, setupOn(t, db, change)))
	})
}

// working runs the workers of a server until the test ends.
func working(t *testing.T, f fixture) fixture {
	t.Helper()
	workers(t, f)
	return f
}

// workers runs the workers of a server until the test ends or stop is called.
func workers(t *testing.T, f fixture) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

// cloudNumber is a number of the fake network.
func cloudNumber(number string) graphtest.Number {
	return graphtest.Number{
		PhoneNumberID: number, BusinessAccountID: number + "99", AccessToken: "token-of-" + number,
		AppSecret: "app-secret-of-" + number, VerifyToken: "verify-token-of-" + number,
	}
}

// reference is the body that makes a reference of a number.
func reference(l graphtest.Number) string {
	b, err := json.Marshal(map[string]any{
		"name": "Cloud", "type": "provider-cloud",
		"settings": map[string]string{
			"phoneNumberId": l.PhoneNumberID, "businessAccountId": l.BusinessAccountID, "accessToken": l.AccessToken,
			"appSecret": l.AppSecret, "verifyToken": l.VerifyToken,
		},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// startGraph runs a fake network that posts its callbacks into a handler.
func startGraph(t *testing.T, o *graphtest.Options) *graphtest.Server {
	t.Helper()
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	g := graphtest.Start(o)
	t.Cleanup(g.Close)
	return g
}

// into is an http.Client whose requests end in a handler.
func into(h http.Handler) *http.Client { return &http.Client{Transport: transport{h}} }

// is compares an answer with the whole body that is wanted, where a string in
// angle brackets stands for what cannot be known:
//
//	<now>     UNIX seconds of about now
//	<later>   UNIX seconds after now
//	<uuid>    an id of ours
//	<text>    a string that is not empty
//	<any>     anything but null
//	<object>  an object
//	<≈text>   a string that contains text
func (a answer) is(status int, want string) map[string]any {
	a.t.Helper()
	got := a.json(status)
	var w any
	require.NoError(a.t, json.Unmarshal([]byte(want), &w), want)
	alike(a.t, "$", w, any(got), a.Body.String())
	return got
}

func alike(t *testing.T, at string, want, got any, whole string) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, "%s must be an object in %s", at, whole)
		for name := range g {
			require.Contains(t, w, name, "%s.%s is not expected in %s", at, name, whole)
		}
		for name := range w {
			require.Contains(t, g, name, "%s.%s is missing in %s", at, name, whole)
			alike(t, at+"."+name, w[name], g[name], whole)
		}
	case []any:
		g, ok := got.([]any)
		require.True(t, ok, "%s must be an array in %s", at, whole)
		require.Len(t, g, len(w), "%s in %s", at, whole)
		for i := range w {
			alike(t, fmt.Sprintf("%s[%d]", at, i), w[i], g[i], whole)
		}
	case string:
		if !strings.HasPrefix(w, "<") {
			require.Equal(t, want, got, "%s in %s", at, whole)
			return
		}
		require.True(t, fits(w, got), "%s must be %s in %s", at, w, whole)
	default:
		require.Equal(t, want, got, "%s in %s", at, whole)
	}
}

// fits says whether a value is what a placeholder stands for.
func fits(placeholder string, got any) bool {
	s, isText := got.(string)
	n, isNumber := got.(float64)
	now := float64(time.Now().Unix())
	switch placeholder {
	case "<now>":
		return isNumber && math.Abs(n-now) < 600 && n == math.Trunc(n)
	case "<later>":
		return isNumber && n > now && n == math.Trunc(n)
	case "<uuid>":
		return isText && len(s) == 36 && s[14] == '7' && s == strings.ToLower(s)
	case "<text>":
		return isText && s != ""
	case "<any>":
		return got != nil
	case "<object>":
		_, ok := got.(map[string]any)
		return ok
	}
	if part, ok := strings.CutPrefix(placeholder, "<≈"); ok {
		return isText && strings.Contains(s, strings.TrimSuffix(part, ">"))
	}
	return false
}

type (
	graphOptions = graphtest.Options
)
