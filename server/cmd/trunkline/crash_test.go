package main_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	// takenUp is the promise: work of a killed server is taken up within it.
	takenUp = 15 * time.Second
	// atWork is how long the work that was taken up may take on a busy machine.
	atWork = 105 * time.Second
	// minUptime and longestLife bound how long a server lives under load.
	minUptime = 100 * time.Millisecond
	maxUptime = 1500 * time.Millisecond
)

// TestKillUnderLoad kills the server again and again while it receives and
// sends, and then counts.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		r := newEnv(t, "sent", "delivered", "read")
		args := r.args(database...)
		n := launch(t, args...)
		r.balancer.open(n)
		r.setup(t)
		l := startLoad(t, r)
		r.graph.SetLatency(20 * time.Millisecond) // so that a kill finds sends of which only the network knows
		kills := testkit.Rounds(10)
		for range kills {
			pass(t, minUptime+rand.N(maxUptime-minUptime))
			n.kill()
			r.balancer.open()
			n = launch(t, args...)
			r.balancer.open(n)
		}
		begin := time.Now()
		l.finish()
		l.finished(t)
		drained := time.Since(begin)
		l.report(t, t.Name(), kills, l.check(t, kills), drained)
		n.terminate(t)
	})
}

// TestTwoNodes sends the same traffic through two servers on one database, and
// kills one of them.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	url, files := testkit.PostgresURL(t), t.TempDir()
	args := func(r *env) []string {
		return r.args("--data", t.TempDir(), "--database-url", url, "--media", files, "--secret", sharedSecret)
	}
	r := newEnv(t, "sent", "delivered", "read")
	one, two := launch(t, args(r)...), launch(t, args(r)...)
	r.balancer.open(one, two)
	r.setup(t)
	l := startLoad(t, r)
	pass(t, 2*time.Second)
	one.kill()
	begin := time.Now()
	r.balancer.open(two)
	pass(t, time.Second)
	l.finish()
	l.finished(t)
	drained := time.Since(begin)
	l.report(t, t.Name(), 1, l.check(t, 1), drained)
	two.terminate(t)
}

// pass lets a time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		require.NoError(t, t.Context().Err())
	}
}
