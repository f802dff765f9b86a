package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// probeProblem returns the status of a probe and, of a refusal, its detail.
func probeProblem(t *testing.T, client *http.Client, host string) (status int, detail string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/probe", http.NoBody)
	require.NoError(t, err)
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var problem struct{ Detail string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&problem))
	return res.StatusCode, problem.Detail
}

// TestTooManyOpenFiles opens more connections than the server may have files, and asks
// it over one that it has.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	addr := testkit.FreeAddress(t)
	server := trunkline(t, "--data", filepath.Join(t.TempDir(), "data"), "--addr", addr)
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -n 100; exec "$@"`, "sh"}, server.Args...)...)
	n := spawnCommand(t, nil, cmd)
	n.started(t, addr)
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: 1, MaxConnsPerHost: 1}}
	status, _ := probeProblem(t, client, addr)
	require.Equal(t, 200, status)
	var conns []net.Conn
	release := func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	t.Cleanup(release)
	for range 120 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		conns = append(conns, c)
	}
	const line = "too many open files: connections"
	require.Eventually(t, func() bool { return strings.Contains(n.stderr.String(), line) }, answerWithin, 10*time.Millisecond)
	status, detail := probeProblem(t, client, addr)
	require.Equal(t, 503, status)
	require.Contains(t, detail, "too many open files")
	for range 20 {
		_, _ = probeProblem(t, client, addr)
	}
	require.Equal(t, 1, strings.Count(n.stderr.String(), line), n.stderr)
	release()
	require.Zero(t, n.awaitProbe(t, http.StatusOK).Truncate(answerWithin))
	n.terminate(t)
}

// onSmallDisk returns a command for which dir is a file system of a size, of its own, after
// something was done there, with the folder as $1. See unshare(1).
func onSmallDisk(t *testing.T, dir, size, first string, args []string) *exec.Cmd {
	t.Helper()
	var namespace string
	var out []byte
	var err error
	for _, namespace = range []string{"-m", "-Urm"} { // for root, and for others
		if out, err = exec.Command("unshare", namespace, "mount", "-t", "tmpfs", "tmpfs", dir).CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		testkit.Missing(t, fmt.Sprintf("the system allows no mounts in a namespace: %v: %s", err, out))
	}
	script := `mount -t tmpfs -o size=` + size + ` tmpfs "$1"; ` + first + ` shift; exec "$@"`
	return exec.Command("unshare", append([]string{namespace, "sh", "-c", script, "sh", dir}, args...)...)
}

// TestStartOnFullDisk starts the server in a data folder without space, each time with
// some more pages left: what fails first depends on that.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	var slowest time.Duration
	rounds := testkit.Rounds(atLength)
	for round := range rounds {
		dir, addr := t.TempDir(), testkit.FreeAddress(t)
		server := trunkline(t, "--data", filepath.Join(dir, "data"), "--addr", addr)
		fill := fmt.Sprintf(`head -c %d /dev/zero >"$1/ballast" 2>/dev/null;`, 64<<20-os.Getpagesize()*round)
		n := spawnCommand(t, nil, onSmallDisk(t, dir, "64m", fill, server.Args))
		require.Equal(t, "the server waits until it can start: the disk is full", awaitUnavailable(t, addr, "/probe"), "%d pages are left", round)
		require.NoError(t, os.Remove(fmt.Sprintf("/proc/%d/root%s/ballast", n.cmd.Process.Pid, dir)))
		began := time.Now()
		n.started(t, addr)
		slowest = max(slowest, time.Since(began))
		n.terminate(t)
	}
	t.Logf("promise: %s, %d times: everything worked %.1f s after the end", t.Name(), rounds, slowest.Seconds())
	if rounds >= atLength {
		require.LessOrEqual(t, slowest, recovered)
	}
}

// fillDisk fills a disk that only the server sees, until end is called.
func fillDisk(t *testing.T, n *node, dir string) (end func()) {
	t.Helper()
	path := fmt.Sprintf("/proc/%d/root%s/ballast", n.cmd.Process.Pid, dir)
	ballast, err := os.Create(path)
	require.NoError(t, err)
	defer ballast.Close() //nolint:errcheck // it could not be written anyway
	for piece := make([]byte, os.Getpagesize()); err == nil; {
		_, err = ballast.Write(piece)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	return func() { require.NoError(t, os.Remove(path)) }
}

// TestFullDisks is [TestOutages] for SQLite: the disk of the data is full again and again.
func TestFullDisks(t *testing.T) {
	t.Parallel()
	r, dir := newEnv(t, "sent", "delivered", "read"), t.TempDir()
	server := trunkline(t, r.args("--data", filepath.Join(dir, "data"), "--media", t.TempDir())...)
	n := spawnCommand(t, nil, onSmallDisk(t, dir, "512m", "", server.Args))
	n.awaitReady(t)
	r.balancer.open(n)
	r.setup(t)
	r.endure(t, n, func() (end func()) { return fillDisk(t, n, dir) })
}

// TestFullMediaDisk fills the disk of the media files alone.
func TestFullMediaDisk(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), testkit.FreeAddress(t)
	server := trunkline(t, "--data", filepath.Join(t.TempDir(), "data"), "--media", filepath.Join(dir, "media"), "--addr", addr)
	cmd := onSmallDisk(t, dir, "2m", "", server.Args)
	n := spawnCommand(t, nil, cmd)
	n.started(t, addr)
	end := fillDisk(t, n, dir)
	n.awaitProbe(t, http.StatusServiceUnavailable)
	_, detail := probeProblem(t, http.DefaultClient, addr)
	require.Equal(t, "the disk of the media files is full: free some space", detail)
	end()
	require.Zero(t, n.awaitProbe(t, http.StatusOK).Truncate(answerWithin))
	n.terminate(t)
}

// TestRestoreAccountOnSmallDisk restores an account when the folder for temporary files has
// no space for the database of the backup.
func TestRestoreAccountOnSmallDisk(t *testing.T) {
	t.Parallel()
	dir, small := t.TempDir(), t.TempDir()
	data := []string{"--data", filepath.Join(dir, "data")}
	launch(t, data...).terminate(t)
	file := filepath.Join(dir, "trunkline.backup")
	succeeds(t, append([]string{"backup", file}, data...)...)
	args := append([]string{binary(t, "trunkline"), "restore", file, "--account", "ana@example.org"}, data...)
	cmd := onSmallDisk(t, small, "200k", "", args)
	cmd.Env = append(os.Environ(), "TMPDIR="+small)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the disk of "+small+" is full, set TMPDIR to another folder")
	require.Equal(t, 1, strings.Count(string(out), "\n"), string(out))
}
