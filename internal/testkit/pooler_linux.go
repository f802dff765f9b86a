package testkit

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Pooler is a PgBouncer before a PostgreSQL.
type Pooler struct {
	URL string // of the database behind it

	args   []string
	listen string
	cred   *syscall.Credential
	stdin  io.WriteCloser // of the supervisor
	cmd    *exec.Cmd
}

// poolerFile is its configuration. See https://www.pgbouncer.org/config.html.
const poolerFile = `[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
%s
`

// StartPooler starts a PgBouncer before the PostgreSQL of a URL, with lines of its
// configuration. It ends with the test.
func StartPooler(t testing.TB, address, lines string) *Pooler {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // which is not on everybody's path
	}
	if err != nil {
		Missing(t, "PgBouncer is missing: "+err.Error())
	}
	to, err := url.Parse(address)
	require.NoError(t, err)
	p := &Pooler{listen: FreeAddress(t)}
	p.cred, err = account() // it does not run as root either
	check(t, err)
	dir, err := serverDir(p.cred)
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(p.listen)
	require.NoError(t, err)
	file := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, poolerFile, to.Query().Get("host"), port, lines), 0o644))
	p.args = []string{dir, program, file}
	p.URL = "postgres://postgres@" + p.listen + to.Path
	p.Start(t)
	t.Cleanup(func() {
		p.Stop(t)
		require.NoError(t, os.RemoveAll(dir))
	})
	return p
}

// Start starts the pooler again after [Pooler.Stop].
func (p *Pooler) Start(t testing.TB) {
	t.Helper()
	p.cmd = exec.Command("sh", append([]string{"-c", supervisor, "sh"}, p.args...)...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.cred, Setpgid: true}
	p.cmd.Env = append(os.Environ(), "END=TERM")
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	AwaitListener(t, p.listen)
}

// Stop ends the pooler and all connections through it.
func (p *Pooler) Stop(t testing.TB) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	_, err := io.WriteString(p.stdin, "TERM keep\n")
	require.NoError(t, err)
	_ = p.cmd.Wait() // it says which signal
	p.cmd = nil
}
