//go:build unix

package webhook_test

import (
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

// lease is how long the children keep what they hold when they are frozen.
const lease = time.Second

// TestKill kills the process that delivers again and again, while the receiver
// fails in every way, and then compares the log with what was received.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		const chats = 20
		l := newLedger(t, url, fails)
		setting := childSetting{URL: url, Timeout: time.Second, Exclusive: true} // nobody takes it for dead before it is
		c := spawn(t, setting)
		all, kills := []*child{c}, testkit.Rounds(3)
		for range kills {
			some := l.received() + 1 + rand.IntN(6*chats)
			l.fill(t, chats, 6)
			testkit.Until(t, []*testsignal.Signal{&l.noted}, func() bool { return l.received() >= some })
			c.kill(t)
			l.fill(t, chats, 1)
			c = spawn(t, setting)
			all = append(all, c)
		}
		begin := time.Now()
		n := l.complete(t, kills, all...)
		t.Logf("promise: %s, killed %d times: %d webhooks to a receiver that fails at random, each received at least once and in order in each of %d chats, "+
			"each with one outcome in the log; %d requests, %d attempts in the log; done %.1f s after the last start",
			t.Name(), kills, n, chats, l.requests(), l.attempts(t), time.Since(begin).Seconds())
	})
}

// TestFreeze stops one of two processes in the middle of its requests, for
// longer than its leases last, and lets it continue.
func TestFreeze(t *testing.T) {
	t.Parallel()
	const chats = 24
	url := testkit.PostgresURL(t)
	l := newLedger(t, url, func() reply { return reply{} })
	setting := childSetting{URL: url, Lease: lease}
	pair := []*child{spawn(t, setting), spawn(t, setting)}
	rounds := testkit.Rounds(3)
	for round := range rounds {
		open := l.shut()
		l.fill(t, chats, 2)
		l.share(t)
		frozen := pair[round%2]
		require.NoError(t, frozen.Process.Signal(syscall.SIGSTOP))
		open()
		l.fill(t, chats, 2)
		eventually(t, func() bool { return l.received() == l.published() && l.delivered(t) == l.published() })
		fenced := frozen.fenced.Load()
		require.NoError(t, frozen.Process.Signal(syscall.SIGCONT))
		eventually(t, func() bool { return frozen.fenced.Load() > fenced })
	}
	n := l.complete(t, 0, pair...)
	t.Logf("promise: %s, frozen %d times for longer than a lease: %d webhooks through two processes, each received at least once (%d repeats, by their webhook-id) "+
		"and in order in each of %d chats, each completed once in the log; what a frozen process finished late was refused %d times",
		t.Name(), rounds, n, l.requests()-n, len(l.put), pair[0].fenced.Load()+pair[1].fenced.Load())
}

// TestKillWhileProbing kills a process that probes an endpoint which is down.
// The next one does not wait for the usual lease of a minute.
func TestKillWhileProbing(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		l := newLedger(t, url, func() reply { return reply{status: http.StatusBadGateway} })
		setting := childSetting{URL: url, Exclusive: l.raw.DriverName() == "sqlite"}
		c := spawn(t, setting)
		l.fill(t, 6, 2)
		eventually(t, func() bool {
			ep, err := l.Endpoint(t.Context(), l.ep.ID)
			require.NoError(t, err)
			return ep.State == webhook.StatePaused
		})
		open := l.shut()
		eventually(t, func() bool { return l.waiting() > 0 && l.probing(t) })
		c.kill(t)
		l.follow(func() reply { return reply{} })
		open()
		begin := time.Now()
		next := spawn(t, setting)
		l.complete(t, 1, c, next)
		t.Logf("promise: %s: what an endpoint was probed with went on %.1f s after a kill", t.Name(), time.Since(begin).Seconds())
	})
}

// fails is an answer of a receiver in trouble.
func fails() reply {
	switch n := rand.IntN(100); {
	case n < 8:
		return reply{status: http.StatusInternalServerError}
	case n < 14:
		return reply{status: http.StatusBadRequest}
	case n < 20:
		return reply{cut: true}
	case n < 21:
		return reply{hang: true}
	case n < 30:
		return reply{slow: time.Duration(rand.IntN(50)) * time.Millisecond}
	}
	return reply{}
}
