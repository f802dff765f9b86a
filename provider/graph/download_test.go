package graph_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// fileServer answers requests for files and notes the token that each carried.
func fileServer(t *testing.T, tls bool, answer http.HandlerFunc) (server *httptest.Server, tokens *[]string) {
	t.Helper()
	tokens = &[]string{}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*tokens = append(*tokens, r.Header.Get("Authorization"))
		answer(w, r)
	}))
	if tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, tokens
}

func file(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "file") }

func at(link string) graph.Source {
	return func(context.Context) (string, error) { return link, nil }
}

// TestLinksThatAreFollowed: https, or the API's own address; the token goes to
// the first host alone.
func TestLinksThatAreFollowed(t *testing.T) {
	t.Parallel()
	otherHosts, strange := fileServer(t, true, file)
	api, own := fileServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, otherHosts.URL+"/x", http.StatusFound)
		case "/back":
			http.Redirect(w, r, "/x", http.StatusFound)
		case "/down":
			http.Redirect(w, r, "http://127.0.0.2:9/x", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			file(w, r)
		}
	})
	c := graph.New(&graph.Options{URL: api.URL, HTTPClient: otherHosts.Client()}).As("secret")
	for link, ok := range map[string]bool{
		api.URL + "/x": true, api.URL + "/back": true, api.URL + "/away": true, otherHosts.URL + "/x": true,
		api.URL + "/down": false, api.URL + "/round": false, "http://127.0.0.2:9/x": false, "file:///etc/passwd": false, "": false, "/x": false, "ftp://a/b": false,
	} {
		var got bytes.Buffer
		n, err := c.Download(t.Context(), at(link), 0, &got)
		if !ok {
			require.Error(t, err, link)
			require.NotContains(t, err.Error(), "secret")
			continue
		}
		require.NoError(t, err, link)
		require.Equal(t, "file", got.String())
		require.Equal(t, int64(4), n)
	}
	for _, token := range *own {
		require.Equal(t, "Bearer secret", token)
	}
	require.ElementsMatch(t, []string{"", "Bearer secret"}, *strange, "a redirect carries no token")
}

func TestDownloadIsBounded(t *testing.T) {
	t.Parallel()
	server, _ := fileServer(t, false, file)
	c := graph.New(&graph.Options{URL: server.URL})
	for limit, ok := range map[int64]bool{3: false, 4: true, 5: true} {
		var got bytes.Buffer
		_, err := c.Download(t.Context(), at(server.URL), limit, &got)
		if ok {
			require.NoError(t, err)
			require.Equal(t, "file", got.String())
		} else {
			require.ErrorIs(t, err, graph.ErrTooLong)
		}
	}
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, tokens := fileServer(t, false, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := graph.New(&graph.Options{URL: server.URL}).Download(ctx, at(server.URL), 0, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, *tokens, 1)
}

// TestAnswersThatAreNoRest: a server that gives another part than was asked
// for is not believed.
func TestAnswersThatAreNoRest(t *testing.T) {
	t.Parallel()
	server, tokens := fileServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", "8")
			_, _ = io.WriteString(w, "file")
			return // cut
		}
		w.Header().Set("Content-Range", "bytes 0-7/8")
		w.WriteHeader(http.StatusPartialContent)
		_, _ = io.WriteString(w, "filefile")
	})
	var got bytes.Buffer
	_, err := graph.New(&graph.Options{URL: server.URL}).Download(t.Context(), at(server.URL), 0, &got)
	require.ErrorContains(t, err, "another part")
	require.Equal(t, "file", got.String())
	require.Len(t, *tokens, 2)
}

// TestErrorsHoldNoAddress: a query may hold a token.
func TestErrorsHoldNoAddress(t *testing.T) {
	t.Parallel()
	c := graph.New(&graph.Options{URL: closed(t)}).As("secret")
	_, err := c.Token(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	_, err = c.Download(t.Context(), at(closed(t)+"/x?token=secret"), 0, io.Discard)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

// TestLinksToPrivateAddresses: what an answer names is reached only if it is
// public, also behind a redirect; nothing is asked there, and not again.
func TestLinksToPrivateAddresses(t *testing.T) {
	t.Parallel()
	private, asked := fileServer(t, true, file)
	hops := 0
	api, _ := fileServer(t, false, func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, private.URL+"/x", http.StatusFound)
	})
	c := graph.New(&graph.Options{URL: api.URL}).As("secret")
	for _, link := range []string{private.URL, "https://localhost/x", "https://2130706433/x", "https://[::ffff:169.254.169.254]/x", api.URL + "/away"} {
		_, err := c.Download(t.Context(), at(link), 0, io.Discard)
		require.ErrorIs(t, err, graph.ErrPrivate, link)
	}
	require.Equal(t, 1, hops)
	require.Empty(t, *asked)
}
