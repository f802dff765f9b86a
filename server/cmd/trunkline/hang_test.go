package main_test

import (
	"context"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestHungDatabase has a database that neither answers nor ends connections: the
// probe says so, and SIGTERM still ends the server in time.
func TestHungDatabase(t *testing.T) {
	t.Parallel()
	h := startProxy(t, testkit.PostgresURL(t))
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
	h.hung.Lock()
	defer h.hung.Unlock()
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
