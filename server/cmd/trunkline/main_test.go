package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// process is the command in a process of its own.
type process struct {
	*exec.Cmd
	stdout *bufio.Reader
	stderr *lines
	done   chan error
}

// lines collects what a process writes while it runs.
type lines struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote testsignal.Signal
}

// until waits until the process has written words.
func (l *lines) until(t testing.TB, words string) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&l.wrote}, func() bool { return strings.Contains(l.String(), words) }, words)
}

func (l *lines) Write(p []byte) (int, error) {
	defer l.wrote.Send()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// command prepares the command with env and args.
func command(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...), stderr: &lines{}, done: make(chan error, 1)}
	p.Env = append(os.Environ(), "RUN_AS_COMMAND=1")
	p.Env = append(p.Env, env...)
	p.Dir = t.TempDir()
	p.Stderr = p.stderr
	return p
}

// start runs a server until the test ends, and waits until it is ready.
func start(t *testing.T, env []string, args ...string) (p *process, base string) {
	t.Helper()
	p = command(t, env, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.stdout = bufio.NewReader(out)
	require.NoError(t, p.Start())
	t.Cleanup(func() { // it must not write any more when its folder is removed
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	line, err := p.stdout.ReadString('\n')
	require.NoError(t, err, p.stderr)
	require.Regexp(t, `^Trunkline is ready: panel (https?://localhost:\d+)/panel/, API docs https?://localhost:\d+/swagger\n$`, line)
	base = strings.TrimSuffix(strings.Fields(line)[4], "/panel/,")
	return p, strings.Replace(base, "localhost", "127.0.0.1", 1)
}

// terminate ends a server as an operator does.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(p.stdout)
	require.NoError(t, err)
	require.Empty(t, rest, "one line is all it prints")
	require.NoError(t, p.Wait(), p.stderr)
}

// refused runs a command that must end with exit 2 and one line.
func refused(t *testing.T, env []string, args ...string) string {
	t.Helper()
	p := command(t, env, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
	var out bytes.Buffer
	p.Stdout = &out
	err := p.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "it started: %s", out.String())
	require.Equal(t, 2, exit.ExitCode(), p.stderr)
	require.Empty(t, out.String())
	text := p.stderr.String()
	require.Equal(t, 1, strings.Count(text, "\n"), text)
	require.Regexp(t, `^trunkline: `, text)
	return text
}

func get(t *testing.T, url, token string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	return send(t, req)
}

func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	return send(t, req)
}

func send(t *testing.T, req *http.Request) (int, map[string]any) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	out := map[string]any{}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
	return resp.StatusCode, out
}

const account = `{"email":"ana@example.org","password":"correct horse","name":"Ana"}`

// TestServe starts on an empty folder, signs up, and starts again.
func TestServe(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p, base := start(t, nil, "--data", data)
	status, session := post(t, base+"/user/signup", account)
	require.Equal(t, 201, status)
	token := session["token"].(string)
	info, err := os.Stat(filepath.Join(data, "secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NotContains(t, p.stderr.String(), "--signup closed", "loopback only")

	text := refused(t, nil, "--data", data)
	require.Contains(t, text, "--data: the folder is in use by another trunkline")
	p.terminate(t)

	p, base = start(t, []string{"TRUNKLINE_DATA=" + data, "TRUNKLINE_SIGNUP=closed", "TRUNKLINE_LOG="}, "serve")
	status, me := get(t, base+"/user/me", token)
	require.Equal(t, 200, status, "the token is valid after a restart")
	require.Equal(t, "ana@example.org", me["email"])
	status, _ = post(t, base+"/user/signup", strings.Replace(account, "ana@", "ben@", 1))
	require.Equal(t, 403, status)
	p.terminate(t)
}

// TestKill ends a server without a warning; the next takes over at once.
func TestKill(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p, base := start(t, nil, "--data", data)
	_, session := post(t, base+"/user/signup", account)
	require.NoError(t, p.Process.Kill())
	require.Error(t, p.Wait())
	p, base = start(t, nil, "--data", data)
	status, _ := get(t, base+"/user/me", session["token"].(string))
	require.Equal(t, 200, status)
	p.terminate(t)
}

// TestDrain ends a server while it has a request in hand.
func TestDrain(t *testing.T) {
	t.Parallel()
	p, base := start(t, nil, "--data", t.TempDir())
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST /user/signup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
		len(account))
	require.NoError(t, err)
	answers := bufio.NewReader(c)
	line, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the request is in hand: its handler asks for the body")
	_, err = answers.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.stderr.until(t, "draining")
	_, err = io.WriteString(c, account)
	require.NoError(t, err)
	line, err = answers.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "201 Created")
	require.NoError(t, p.Wait(), p.stderr)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	env := []string{"TRUNKLINE_DATABASE_URL=" + url}
	data := t.TempDir()
	p, _ := start(t, env, "--data", data)
	text := refused(t, env, "--data", t.TempDir())
	require.Contains(t, text, "--secret: the database was written with another secret than the one in the data folder")
	p.terminate(t)
	own, err := os.ReadFile(filepath.Join(data, "secret"))
	require.NoError(t, err)
	secret := "TRUNKLINE_SECRET=" + strings.TrimSpace(string(own))
	text = refused(t, append(env, secret), "--data", t.TempDir())
	require.Contains(t, text, "--media: the other nodes of this database keep their files elsewhere")
	files := filepath.Join(data, "media")
	one, _ := start(t, append(env, secret), "--data", t.TempDir(), "--media", files)
	two, _ := start(t, append(env, secret), "--data", t.TempDir(), "--media", files)
	one.terminate(t)
	two.terminate(t)
}

func TestSecret(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p, _ := start(t, []string{"TRUNKLINE_SECRET=" + longSecret}, "--data", data)
	p.terminate(t)
	require.NoFileExists(t, filepath.Join(data, "secret"))
	text := refused(t, nil, "--data", data, "--secret", otherSecret)
	require.Contains(t, text, "--secret: the database was written with another secret")
	require.NotContains(t, text, "hush-hush")
	refused(t, nil, "--data", data)
	p, _ = start(t, nil, "--data", data, "--secret", "@"+file(t, otherSecret+","+longSecret))
	p.terminate(t)
	p, _ = start(t, nil, "--data", data, "--secret", otherSecret)
	p.terminate(t)
}

// TestRestoredSecrets takes a backup while the secret is being changed: both are
// in it, and the restored server starts with both.
func TestRestoredSecrets(t *testing.T) {
	t.Parallel()
	data, to, backup := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trunkline.backup")
	p, _ := start(t, nil, "--data", data, "--secret", longSecret)
	p.terminate(t)
	code, _, why := output(t, nil, "backup", backup, "--with-secret", "--data", data, "--secret", otherSecret+","+longSecret)
	require.Zero(t, code, why)
	code, printed, why := output(t, nil, "restore", backup, "--data", to)
	require.Zero(t, code, why)
	require.NotContains(t, printed, "Give the server the secret")
	p, _ = start(t, nil, "--data", to)
	p.terminate(t)
	p, _ = start(t, nil, "--data", to, "--secret", otherSecret)
	p.terminate(t)
}

// TestSQLiteElsewhere keeps two processes from one file.
func TestSQLiteElsewhere(t *testing.T) {
	t.Parallel()
	db := "sqlite://" + filepath.Join(t.TempDir(), "x.db")
	p, _ := start(t, nil, "--data", t.TempDir(), "--database-url", db)
	text := refused(t, nil, "--data", t.TempDir(), "--database-url", db)
	require.Contains(t, text, "--database-url: the database file is in use by another trunkline")
	p.terminate(t)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	plain := file(t, "x")
	for name, c := range map[string]struct {
		env, args []string
		says      string
	}{
		"unknown flag":     {nil, []string{"--colour"}, "unknown flag --colour"},
		"unknown command":  {nil, []string{"sevre"}, "sevre"},
		"missing value":    {nil, []string{"--base-url"}, "--base-url"},
		"flag":             {nil, []string{"--signup", "no"}, "--signup: must be open or closed"},
		"variable":         {[]string{"TRUNKLINE_API_LIMIT=x"}, nil, "--api-limit: must be a whole number of at least 0"},
		"address in use":   {nil, []string{"--addr", taken.Addr().String()}, "--addr: cannot listen on"},
		"metrics in use":   {nil, []string{"--metrics-addr", taken.Addr().String()}, "--metrics-addr: cannot listen on"},
		"no certificate":   {nil, []string{"--tls-cert", "nowhere", "--tls-key", "nowhere"}, "--tls-cert: no such file"},
		"bad certificate":  {nil, []string{"--tls-cert", plain, "--tls-key", plain}, "--tls-cert: reading the TLS certificate"},
		"folder is a file": {nil, []string{"--data", plain}, "--data: the folder " + plain + " cannot be created: not a directory"},
		"no database":      {nil, []string{"--database-url", "postgres://u:hush-hush@127.0.0.1:1/d?sslmode=no"}, "--database-url: the database cannot be opened"},
		"short secret":     {[]string{"TRUNKLINE_SECRET=hush-hush"}, nil, "--secret: each secret needs at least 32 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := refused(t, c.env, c.args...)
			require.Contains(t, text, c.says)
			require.NotContains(t, text, "hush-hush")
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	p, _ := start(t, []string{"TRUNKLINE_OPENAI_KEY=hush-hush"}, "--data", t.TempDir(), "--addr", ":0", "--log-format", "json")
	p.terminate(t)
	log := p.stderr.String()
	require.Equal(t, 1, strings.Count(log, "--signup closed"))
	require.NotContains(t, log, "hush-hush")
}

func TestMetricsAddr(t *testing.T) {
	t.Parallel()
	addr := testkit.FreeAddress(t)
	p, base := start(t, nil, "--data", t.TempDir(), "--metrics-addr", addr)
	status, _ := get(t, base+"/metrics", "")
	require.Equal(t, 404, status)
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "trunkline_http_request_duration_seconds")
	p.terminate(t)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, help, _ := output(t, nil, "--help")
	require.Zero(t, code)
	require.Contains(t, help, "TRUNKLINE_TLS_CERT")
	code, short, _ := output(t, nil, "version", "--short")
	require.Zero(t, code)
	require.Equal(t, programVersion()+"\n", short)
	_, long, _ := output(t, nil, "version")
	require.Regexp(t, `(?s)^trunkline \S+\nmodule    github.com/trunklinehq/trunkline\n.*go        go1\.\S+\nplatform  \w+/\w+\nlicence   `+regexp.QuoteMeta(licence)+`\n$`, long)
	require.Equal(t, "module    m\ncommit    abc (2026-01-02, changed)\ngo        "+runtime.Version()+"\nplatform  "+runtime.GOOS+"/"+runtime.GOARCH+"\n",
		buildLines(&debug.BuildInfo{Main: debug.Module{Path: "m"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02"}, {Key: "vcs.modified", Value: "true"},
		}}, true))
}

// BenchmarkSecondStart starts on a folder that has been used, until it is ready.
func BenchmarkSecondStart(b *testing.B) {
	data := b.TempDir()
	once := func() time.Duration {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "--addr", "127.0.0.1:0", "--data", data)
		cmd.Env = append(os.Environ(), "RUN_AS_COMMAND=1")
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		begin := time.Now()
		require.NoError(b, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		elapsed := time.Since(begin)
		require.NoError(b, err)
		require.NoError(b, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(b, cmd.Wait())
		return elapsed
	}
	once()
	var total time.Duration
	for b.Loop() {
		total += once()
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
}
