package main_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

const (
	// noticed is the promise: the probe fails within it after the database has become
	// unusable.
	noticed = 5 * time.Second
	// recovered is the promise: everything works within it when the database does.
	recovered = 15 * time.Second
	// maxLines is how many lines an outage adds to the log at most: some for each
	// message of the program, not for each request.
	maxLines = 100
	// outageFor is how long the database is unusable in a run at length.
	outageFor = 6 * time.Second
	// atLength is how many rounds a run must have to be held to the promised times: a
	// run on a machine that does nothing else.
	atLength = 20
)

// fewRounds returns the rounds of a loop whose rounds take long: a third, unless they are
// at length.
func fewRounds() int {
	rounds := testkit.Rounds(atLength)
	if rounds >= atLength {
		return rounds
	}
	return (rounds + 2) / 3
}

// outage is a fault of a database, and how it passes.
type outage struct {
	name string
	// begin makes the database unusable, until end is called.
	begin func(t *testing.T, d *outageDatabase) (end func())
}

// outageDatabase is a database with a server and a standby of its own, behind a proxy.
type outageDatabase struct {
	server, standby *testkit.Server
	proxy           *proxy
	admin           *sqlx.DB
}

// TestOutages makes the database unusable again and again, in every way in which it
// can be without a word to its connections, while contacts write and messages are
// sent. The server is never restarted: it comes back by itself, and nothing is lost.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, o := range []outage{
		{"read-only", readOnly},
		{"a standby behind the address", standbyBehind},
		{"silent connections", silentConnections},
		{"stopped", stoppedServer},
		{"restarted", restartedServer},
	} {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			o.run(t)
		})
	}
}

func (o *outage) run(t *testing.T) {
	d := &outageDatabase{server: testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})}
	url := d.server.Database(t)
	var err error
	d.admin, err = sqlx.Open("postgres", url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.admin.Close() })
	d.proxy = startProxy(t, url)
	r := newEnv(t, "sent", "delivered", "read")
	n := launch(t, r.args("--database-url", d.proxy.url, "--secret", sharedSecret)...)
	r.balancer.open(n)
	r.setup(t)
	r.endure(t, n, func() (end func()) { return o.begin(t, d) })
}

// endure makes the database unusable again and again under load.
func (r *env) endure(t *testing.T, n *node, begin func() (end func())) {
	t.Helper()
	l := startLoad(t, r)
	rounds := fewRounds()
	var slowest, blindest time.Duration
	for round := range rounds {
		end := begin()
		blind := n.awaitProbe(t, http.StatusServiceUnavailable)
		if rounds >= atLength { // else it ends when it was noticed
			pass(t, max(0, outageFor-blind))
		}
		end()
		began := time.Now()
		n.awaitProbe(t, http.StatusOK)
		r.await(t, r.canary(t, round), 1)
		blindest, slowest = max(blindest, blind), max(slowest, time.Since(began))
	}
	l.finish()
	finishing := time.Now()
	l.finished(t)
	drained := time.Since(finishing)
	l.report(t, t.Name(), rounds, l.check(t, rounds), drained)
	t.Logf("promise: %s, %d times: the probe failed %.1f s later at the latest, and everything worked %.1f s after the end",
		t.Name(), rounds, blindest.Seconds(), slowest.Seconds())
	lines := strings.Count(n.stderr.String(), "\n")
	t.Logf("promise: %s, %d times: the log got %d lines", t.Name(), rounds, lines)
	require.LessOrEqual(t, lines, rounds*maxLines)
	if rounds >= atLength {
		require.LessOrEqual(t, blindest, noticed)
		require.LessOrEqual(t, slowest, recovered)
	}
	n.terminate(t)
}

// awaitProbe waits until the probe has a status, and returns how long that took.
func (n *node) awaitProbe(t *testing.T, status int) time.Duration {
	t.Helper()
	begin, got := time.Now(), 0
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.host+"/probe", http.NoBody)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		got = res.StatusCode
		return res.Body.Close() == nil && got == status
	}, answerWithin, 50*time.Millisecond)
	return time.Since(begin)
}

// canary lets a contact that has not written yet write, until that is answered, and
// returns the contact.
func (r *env) canary(t *testing.T, round int) string {
	t.Helper()
	contact := contactOf(loadChats + round)
	_, err := r.graph.Write(t.Context(), graphtest.Inbound{From: contact, Name: "Canary", Text: "are you there?"})
	require.NoError(t, err)
	return contact
}

// exec executes a statement as an administrator, who connects directly.
func (d *outageDatabase) exec(t *testing.T, statement string) {
	t.Helper()
	_, err := d.admin.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

// disconnect ends the connections of all others.
func (d *outageDatabase) disconnect(t *testing.T) {
	t.Helper()
	d.exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`)
}

// readOnly lets sessions only read, as the operators of databases do whose disk is
// nearly full.
func readOnly(t *testing.T, d *outageDatabase) (end func()) {
	t.Helper()
	var name string
	require.NoError(t, d.admin.GetContext(t.Context(), &name, `SELECT current_database()`))
	d.exec(t, `ALTER DATABASE `+name+` SET default_transaction_read_only = on`)
	d.disconnect(t)
	return func() {
		// This session may be read-only, too: its own transaction is not.
		d.exec(t, `BEGIN READ WRITE; ALTER DATABASE `+name+` RESET default_transaction_read_only; COMMIT`)
	}
}

// standbyBehind leads connections to a standby for a while, as an address does that
// moves late.
func standbyBehind(t *testing.T, d *outageDatabase) (end func()) {
	t.Helper()
	if d.standby == nil {
		d.standby = d.server.Standby(t)
	}
	d.proxy.lead(d.standby.Socket())
	d.disconnect(t)
	return func() { d.proxy.lead(d.server.Socket()) }
}

// silentConnections lets nothing pass any more, and then only new connections.
func silentConnections(_ *testing.T, d *outageDatabase) (end func()) {
	d.proxy.hung.Lock()
	return func() {
		d.proxy.silence()
		d.proxy.hung.Unlock()
	}
}

// stoppedServer stops the processes of the server.
func stoppedServer(t *testing.T, d *outageDatabase) (end func()) {
	t.Helper()
	return d.server.Freeze(t)
}

// restartedServer stops the server as its operators do, and starts it.
func restartedServer(t *testing.T, d *outageDatabase) (end func()) {
	t.Helper()
	d.server.Stop(t)
	return func() { d.server.Start(t) }
}
