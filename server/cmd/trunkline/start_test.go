package main_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestDrainUnderLoad ends the server, as an operator does, while sends,
// callbacks and webhooks are in hand, and starts it again.
func TestDrainUnderLoad(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		r := newEnv(t, "sent", "delivered", "read")
		args := r.args(database...)
		n := launch(t, args...)
		r.balancer.open(n)
		r.setup(t)
		l := startLoad(t, r)
		r.graph.SetLatency(300 * time.Millisecond) // a send is in hand at any time
		pass(t, time.Second)
		drain := n.terminate(t)
		r.balancer.open()
		n = launch(t, args...)
		r.balancer.open(n)
		begin := time.Now()
		l.finish()
		l.finished(t)
		drained := time.Since(begin)
		cuts := 0 // a drain interrupts nothing, unless the machine pauses for longer than the timeout
		if drain > 8*time.Second {
			cuts = 1
		}
		c := l.check(t, cuts)
		l.report(t, t.Name(), 0, c, drained)
		t.Logf("drained in %s, ready again in %s", drain.Round(time.Millisecond), n.elapsed.Round(time.Millisecond))
		n.terminate(t)
	})
}

// TestDrainHangingReceiver ends the server while a receiver does not answer:
// the delivery is handed back, and made after the next start.
func TestDrainHangingReceiver(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	args := r.args("--data", t.TempDir())
	n := launch(t, args...)
	r.balancer.open(n)
	r.setup(t)
	release := r.sink.pause()
	_, err := r.graph.Write(t.Context(), graphtest.Inbound{From: contactOf(0), Text: "Hello"})
	require.NoError(t, err)
	r.await(t, contactOf(0), 1)
	t.Logf("drained in %s", n.terminate(t).Round(time.Millisecond))
	release()
	n = launch(t, args...)
	r.balancer.open(n)
	r.sink.until(t, func() bool { _, repeats := r.sink.count(); return repeats > 0 })
	r.await(t, contactOf(0), 1)
	n.terminate(t)
}

// TestNewerDatabase starts on tables that a later version has written.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(t *testing.T, database []string) {
		n := launch(t, database...)
		n.terminate(t)
		url := "sqlite://" + filepath.Join(database[1], "trunkline.db")
		if len(database) > 2 {
			url = database[3]
		}
		testkit.Open(t, url).MustExec(`INSERT INTO messaging_schema_version (version_id, is_applied) VALUES (9000, TRUE)`)
		require.Regexp(t, `^trunkline: --database-url: .*the tables of messaging have version 9000, this program knows \d+: start the version that wrote them`,
			refuses(t, database...))
	})
}

// TestOneProcessAFolder starts a second server on the data of a first.
func TestOneProcessAFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	n := launch(t, "--data", data)
	require.Contains(t, refuses(t, "--data", data), "--data: the folder is in use by another trunkline")
	resp, err := http.Get("http://" + n.host + "/probe")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, "the first goes on")
	n.terminate(t)
	require.Contains(t, refuses(t, "--data", data, "--secret", sharedSecret), "--secret: the database was written with another secret")
	n = launch(t, "--data", data)
	t.Logf("the next start took %s", n.elapsed.Round(time.Millisecond))
	n.terminate(t)
}
