package main_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestFailOver kills the database again and again, while contacts write and messages are
// sent, and makes its synchronous standby the primary, as Patroni does. The server is
// never restarted, and nothing is lost.
func TestFailOver(t *testing.T) {
	t.Parallel()
	primary := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})
	p := startProxy(t, primary.Database(t))
	r := newEnv(t, "sent", "delivered", "read")
	n := launch(t, r.args("--database-url", p.url, "--secret", sharedSecret)...)
	r.balancer.open(n)
	r.setup(t)
	l := startLoad(t, r)
	t.Cleanup(l.finish)
	rounds := fewRounds()
	var slowest time.Duration
	for round := range rounds {
		standby := primary.Standby(t)
		primary.RequireStandby(t)
		r.sink.untilMore(t, 50)
		primary.Kill(t)
		n.awaitProbe(t, http.StatusServiceUnavailable)
		standby.Promote(t)
		p.lead(standby.Socket())
		began := time.Now()
		n.awaitProbe(t, http.StatusOK)
		r.await(t, r.canary(t, round), 1)
		slowest = max(slowest, time.Since(began))
		primary = standby
	}
	l.finish()
	begin := time.Now()
	l.finished(t)
	drained := time.Since(begin)
	l.report(t, t.Name(), rounds, l.check(t, rounds), drained)
	t.Logf("promise: %s, %d times: everything worked %.1f s after the standby was promoted", t.Name(), rounds, slowest.Seconds())
	if rounds >= atLength {
		require.LessOrEqual(t, slowest, recovered)
	}
	n.terminate(t)
}
