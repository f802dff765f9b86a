package bucket

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
)

// pipes is a network without sockets, whose time is that of the test.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.accepted <- there
	return here, nil
}

// withService calls fn with a bucket whose service is serve, but answers at once
// whether the bucket exists.
func withService(t *testing.T, serve http.HandlerFunc, fn func(t *testing.T, b *Bucket)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		s := &http.Server{BaseContext: func(net.Listener) context.Context { return ctx }, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodHead {
				serve(w, r)
			}
		}), ReadHeaderTimeout: time.Hour}
		served := make(chan error, 1)
		go func() { served <- s.Serve(p) }()
		defer func() {
			cancel()
			_ = s.Close()
			require.ErrorIs(t, <-served, http.ErrServerClosed)
			<-time.After(time.Second) // until it has let go of its connections
		}()
		b, err := open(t.Context(), "s3://bucket?endpoint=http://s3.test", Keys{Access: "access", Secret: "secret"}, p.dial)
		require.NoError(t, err)
		fn(t, b)
	})
}

// put stores an object of 1 MiB.
func put(t *testing.T, b *Bucket) error {
	t.Helper()
	const size = 1 << 20
	_, err := b.Client.Client.PutObject(t.Context(), b.Name, "key", bytes.NewReader(make([]byte, size)), size, minio.PutObjectOptions{DisableMultipart: true})
	return err
}

// TestStall_Unread has a service that stops in the middle of what it reads.
func TestStall_Unread(t *testing.T) {
	withService(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
		<-r.Context().Done()
	}, func(t *testing.T, b *Bucket) {
		started := time.Now()
		require.Error(t, put(t, b))
		require.GreaterOrEqual(t, time.Since(started), retries*stall)
		require.Less(t, time.Since(started), retries*stall+30*time.Second)
	})
}

// TestStall_Unsent has a service that stops in the middle of what it sends.
func TestStall_Unsent(t *testing.T) {
	withService(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, func(t *testing.T, b *Bucket) {
		started := time.Now()
		body, _, _, err := b.Client.GetObject(t.Context(), b.Name, "key", minio.GetObjectOptions{})
		require.NoError(t, err)
		got, err := io.ReadAll(body)
		require.Equal(t, "half", string(got))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, stall, time.Since(started))
		require.NoError(t, body.Close())
	})
}

// TestStall_Slow has a service that takes longer than the limit, but goes on.
func TestStall_Slow(t *testing.T) {
	withService(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			n, err := io.CopyN(io.Discard, r.Body, 64<<10)
			if n == 0 {
				break
			}
			if err == nil {
				<-time.After(stall - time.Second)
			}
		}
		w.Header().Set("ETag", `"e"`)
	}, func(t *testing.T, b *Bucket) {
		started := time.Now()
		require.NoError(t, put(t, b))
		require.Greater(t, time.Since(started), 10*stall)
	})
}

// TestIsBusy tells what passes from what does not.
func TestIsBusy(t *testing.T) {
	for status, busy := range map[int]bool{
		http.StatusServiceUnavailable: true, http.StatusBadGateway: true, http.StatusTooManyRequests: true,
		http.StatusForbidden: false, http.StatusNotFound: false,
	} {
		withService(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }, func(t *testing.T, b *Bucket) {
			err := put(t, b)
			require.Error(t, err)
			require.Equal(t, busy, IsBusy(err), "%d: %v", status, err)
		})
	}
}
