package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const password = "correct horse"

// TestReadme runs the lines of the README, at another address.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, addr := testkit.ReadExample(t), testkit.FreeAddress(t)
	sh := testkit.NewShell(t)
	sh.Run(t, readme.Block(t, "start", "/embed &", "/embed -addr "+addr+" &"))
	testkit.AwaitListener(t, addr)
	out := sh.Run(t, readme.Block(t, "ship", "curl ", "curl -sSw '%{http_code}\n' ", "localhost:4000", addr))
	require.Equal(t, []string{"204"}, out)
}

// TestShop runs the shop twice, and asks its routes and the engine's with the
// keys of both.
func TestShop(t *testing.T) {
	t.Setenv("APP_SECRET", "a secret of tests that is long enough")
	t.Setenv("SHOP_PASSWORD", password)
	database := "sqlite://" + filepath.Join(t.TempDir(), "shop.db")
	for range 2 { // an order is shipped once, whenever it is asked for again
		base, stop := start(t, database)
		login := ask(t, http.MethodPost, base+"/chat/user/login", "application/json", `{"email":"shop@example.org","password":"`+password+`"}`, nil)
		require.Equal(t, http.StatusOK, login.status, login.body)
		_, rest, _ := strings.Cut(login.body, `"token":"`)
		token, _, _ := strings.Cut(rest, `"`)

		staff := func(r *http.Request) { r.SetBasicAuth("staff", password) }
		program := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
		ship := func(customer string, as func(*http.Request)) answer {
			return ask(t, http.MethodPost, base+"/orders/7/ship", "application/x-www-form-urlencoded", "customer="+url.QueryEscape(customer), as)
		}
		require.Equal(t, http.StatusUnauthorized, ship("ana@sandbox", nil).status)
		require.Equal(t, http.StatusUnauthorized, ship("ana@sandbox", program).status, "the engine's tokens are not the shop's")
		require.Equal(t, http.StatusUnauthorized, ask(t, http.MethodGet, base+"/chat/account", "", "", staff).status, "nor the other way round")
		require.Equal(t, answer{http.StatusNoContent, ""}, ship("ana@sandbox", staff))
		require.Equal(t, answer{http.StatusNoContent, ""}, ship("ana@sandbox", staff), "again")
		require.Equal(t, http.StatusUnprocessableEntity, ship("nobody at all", staff).status)

		require.Eventually(t, func() bool {
			shown := ask(t, http.MethodGet, base+"/chat/sandbox/1/messages?from=ana", "", "", program)
			return strings.Count(shown.body, "Order 7 is on its way.") == 1
		}, time.Minute, 20*time.Millisecond)
		stop()
	}
}

// start runs the shop; stop ends it in order.
func start(t *testing.T, database string) (base string, stop func()) {
	t.Helper()
	addr := testkit.FreeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, addr, database) }()
	testkit.AwaitListener(t, addr)
	r, err := http.Get("http://" + addr + "/chat/probe")
	require.NoError(t, err)
	_ = r.Body.Close()
	require.Equal(t, http.StatusOK, r.StatusCode)
	return "http://" + addr, func() {
		cancel()
		require.NoError(t, <-done)
	}
}

type answer struct {
	status int
	body   string
}

func ask(t *testing.T, method, address, contentType, body string, as func(*http.Request)) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	if as != nil {
		as(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return answer{res.StatusCode, string(got)}
}
