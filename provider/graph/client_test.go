package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// answering returns a client of a server that always gives this answer.
func answering(t *testing.T, status int, header http.Header, body string) *graph.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return graph.New(&graph.Options{URL: server.URL + "/", Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}).As("EAAtoken")
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)}, " | "))
		_, _ = io.WriteString(w, `{"id":12345678901234567890}`)
	}))
	t.Cleanup(server.Close)
	client := graph.New(&graph.Options{URL: server.URL})
	var out struct{ ID graph.ID }
	require.NoError(t, client.As("a").Get(t.Context(), "42", url.Values{"fields": {"id,name"}}, &out))
	require.Equal(t, graph.ID("12345678901234567890"), out.ID)
	require.NoError(t, client.As("b").Post(t.Context(), "42/messages", map[string]string{"x": "ü"}, nil))
	require.NoError(t, client.Post(t.Context(), "42/subscribed_apps", nil, nil))
	require.Equal(t, []string{
		"GET | /v25.0/42?fields=id%2Cname | Bearer a |  | ",
		`POST | /v25.0/42/messages | Bearer b | application/json | {"x":"ü"}`,
		"POST | /v25.0/42/subscribed_apps |  |  | ",
	}, got)
}

func TestTokenStaysSecret(t *testing.T) {
	t.Parallel()
	client := answering(t, 400, nil, `{"error":{"code":190,"message":"Malformed access token EAAtoken","error_data":{"details":"EAAtoken"}}}`)
	err := client.Get(t.Context(), "42", nil, nil)
	require.ErrorContains(t, err, "Malformed access token [access token]")
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", slog.Any("client", client), slog.Any("error", err))
	for _, s := range []string{err.Error(), fmt.Sprintf("%v %+v %#v %s", client, client, client, client), fmt.Sprintf("%+v", struct{ c *graph.Client }{client}), logged.String()} {
		require.NotContains(t, s, "EAAtoken")
	}

	err = client.As("bad\ntoken").Get(t.Context(), "42", nil, nil)
	require.Equal(t, "AuthExpired", outcome(graph.SendError(err)))
	require.NotContains(t, err.Error(), "bad")
}

func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	client := answering(t, 200, nil, `"`+strings.Repeat("x", 5<<20)+`"`)
	err := client.Post(t.Context(), "x", nil, nil)
	require.ErrorContains(t, err, "too long")
	require.Equal(t, "Ambiguous", outcome(graph.SendError(err)))
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var reached bool
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(target.Close)
	err := answering(t, 307, http.Header{"Location": {target.URL}}, "").Post(t.Context(), "x", map[string]int{}, nil)
	require.Error(t, err)
	require.False(t, reached)
}

func TestNewPanicsWithoutAddress(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"graph.facebook.com", "ftp://x", "http://", ":"} {
		require.Panics(t, func() { graph.New(&graph.Options{URL: bad}) }, bad)
	}
}

func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	for d := 300 * time.Millisecond; ; d *= 4 {
		err := graph.New(&graph.Options{URL: server.URL, Timeout: d}).Post(t.Context(), "x", nil, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		got := outcome(graph.SendError(err))
		if got == "Temporary" && d < time.Minute {
			continue // the machine is slow: the time was over before there was a connection
		}
		require.Equal(t, "Ambiguous", got)
		return
	}
}
