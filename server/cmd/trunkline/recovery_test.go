package main_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestPointInTime recovers a PostgreSQL, as docs/operations.md describes it, to the time
// before a chat was erased by mistake. The server goes on from there.
func TestPointInTime(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../docs/operations.md")
	primary := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true, Settings: func(dir string) []string {
		return settingsOf(guide.Block(t, "postgres-archive", "/backups", dir))
	}})
	primary.Run(t, "mkdir wal")
	database, data := primary.Database(t), t.TempDir()
	r := newEnv(t, "sent", "delivered", "read")
	on := func(url string) []string {
		return r.args("--database-url", url, "--secret", sharedSecret, "--data", data)
	}
	n := launch(t, on(database)...)
	r.balancer.open(n)
	r.setup(t)
	primary.Run(t, guide.Block(t, "postgres-base", "/backups", primary.Dir()))
	for i := range 5 {
		r.await(t, r.canary(t, i), 1)
	}
	before := r.chats(t)
	require.Len(t, before, 5)
	var then time.Time
	db := sqlx.MustOpen("postgres", database)
	require.NoError(t, db.GetContext(t.Context(), &then, `SELECT clock_timestamp()`))
	require.NoError(t, db.Close())

	r.call(t, 202, "DELETE", fmt.Sprintf("/chats?reference=%d&chatId=%s", r.ref, before[0]), "")
	r.await(t, r.canary(t, 5), 1)
	n.terminate(t)
	r.balancer.open()
	primary.Stop(t)

	recovered := primary.Recover(t, filepath.Join(primary.Dir(), "base"), settingsOf(guide.Block(t, "postgres-recovery",
		"/backups", primary.Dir(), "2026-11-28 06:25:00+00", then.UTC().Format("2006-01-02 15:04:05.999999+00"))))
	n = launch(t, on(recovered.At(t, database))...)
	r.balancer.open(n)
	require.Equal(t, before, r.chats(t))
	require.NotEmpty(t, r.history(t, before[0]))
	r.await(t, r.canary(t, 6), 1)
	require.Len(t, r.chats(t), 6)
	n.terminate(t)
}

// settingsOf reads lines of postgresql.conf.
func settingsOf(lines string) (settings []string) {
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(line, " = ")
		settings = append(settings, name+"="+strings.Trim(value, "'\n"))
	}
	return settings
}

// TestLitestream copies a SQLite database as it is written, as docs/operations.md
// describes it, and restores the copy elsewhere: every row is the same, and the server
// goes on.
func TestLitestream(t *testing.T) {
	t.Parallel()
	data, replica, restored := t.TempDir(), filepath.Join(t.TempDir(), "replica"), filepath.Join(t.TempDir(), "new")
	r := newEnv(t, "sent", "delivered", "read")
	args := func(data string) []string { return r.args("--secret", sharedSecret, "--data", data) }
	n := launch(t, args(data)...)
	r.balancer.open(n)
	r.setup(t)
	guide := testkit.ReadGuide(t, "../../../docs/operations.md")
	at := []string{"/var/lib/trunkline", data, "/var/lib/new", restored, "s3://backups/trunkline", "file://" + replica}
	replicate := startLitestream(t, guide.Block(t, "litestream-replicate", at[0], at[1], at[4], at[5]))

	l := startLoad(t, r)
	r.sink.untilMore(t, 300)
	l.finish()
	l.finished(t)
	n.terminate(t) // a commit that a kill interrupts, of which nobody knows, may be in the copy alone
	r.balancer.open()
	replicate.finish(t)
	want := filepath.Join(t.TempDir(), "want.trunkline")
	succeeds(t, "backup", want, "--data", data)

	out, err := litestream(t, guide.Block(t, "litestream-restore", at[2:]...)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, found, _ := ran(t, "doctor", "--data", restored, "--secret", sharedSecret) // which has no network
	require.Contains(t, found, "ok    content     all pages of the database are sound")
	require.Contains(t, found, "ok    secret      it decrypts the data of the database")
	got := filepath.Join(t.TempDir(), "got.trunkline")
	succeeds(t, "backup", got, "--data", restored)
	require.Equal(t, manifest(t, want).Tables, manifest(t, got).Tables)

	n = launch(t, args(restored)...)
	r.balancer.open(n)
	r.await(t, r.canary(t, 0), 1)
	n.terminate(t)
}

// litestream prepares lines of shell that call the program.
func litestream(t *testing.T, lines string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", lines)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(testkit.OwnTool(t, "litestream"))+":"+os.Getenv("PATH"))
	return cmd
}

// replication is a running litestream.
type replication struct {
	cmd    *exec.Cmd
	stderr *text
}

// startLitestream runs a line that copies a database until [replication.finish].
func startLitestream(t *testing.T, line string) *replication {
	t.Helper()
	p := &replication{litestream(t, "exec "+line), &text{}}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "it ended: %s", p.stderr)
	require.Equal(t, "replicating", lines.Text())
	return p
}

// finish copies the rest, and ends.
func (p *replication) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.cmd.Wait(), p.stderr)
}

// chats returns the ids of the chats that are listed, sorted.
func (r *env) chats(t *testing.T) (ids []string) {
	t.Helper()
	page := r.call(t, 200, "GET", fmt.Sprintf("/chats/list?reference=%d&limit=100", r.ref), "")
	for _, item := range page["items"].([]any) {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	slices.Sort(ids)
	return ids
}
