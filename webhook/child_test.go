//go:build unix

package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// childSetting is how a child, this test binary run as a process of its own,
// is to deliver. It travels in an environment variable.
type childSetting struct {
	URL       string
	Lease     time.Duration
	Timeout   time.Duration
	Exclusive bool
}

const childEnv = "WEBHOOK_CHILD"

// childExpiry is how long after its last heartbeat a child is dead to the others.
const childExpiry = 2 * time.Second

// running is the line that a child prints once it works.
const runningLine = "running"

// TestChild delivers what others publish. It is the whole of a child process,
// and nothing in any other.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var s childSetting
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	db := testkit.Open(t, s.URL)
	require.NoError(t, queue.SetExpiry(t.Context(), db, childExpiry))
	d, err := webhook.New(t.Context(), db, &webhook.Options{
		Secrets: []string{sealing}, Allow: []string{"127.0.0.1"}, Lease: s.Lease, Exclusive: s.Exclusive, Timeout: s.Timeout,
		Types: chatTypes, HeaderPrefix: "X-Trunkline-",
		Logger: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Policy: webhook.Policy{
			Retries:    slices.Repeat([]time.Duration{20 * time.Millisecond}, 1000),
			ProbeFirst: 20 * time.Millisecond, ProbeLast: 100 * time.Millisecond,
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_, _ = fmt.Println(runningLine)
	require.NoError(t, d.Run(ctx))
}

// child is a process that delivers.
type child struct {
	*exec.Cmd
	fenced atomic.Int64 // partitions whose lease had ended before their work, as it said
}

func spawn(t *testing.T, s childSetting) *child {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	cmd, lines := testkit.Child(t, "TestChild", runningLine, childEnv+"="+string(text))
	c := &child{Cmd: cmd}
	go func() {
		for lines.Scan() {
			if _, n, ok := strings.Cut(lines.Text(), `outlived its lease and was not recorded" queue=webhook partitions=`); ok {
				partitions, _ := strconv.ParseInt(n, 10, 64)
				c.fenced.Add(partitions)
			}
		}
	}()
	return c
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
}
