package media_test

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

	"github.com/trunklinehq/trunkline/messaging/media/s3"
)

const s3Tool = "../../internal/tools/s3server"

// buildS3 builds the server into the user's cache, where the next run finds it
// up to date.
var buildS3 = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, "trunkline-test", "s3server")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir = s3Tool
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return program, cmd.Run()
})

// s3Server is an S3 server on a folder of its own, with one bucket.
type s3Server struct {
	address string
	folder  string
	stop    func()
}

var served = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startS3 starts a server for the time of the test.
func startS3(t testing.TB) *s3Server {
	t.Helper()
	program, err := buildS3()
	require.NoError(t, err, "building %s", s3Tool)
	s := &s3Server{folder: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "bucket"), 0o700))
	cmd := exec.Command(program, "serve", "s3", "--config", "", "--addr", "127.0.0.1:0",
		"--auth-key", s.keys().AccessKey+","+s.keys().SecretKey, s.folder)
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if s.address = served.FindString(lines.Text()); s.address != "" {
			break
		}
	}
	require.NotEmpty(t, s.address, "the server says where it listens")
	go io.Copy(io.Discard, out) //nolint:errcheck // until it ends
	return s
}

func (s *s3Server) keys() *s3.Options {
	return &s3.Options{AccessKey: "test-access", SecretKey: "test-secret"}
}

func (s *s3Server) url(prefix string) string {
	return "s3://bucket?" + url.Values{"endpoint": {s.address}, "prefix": {prefix}}.Encode()
}
