package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the maintenance connection
	"github.com/stretchr/testify/require"
)

// Server is a PostgreSQL server on a Unix socket. It ends, and its files are
// deleted, when the test binary ends, even if that is killed.
type Server struct {
	dir  string
	bin  string
	args []string
	cred *syscall.Credential
	next atomic.Int64
	from string // database that [Server.Database] copies

	stdin io.WriteCloser // to the supervisor
	cmd   *exec.Cmd
}

// supervisor runs a server until it gets a command ("INT keep") or its standard
// input closes, which happens when the test binary dies: then it sends the signal END.
const supervisor = `dir=$1; shift
"$@" >>"$dir/log" 2>&1 </dev/null & server=$!
read -r how keep || how=${END:-QUIT}
kill -"$how" $server; wait $server
[ -n "$keep" ] || rm -rf "$dir"`

// startWithin bounds the wait for a server, which may be long on a loaded machine.
const startWithin = 60 * time.Second

var (
	fast    = []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "autovacuum=off"}
	durable = []string{"fsync=on", "synchronous_commit=on"}
	always  = []string{"max_connections=300", "shared_buffers=64MB", "jit=off", "listen_addresses="}
)

var (
	sharedOnce   sync.Once
	sharedServer *Server
	sharedErr    error
)

// shared returns the server of this test binary.
func shared(t testing.TB) *Server {
	t.Helper()
	sharedOnce.Do(func() {
		sharedServer, sharedErr = newServer(PostgresOptions{})
		if sharedErr == nil && filler != nil {
			sharedErr = sharedServer.fill()
		}
	})
	check(t, sharedErr)
	return sharedServer
}

// PostgresServer starts a separate server for a test that restarts it, or for a
// benchmark that needs it durable. Tests that only need a database use
// [PostgresURL].
func PostgresServer(t testing.TB, o PostgresOptions) *Server {
	t.Helper()
	s, err := newServer(o)
	check(t, err)
	t.Cleanup(func() { _ = s.end("QUIT") })
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoBinaries) {
		Missing(t, err.Error())
	}
	require.NoError(t, err)
}

func newServer(o PostgresOptions) (*Server, error) {
	settings := fast
	if o.Durable {
		settings = durable
	}
	more := func(dir string) []string {
		if o.Settings == nil {
			return settings
		}
		return slices.Concat(settings, o.Settings(dir))
	}
	return runServer(more, func(s *Server) error { return initData(s.bin, s.data(), s.cred) })
}

// runServer starts a server on the data that fill makes.
func runServer(settings func(dir string) []string, fill func(*Server) error) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, from: "template0"}
	if s.cred, err = account(); err != nil {
		return nil, err
	}
	if s.dir, err = serverDir(s.cred); err != nil {
		return nil, err
	}
	s.args = []string{"-D", s.data(), "-k", s.dir}
	for _, set := range slices.Concat(always, settings(s.dir)) {
		s.args = append(s.args, "-c", set)
	}
	if err = fill(s); err == nil {
		err = s.start()
	}
	if err != nil {
		_ = os.RemoveAll(s.dir)
		return nil, err
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "d") }

// start starts the server and waits until it accepts connections.
func (s *Server) start() error {
	args := append([]string{"-c", supervisor, "sh", s.dir, filepath.Join(s.bin, "postgres")}, s.args...)
	s.cmd = exec.Command("sh", args...)
	s.cmd.Dir = s.dir
	// A process group of its own: Ctrl-C ends the test binary, which ends the
	// server.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	return s.await()
}

func (s *Server) await() error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(startWithin); time.Now().Before(end); <-tick.C {
		b, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
		if l := bytes.Split(b, []byte("\n")); len(l) >= 8 && isUp(l[7]) {
			return nil
		}
		if log := s.log(); gaveUp(log) {
			_ = s.end("QUIT")
			return fmt.Errorf("PostgreSQL did not start: %s", log)
		}
	}
	log := s.log()
	_ = s.end("QUIT")
	return fmt.Errorf("PostgreSQL was not ready after %s: %s", startWithin, log)
}

// isUp reports whether a server with this status answers queries. See
// https://www.postgresql.org/docs/current/storage-file-layout.html.
func isUp(status []byte) bool {
	return bytes.HasPrefix(status, []byte("ready")) || bytes.HasPrefix(status, []byte("standby"))
}

// gaveUp reports whether the server has logged a fatal error, other than those for
// clients that connect too early.
func gaveUp(log []byte) bool {
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte("FATAL:")) && !bytes.Contains(line, []byte("the database system is")) {
			return true
		}
	}
	return false
}

func (s *Server) log() []byte {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return b
}

// end tells the supervisor which signal to send to the server, and waits for it.
func (s *Server) end(how string) error {
	if s.cmd == nil {
		return nil
	}
	_, err := io.WriteString(s.stdin, how+"\n")
	_ = s.cmd.Wait() // also closes stdin
	s.cmd = nil
	return err
}

// Stop shuts the server down cleanly. Its data remain for [Server.Start].
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, s.end("INT keep"))
}

// Kill kills the server. Its data remain for [Server.Start].
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, s.end("QUIT keep"))
}

// Start starts the server again after [Server.Stop] or [Server.Kill].
func (s *Server) Start(t testing.TB) {
	t.Helper()
	_ = os.Remove(filepath.Join(s.data(), "postmaster.pid")) // a killed server leaves it, with "ready" in it
	_ = os.Remove(filepath.Join(s.dir, "log"))
	require.NoError(t, s.start())
}

// Standby starts another server that follows this one, which must be durable, and
// answers queries. It ends with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	follower, err := runServer(func(string) []string { return durable }, func(f *Server) error {
		return s.run("pg_basebackup -D '" + f.data() + "' -R -X stream -c fast --no-sync")
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = follower.end("QUIT") })
	return follower
}

// run runs lines of shell as the account of the server, with its programs.
func (s *Server) run(lines string) error {
	cmd := exec.Command("sh", "-ec", lines)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+":"+os.Getenv("PATH"), "PGHOST="+s.dir, "PGUSER=postgres")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	return run(cmd)
}

// Run runs lines of shell as the account of the server, in its folder, with its
// programs, which connect to it.
func (s *Server) Run(t testing.TB, lines string) {
	t.Helper()
	require.NoError(t, s.run(lines))
}

// Dir is the folder of the server. Its account can write there.
func (s *Server) Dir() string { return s.dir }

// Recover starts another server on a base backup of one that is stopped, with settings
// that say where its log is and how far to go. It ends with the test. See
// https://www.postgresql.org/docs/current/continuous-archiving.html.
func (s *Server) Recover(t testing.TB, base string, settings []string) *Server {
	t.Helper()
	more := func(string) []string { return slices.Concat(durable, settings, []string{"hot_standby=off"}) } // it is up when it has recovered
	recovered, err := runServer(more, func(r *Server) error {
		return s.run("cp -a '" + base + "' '" + r.data() + "'; touch '" + r.data() + "/recovery.signal'")
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = recovered.end("QUIT") })
	return recovered
}

// At returns the URL of a database of this server that has the name of another's.
func (s *Server) At(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	return s.url(strings.TrimPrefix(u.Path, "/"))
}

// RequireStandby has commits wait from now on until a standby, which there must be, has
// them on its disk.
func (s *Server) RequireStandby(t testing.TB) {
	t.Helper()
	db := sqlx.MustOpen("postgres", s.url("postgres"))
	defer db.Close() //nolint:errcheck // nothing is left to be written
	for _, text := range []string{`ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`} {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		var synchronous bool
		err := db.GetContext(t.Context(), &synchronous, `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')`)
		return err == nil && synchronous
	}, startWithin, 5*time.Millisecond)
}

// Promote makes a standby a server that can be written to.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	db := sqlx.MustOpen("postgres", s.url("postgres"))
	defer db.Close() //nolint:errcheck // nothing is left to be written
	var done bool
	require.NoError(t, db.GetContext(t.Context(), &done, `SELECT pg_promote()`))
	require.True(t, done)
}

// Freeze stops the server and its backends where they are, as a machine that sleeps
// does, until thaw is called. Call it before the test ends.
func (s *Server) Freeze(t testing.TB) (thaw func()) {
	t.Helper()
	signal := func(pid int, what syscall.Signal) {
		if err := syscall.Kill(pid, what); !errors.Is(err, syscall.ESRCH) { // a backend may have ended
			require.NoError(t, err)
		}
	}
	stopped := children(s.cmd.Process.Pid, processes())
	for _, pid := range stopped { // the postmaster first: it starts no more
		signal(pid, syscall.SIGSTOP)
	}
	return func() {
		for _, pid := range slices.Backward(stopped) {
			signal(pid, syscall.SIGCONT)
		}
	}
}

// children returns the processes that pid has started, and theirs, each after its
// parent.
func children(pid int, all []process) (pids []int) {
	for _, p := range all {
		if p.parent == pid {
			pids = append(append(pids, p.pid), children(p.pid, all)...)
		}
	}
	return pids
}

// Socket is the Unix socket of the server.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Database creates a database, which is dropped when the test ends, and returns its
// URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", s.next.Add(1))
	require.NoError(t, s.create(name))
	t.Cleanup(func() { s.drop(name) })
	return s.url(name)
}

// fill creates the database that [Fill] fills, and that others are copies of.
func (s *Server) fill() error {
	const name = "filled"
	if err := s.create(name); err != nil {
		return err
	}
	if err := fillDatabase(s.url(name)); err != nil {
		return err
	}
	s.from = name
	return nil
}

func (s *Server) create(name string) error {
	db, err := sqlx.Open("postgres", s.url("postgres"))
	if err != nil {
		return fmt.Errorf("creating a database: %w", err)
	}
	defer db.Close() //nolint:errcheck // nothing was written through it that could be lost
	if _, err := db.Exec("CREATE DATABASE " + name + " TEMPLATE " + s.from + " STRATEGY FILE_COPY"); err != nil {
		return fmt.Errorf("creating a database: %w", err)
	}
	return nil
}

func (s *Server) url(name string) string {
	return "postgres://postgres@/" + name + "?host=" + url.QueryEscape(s.dir)
}

// drop drops a database. The test may have stopped the server.
func (s *Server) drop(name string) {
	db, err := sqlx.Open("postgres", s.url("postgres"))
	if err != nil {
		return
	}
	defer db.Close() //nolint:errcheck // as in create
	_, _ = db.Exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
}
