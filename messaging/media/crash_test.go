//go:build unix

package media_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// With this variable the test binary is the child of a test and saves files in the
// named folder.
const childFolder = "MEDIA_TEST_FOLDER"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFolder); path != "" {
		child(path)
		return
	}
	os.Exit(m.Run())
}

// child saves files until it is killed or there is no room, and prints each
// outcome.
func child(path string) {
	if os.Getenv("MEDIA_TEST_ROOM") != "" {
		signal.Ignore(syscall.SIGXFSZ)
		must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}))
	}
	folder, err := media.OpenFolder(path)
	must(err)
	lib, err := media.New(folder, &media.Options{Secrets: []string{secret}})
	must(err)
	for size := 100 << 10; ; size += 50 << 10 {
		content := bytes.Repeat([]byte{byte(rand.N(256)), 'x'}, size/2)
		f, err := lib.Save(context.Background(), bytes.NewReader(content), media.Upload{})
		if errors.Is(err, media.ErrFull) {
			fmt.Println("full", err)
			return
		}
		must(err)
		fmt.Println(f.ID, hex.EncodeToString(f.SHA256))
	}
}

func start(t *testing.T, path string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), childFolder+"="+path), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// A process that is killed at any moment has completely stored every file that it
// has reported. Otherwise there are only drafts.
func TestKilled(t *testing.T) {
	t.Parallel()
	for range testkit.Rounds(3) {
		_, path := newFolder(t)
		cmd, lines := start(t, path)
		var output []string
		for n := 1 + rand.N(8); len(output) < n && lines.Scan(); {
			output = append(output, lines.Text())
		}
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() {
			output = append(output, lines.Text())
		}
		_ = cmd.Wait() // it was killed

		here := map[string]bool{}
		for _, name := range files(t, path) {
			if filepath.Dir(name) == "tmp" {
				continue
			}
			content, err := os.ReadFile(filepath.Join(path, name))
			require.NoError(t, err)
			sum := sha256.Sum256(content)
			here[filepath.Base(name)+" "+hex.EncodeToString(sum[:])] = true
			require.NotEmpty(t, content)
		}
		for _, line := range output {
			require.True(t, here[line], "%s was told of", line)
		}
	}
}

// When the system has no room, the error is ErrFull and nothing remains.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	_, path := newFolder(t)
	cmd, lines := start(t, path, "MEDIA_TEST_ROOM=1")
	var output []string
	for lines.Scan() {
		output = append(output, lines.Text())
	}
	require.NoError(t, cmd.Wait())
	last := output[len(output)-1]
	require.True(t, strings.HasPrefix(last, "full"), last)
	require.Contains(t, last, "there is no room for the file")
	require.Len(t, files(t, path), len(output)-1, "no draft is left")
}
