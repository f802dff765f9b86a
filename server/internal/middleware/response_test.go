package middleware_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

// pipeListener accepts one connection.
type pipeListener struct {
	conns chan net.Conn
	end   func()
}

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error {
	l.end()
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// served returns the client's end of a connection to a server with one handler, which
// answers by a [middleware.Response].
func served(t *testing.T, handler func(w *middleware.Response)) net.Conn {
	t.Helper()
	client, server := net.Pipe() // it buffers nothing
	conns := make(chan net.Conn, 1)
	conns <- server
	l := pipeListener{conns, sync.OnceFunc(func() { close(conns) })}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := &middleware.Response{ResponseWriter: w}
		defer out.Finish()
		handler(out)
	})}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = client.Close()
		_ = srv.Close()
		<-ended
	})
	return client
}

func request(t *testing.T, client net.Conn) {
	t.Helper()
	_, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	require.NoError(t, err)
}

// TestResponse_Unread answers a client that reads nothing: it is given up in time, be
// the answer long, short or empty.
func TestResponse_Unread(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"long": 1 << 20, "short": 10, "empty": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				written := make(chan error, 1)
				client := served(t, func(w *middleware.Response) {
					_, err := w.Write(make([]byte, size))
					written <- err
				})
				begin := time.Now()
				request(t, client)
				err := <-written
				if size == 1<<20 {
					require.ErrorIs(t, err, os.ErrDeadlineExceeded)
					require.Equal(t, middleware.AnswerGrace, time.Since(begin))
				}
				<-time.After(middleware.AnswerGrace + time.Second)
				_, err = client.Write([]byte("x"))
				require.ErrorIs(t, err, io.ErrClosedPipe, "the connection is closed")
			})
		})
	}
}

// TestResponse_Slow answers a client that reads slowly, but reads.
func TestResponse_Slow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := served(t, func(w *middleware.Response) {
			n, err := w.Write(make([]byte, 1<<20))
			require.NoError(t, err)
			require.Equal(t, 1<<20, n)
			require.EqualValues(t, 1<<20, w.Bytes)
		})
		begin := time.Now()
		request(t, client)
		res, err := http.ReadResponse(bufio.NewReaderSize(&slowReader{client}, 4<<10), nil)
		require.NoError(t, err)
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Len(t, got, 1<<20)
		require.Greater(t, time.Since(begin), middleware.AnswerGrace)
	})
}

// slowReader reads 16 KiB a second at most.
type slowReader struct{ net.Conn }

func (r *slowReader) Read(p []byte) (int, error) {
	<-time.After(250 * time.Millisecond)
	return r.Conn.Read(p[:min(len(p), 4<<10)])
}

// TestResponse_Pauses streams with long pauses: they are no fault of the client.
func TestResponse_Pauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := served(t, func(w *middleware.Response) {
			for range 3 {
				_, err := io.WriteString(w, "event\n")
				require.NoError(t, err)
				require.NoError(t, http.NewResponseController(w).Flush())
				<-time.After(10 * middleware.AnswerGrace)
			}
		})
		request(t, client)
		res, err := http.ReadResponse(bufio.NewReader(client), nil)
		require.NoError(t, err)
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, "event\nevent\nevent\n", string(got))
	})
}
