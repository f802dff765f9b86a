package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/sqldb"
)

// TestNodesBehindPooler runs two nodes through a PgBouncer that shares the connections of
// PostgreSQL between transactions, and restarts it again and again while contacts write
// and messages are sent. No node is restarted, and nothing is lost.
func TestNodesBehindPooler(t *testing.T) {
	t.Parallel()
	direct := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true}).Database(t)
	guide := testkit.ReadGuide(t, "../../../docs/running.md")
	pooler := testkit.StartPooler(t, direct, guide.Block(t, "pgbouncer", "default_pool_size = 20", "default_pool_size = 5"))
	line := guide.Block(t, "pooler", "postgres://trunkline@pooler:6432/trunkline", pooler.URL, "postgres://trunkline@db:5432/trunkline", direct)
	settings := append(strings.Fields(line)[1:], "--secret", sharedSecret, "--media", t.TempDir())

	r := newEnv(t, "sent", "delivered", "read")
	n := launch(t, r.args(settings...)...)
	other := launch(t, r.args(append(settings, "--database-connections", fmt.Sprint(sqldb.MinConns))...)...)
	r.balancer.open(n, other)
	r.setup(t)
	r.endure(t, n, func() (end func()) {
		pooler.Stop(t)
		return func() { pooler.Start(t) }
	})
	other.terminate(t)
}

// TestPoolerRefused ends the start at a pooler whose connections cannot be relied on, and
// says what to do.
func TestPoolerRefused(t *testing.T) {
	t.Parallel()
	direct := testkit.PostgresURL(t)
	through := testkit.StartPooler(t, direct, "pool_mode = transaction").URL
	statement := testkit.StartPooler(t, direct, "pool_mode = statement").URL
	refused := func(url, want string, args ...string) {
		t.Helper()
		code, _, stderr := ran(t, append([]string{"--addr", "127.0.0.1:0", "--database-url", url, "--secret", sharedSecret}, args...)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, want)
	}
	for _, url := range []string{through, statement} {
		refused(url, "--database-url: a pooler shares the connections of PostgreSQL between transactions (pool_mode=transaction): "+
			"name PostgreSQL itself, a pooler with pool_mode=session, or also --database-listen-url")
	}
	refused(statement, "the pooler refuses transactions (pool_mode=statement)", "--database-listen-url", direct)
	refused(through, "--database-listen-url: must lead to the database of --database-url, without a pooler that shares connections: notifications do not arrive",
		"--database-listen-url", through)
}
