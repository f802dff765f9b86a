package mcp_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

const (
	childEnv   = "MCP_CHILD"
	childReady = "running"
	childLimit = 300 // calls of one function in all: the clock does not move
)

// TestChild calls functions and prints what it was answered. It is the whole
// of a child process, and nothing in any other.
func TestChild(t *testing.T) {
	url := os.Getenv(childEnv)
	if url == "" {
		return
	}
	r := setup(t, testkit.Open(t, url), mcp.Options{AccountLimit: -1, Now: newClock().now})
	withChildFunctions(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	var print sync.Mutex
	_, _ = fmt.Println(childReady)
	for worker := range 8 {
		function := []string{"free", "limited"}[worker%2]
		go func() {
			for n := 0; ctx.Err() == nil; n++ {
				c := ana
				c.Token = fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, n)
				out := r.Execute(ctx, c, mcp.Request{Function: function})
				print.Lock()
				_, _ = fmt.Println(function, c.Token, out.Success)
				print.Unlock()
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent, however that ends
	cancel()
}

func withChildFunctions(t *testing.T, r *mcp.Registry) {
	t.Helper()
	for name, limit := range map[string]int{"free": -1, "limited": childLimit} {
		require.NoError(t, mcp.Register(r, mcp.Function[none, none]{Name: name, Description: "For tests.", Limit: limit, Handler: ponging}))
	}
}

// TestKill kills a process repeatedly while it is called: every answered call must
// be in the log, and no more calls may pass than the limit allows.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		r := setup(t, db, mcp.Options{AccountLimit: -1, Now: newClock().now})
		withChildFunctions(t, r)
		answered, passed, rounds := map[string]bool{}, 0, testkit.Rounds(3)
		for range rounds {
			cmd, lines := testkit.Child(t, "TestChild", childReady, childEnv+"="+url)
			kill := 20 + rand.IntN(100)
			for n := 0; lines.Scan(); n++ { // also what it had printed before
				if n == kill {
					require.NoError(t, cmd.Process.Kill())
				}
				parts := strings.Fields(lines.Text())
				require.Len(t, parts, 3, lines.Text())
				answered[parts[1]] = true
				if parts[0] == "limited" && parts[2] == "true" {
					passed++
				}
			}
			_ = cmd.Wait()
		}
		var tokens []string
		require.NoError(t, db.Select(&tokens, `SELECT token FROM mcp_audit`))
		for _, token := range tokens {
			delete(answered, token)
		}
		require.Empty(t, answered, "what was answered is in the log")
		rest := callMany(t, childLimit, ana, "limited", r)
		require.LessOrEqual(t, passed+rest, childLimit)
		t.Logf("promise: killed %d times: %d calls in the log, each that was answered among them; %d and %d of %d passed a limit",
			rounds, len(tokens), passed, rest, childLimit)
	})
}

// TestDatabaseGone checks that the registry refuses all calls without its database,
// and recovers when the database is back.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	s := testkit.PostgresServer(t, testkit.PostgresOptions{})
	r := setup(t, testkit.Open(t, s.Database(t)), mcp.Options{Timeout: 10 * time.Second, Logger: new(logged).logger()})
	ping(t, r, "ping")
	require.True(t, call(t, r, ana, "ping", "").Success)
	s.Stop(t)
	refused(t, call(t, r, ana, "ping", ""), mcp.CodeUnavailable)
	s.Start(t)
	require.Eventually(t, func() bool { return call(t, r, ana, "ping", "").Success }, patient, 10*time.Millisecond)
}
