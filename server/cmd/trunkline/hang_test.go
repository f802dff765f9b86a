package main_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// hangable is between a server and its PostgreSQL. While it hangs nothing
// passes, and no connection ends.
type hangable struct {
	hang sync.RWMutex // locked while it hangs
	url  string
}

func startHangable(t *testing.T, database string) *hangable {
	t.Helper()
	const socket = ".s.PGSQL.5432"
	u, err := url.Parse(database)
	require.NoError(t, err)
	query := u.Query()
	behind, dir := query.Get("host"), t.TempDir()
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	h := &hangable{url: u.String()}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, socket))
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go h.pass(c, filepath.Join(behind, socket))
		}
	}()
	return h
}

func (h *hangable) pass(c net.Conn, socket string) {
	defer c.Close() //nolint:errcheck // a test's
	d, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return
	}
	defer d.Close() //nolint:errcheck // as above
	go h.copy(d, c)
	h.copy(c, d)
}

func (h *hangable) copy(to io.Writer, from io.Reader) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		h.hang.RLock()
		_, failed := to.Write(b[:n])
		h.hang.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// TestHungDatabase has a database that neither answers nor ends connections: the
// probe says so, and SIGTERM still ends the server in time.
func TestHungDatabase(t *testing.T) {
	t.Parallel()
	h := startHangable(t, testkit.PostgresURL(t))
	n := launch(t, "--database-url", h.url, "--secret", "a secret of thirty-two characters and more")
	probe := func() int {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.host+"/probe", http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, probe())
	h.hang.Lock()
	defer h.hang.Unlock()
	require.Eventually(t, func() bool { return probe() == http.StatusServiceUnavailable }, time.Minute, 100*time.Millisecond)
	require.Equal(t, http.StatusServiceUnavailable, probe())
	require.NoError(t, n.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-n.ended:
		require.NoError(t, n.err)
	case <-time.After(time.Minute): // 20 s, and what a busy machine takes
		require.Fail(t, "it did not end")
	}
}
