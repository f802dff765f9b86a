package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// wrongByEnv moves the clock of a program of [wrongClock], like "1h".
const wrongByEnv = "RUN_WITH_CLOCK"

// wrongClock returns the flag with which "go build" makes a program whose clock is wrong
// by [wrongByEnv]. It replaces a file of package time: Go programs ask the system without a
// library that could be replaced.
func wrongClock(t *testing.T) (overlay string) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	const read = "\tsec, nsec, mono := runtimeNow()\n"
	require.Equal(t, 1, strings.Count(string(text), read), "this version of Go reads the clock in another way")
	changed := strings.Replace(string(text), read, read+"\tsec += wrongBy\n", 1) + `
var wrongBy = func() int64 {
	text, _ := syscall.Getenv("` + wrongByEnv + `")
	by, _ := ParseDuration(text)
	return int64(by / Second)
}()
`
	changed = strings.Replace(changed, "import (\n", "import (\n\t\"syscall\"\n", 1)
	dir := t.TempDir()
	replacement := filepath.Join(dir, "time.go")
	require.NoError(t, os.WriteFile(replacement, []byte(changed), 0o600))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: replacement}})
	require.NoError(t, err)
	name := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, list, 0o600))
	return "-overlay=" + name
}

// build runs "go build".
func build(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build"}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// wrongBy are how wrong the clock of a node is.
var wrongBy = []string{"1h", "-1h", "24h", "-24h"}

// TestWrongClock lets a node with a wrong clock work beside one whose clock is right, and
// then alone, and kills it. Nothing is lost, sent twice or held up, and no node takes the
// work of the other; only the times in signatures are wrong. The program with a wrong
// clock takes minutes to compile: in a short run it must only be possible.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	overlay := wrongClock(t)
	rounds := testkit.Rounds(atLength)
	if rounds < atLength {
		build(t, overlay, "time")
		return
	}
	program := filepath.Join(t.TempDir(), "trunkline")
	build(t, overlay, "-o", program, ".")
	r := newEnv(t, "sent", "delivered", "read")
	r.sink.anyTime = true
	args := r.args("--database-url", testkit.PostgresURL(t), "--secret", sharedSecret, "--media", t.TempDir())
	right := launch(t, args...)
	r.balancer.open(right)
	r.setup(t)
	l := startLoad(t, r)
	t.Cleanup(l.finish)
	var slowest time.Duration
	worked := func(round int, nodes ...*node) {
		r.balancer.open(nodes...)
		began := time.Now()
		r.await(t, r.canary(t, round), 1)
		slowest = max(slowest, time.Since(began))
		r.sink.untilMore(t, 50)
	}
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"--addr", "127.0.0.1:0"}, args...)...)
		cmd.Dir = t.TempDir()
		wrong := spawnCommand(t, []string{wrongByEnv + "=" + wrongBy[round%len(wrongBy)]}, cmd)
		wrong.awaitReady(t)
		worked(4*round, right, wrong)
		right.kill()
		worked(4*round+1, wrong)
		right = launch(t, args...)
		worked(4*round+2, right, wrong)
		wrong.kill()
		worked(4*round+3, right)
	}
	l.finish()
	begin := time.Now()
	l.finished(t)
	drained := time.Since(begin)
	l.report(t, t.Name(), 2*rounds, l.check(t, 2*rounds), drained)
	t.Logf("promise: %s, %d times: everything worked within %.1f s", t.Name(), rounds, slowest.Seconds())
	require.LessOrEqual(t, slowest, recovered)
	right.terminate(t)
}
