package testkit

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// OwnTool builds a program of a folder of internal/tools, which is a module of its
// own, into the user's cache, where the next run finds it up to date. It returns the
// path of the program.
func OwnTool(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	// Each test binary has its own: one must not be replaced while it runs.
	program := filepath.Join(cache, "trunkline-test", filepath.Base(os.Args[0]), name)
	buildTools.Lock()
	defer buildTools.Unlock()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join(Root(t), "internal", "tools", name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "building %s: %s", name, out)
	return program
}

var buildTools sync.Mutex

// S3 is a server with the protocol of Amazon S3, on a folder of its own. It has one
// bucket, with the name "bucket".
type S3 struct {
	Address string // http://127.0.0.1:PORT
	Folder  string // what is stored is in files below
	Stop    func()
}

// The keys of an [S3] server.
const (
	S3Access = "test-access"
	S3Secret = "test-secret"
)

var served = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// S3Server starts a server for the time of the test.
func S3Server(t testing.TB) *S3 {
	t.Helper()
	s := &S3{Folder: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.Folder, "bucket"), 0o700))
	cmd := exec.Command(OwnTool(t, "s3server"), "serve", "s3", "--config", "", "--addr", "127.0.0.1:0",
		"--auth-key", S3Access+","+S3Secret, s.Folder)
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s.Stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(s.Stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if s.Address = served.FindString(lines.Text()); s.Address != "" {
			break
		}
	}
	require.NotEmpty(t, s.Address, "the server says where it listens")
	go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
	return s
}

// URL returns the address of the bucket, or of a part of it.
func (s *S3) URL(prefix string) string {
	return "s3://bucket?" + url.Values{"endpoint": {s.Address}, "prefix": {prefix}}.Encode()
}
