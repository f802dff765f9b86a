package main_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// clockSteps are how the clock is set, one after the other: it is right in the end. A day
// would close the window in which free messages may be sent.
var clockSteps = []time.Duration{-time.Hour, time.Hour, time.Hour, -time.Hour, -30 * time.Minute, 30 * time.Minute}

// TestClockSteps sets the clock of the database forward and back again and again, while
// contacts write, messages are sent, and webhooks are in hand. Nothing waits for the
// clock to catch up, and nothing is lost.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		open := sync.OnceValue(func() *sqlx.DB { return testkit.Open(t, "sqlite://"+filepath.Join(data, "trunkline.db")) }) // the server makes it
		setClock(t, open, func(step time.Duration) {
			require.NoError(t, testkit.StepClock(t.Context(), open(), step))
		}, "--data", data)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := testkit.PostgresURL(t)
		set := testkit.PostgresClock(t, url)
		db := testkit.Open(t, url)
		setClock(t, func() *sqlx.DB { return db }, set, "--data", t.TempDir(), "--database-url", url, "--secret", sharedSecret)
	})
}

func setClock(t *testing.T, open func() *sqlx.DB, set func(step time.Duration), args ...string) {
	t.Helper()
	r := newEnv(t, "sent", "delivered", "read")
	n := launch(t, r.args(args...)...)
	r.balancer.open(n)
	r.setup(t)
	noted := func() (us int64) {
		require.NoError(t, open().GetContext(t.Context(), &us, `SELECT COALESCE(MAX(seen_us), 0) FROM clock_mark`))
		return us
	}
	l := startLoad(t, r)
	t.Cleanup(l.finish)
	rounds := fewRounds()
	var slowest time.Duration
	for round := range rounds {
		before := noted()
		r.sink.until(t, func() bool { return noted() != before }, "the server notes the time")
		release := r.sink.pause()
		r.sink.untilMore(t, 4) // these are in hand, and those behind them wait
		set(clockSteps[round%len(clockSteps)])
		began := time.Now()
		contact := r.canary(t, round)
		release()
		r.await(t, contact, 1)
		slowest = max(slowest, time.Since(began))
	}
	l.finish()
	begin := time.Now()
	l.finished(t)
	drained := time.Since(begin)
	l.report(t, t.Name(), rounds, l.check(t, 0), drained)
	t.Logf("promise: %s, the clock was set %d times: everything worked %.1f s later", t.Name(), rounds, slowest.Seconds())
	if rounds >= atLength {
		require.LessOrEqual(t, slowest, recovered)
	}
	n.terminate(t)
}
