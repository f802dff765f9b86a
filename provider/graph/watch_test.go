package graph_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func send(t *testing.T, client *graph.Client) string {
	t.Helper()
	err := client.Post(t.Context(), "42/messages", map[string]string{"a": "b"}, nil)
	require.Error(t, err)
	return outcome(graph.SendError(err))
}

func TestCertainlyNotSent(t *testing.T) {
	t.Parallel()
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "Temporary", send(t, graph.New(&graph.Options{URL: closed(t)})))
	})
	t.Run("no such host", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "Temporary", send(t, graph.New(&graph.Options{URL: "http://nobody.invalid"})))
	})
	t.Run("certificate of a stranger", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quiet()
		server.StartTLS()
		t.Cleanup(server.Close)
		require.Equal(t, "Temporary", send(t, graph.New(&graph.Options{URL: server.URL})))
	})
	t.Run("cancelled before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := graph.New(nil).Post(ctx, "x", nil, nil)
		require.ErrorIs(t, graph.SendError(err), context.Canceled)
		require.Equal(t, "Temporary", outcome(graph.SendError(err)))
	})
	t.Run("cancelled while connecting", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		client := graph.New(&graph.Options{HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				cancel()
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}}})
		err := client.Post(ctx, "x", nil, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, "Temporary", outcome(graph.SendError(err)))
	})
	t.Run("cannot be encoded", func(t *testing.T) {
		t.Parallel()
		err := graph.New(nil).Post(t.Context(), "x", func() {}, nil)
		require.Equal(t, "Temporary", outcome(graph.SendError(err)))
	})
	t.Run("refused, the reason lost", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":`)
		}))
		t.Cleanup(server.Close)
		require.Equal(t, "Temporary", send(t, graph.New(&graph.Options{URL: server.URL})))
	})
}

// cutting closes the connection after it has read a request.
func cutting(t *testing.T, http2 bool) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	seen := &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		seen.Add(1)
		panic(http.ErrAbortHandler)
	}))
	server.EnableHTTP2 = http2
	if http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, seen
}

func TestMayHaveBeenSent(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"cut": false, "cut, HTTP 2": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, seen := cutting(t, http2)
			require.Equal(t, "Ambiguous", send(t, graph.New(&graph.Options{URL: server.URL, HTTPClient: server.Client()})))
			require.Equal(t, int64(1), seen.Load(), "never repeated by the transport")
		})
	}
	t.Run("cut on a connection used before", func(t *testing.T) {
		t.Parallel()
		var seen atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if seen.Add(1) > 1 {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, `{}`)
		}))
		t.Cleanup(server.Close)
		client := graph.New(&graph.Options{URL: server.URL})
		require.NoError(t, client.Post(t.Context(), "x", map[string]int{}, nil))
		require.Equal(t, "Ambiguous", send(t, client))
		require.Equal(t, int64(2), seen.Load(), "never repeated by the transport")
	})
	t.Run("half an answer", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"messages":`)
		}))
		t.Cleanup(server.Close)
		require.Equal(t, "Ambiguous", send(t, graph.New(&graph.Options{URL: server.URL})))
	})
	t.Run("a transport that tells nothing", func(t *testing.T) {
		t.Parallel()
		client := graph.New(&graph.Options{HTTPClient: &http.Client{Transport: silent{}}})
		require.Equal(t, "Ambiguous", send(t, client))
	})
	t.Run("no HTTP", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, strings.Repeat("x", 100)+"\r\n\r\n")
			_ = conn.Close()
		}()
		require.Equal(t, "Ambiguous", send(t, graph.New(&graph.Options{URL: "http://" + listener.Addr().String()})))
	})
}

// closed is an address where nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	return "http://" + testkit.FreeAddress(t)
}

type silent struct{}

func (silent) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("lost") }
