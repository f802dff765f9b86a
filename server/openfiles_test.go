package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/server"
)

// exhausted is a listener that has too many open files for its first connections.
type exhausted struct {
	net.Listener
	left atomic.Int32
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestOpenFiles has a server with too many open files say so once, and in its probe
// until connections are accepted again.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	c := &clock{}
	f := setup(t, func(cfg *server.Config) { cfg.Now = c.now })
	ln := &exhausted{Listener: listener(t)}
	ln.left.Store(4)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx, server.Listeners{Main: ln}) }()
	probe := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+"/probe", http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	status, body := probe() // answered once a connection is accepted
	require.Equal(t, 503, status)
	require.Contains(t, body, "too many open files")
	require.InDelta(t, 1, gauge(t, f, `trunkline_probe_failing{cause="files"}`), 0)
	c.pass(time.Minute)
	status, _ = probe()
	require.Equal(t, 200, status)
	require.Equal(t, 1, strings.Count(f.log.String(), `"msg":"too many open files`), "the other lines are counted")
	stop()
	require.NoError(t, <-done)
}

// roomless is a store of files that may have no room.
type roomless struct {
	media.Store
	full atomic.Bool
}

func (s *roomless) Room(context.Context, int64) error {
	if s.full.Load() {
		return media.ErrFull
	}
	return nil
}

// TestFullMedia has a probe fail while the disk of the media files is full.
func TestFullMedia(t *testing.T) {
	t.Parallel()
	folder, err := media.OpenFolder(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	store := &roomless{Store: folder}
	store.full.Store(true)
	f := setup(t, func(cfg *server.Config) { cfg.Media = store })
	for range 2 {
		p := f.do(t, "GET", "/probe", "").problem(503, "unavailable")
		require.Equal(t, "the disk of the media files is full: free some space", p.Detail)
	}
	require.InDelta(t, 1, gauge(t, f, `trunkline_probe_failing{cause="media"}`), 0)
	require.Equal(t, 1, strings.Count(f.log.String(), `"msg":"the store cannot be written"`), "once a minute")
	store.full.Store(false)
	require.InDelta(t, 0, gauge(t, f, `trunkline_probe_failing{cause="media"}`), 0)
	require.Equal(t, 200, f.do(t, "GET", "/probe", "").Code)
}
