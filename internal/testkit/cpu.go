package testkit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// CPUTime returns the CPU time that this process and its children, such as a
// PostgreSQL server, have used, without the time for this measurement. Without
// /proc it is only that of the process.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	own, before := ownCPUTime(t), looked.Load()
	started := startedBy(os.Getpid(), processes())
	looked.Add(int64(ownCPUTime(t) - own))
	return own - time.Duration(before) + started
}

// looked is the CPU time that [CPUTime] itself has used: milliseconds for each call
// on a machine with many processes.
var looked atomic.Int64

// OwnCPUTime returns the CPU time of this process alone. It takes a microsecond,
// where [CPUTime] takes milliseconds.
func OwnCPUTime(t testing.TB) time.Duration {
	t.Helper()
	return ownCPUTime(t)
}

// Within fails the test if fn takes d or more in each of five attempts: a busy
// machine pauses occasionally, but slow code is slow every time.
func Within(t testing.TB, d time.Duration, what string, fn func()) {
	t.Helper()
	var elapsed time.Duration
	for range 5 {
		started := time.Now()
		fn()
		if elapsed = time.Since(started); elapsed < d {
			return
		}
	}
	require.Less(t, elapsed, d, what)
}

type process struct {
	pid, parent int
	cpu         time.Duration // its own, and that of children that have ended
}

// tick is the unit of /proc/*/stat.
const tick = 10 * time.Millisecond

func processes() []process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var all []process
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		var p process
		_, _ = fmt.Sscanf(name, "/proc/%d/stat", &p.pid)
		p.parent, _ = strconv.Atoi(f[1])
		for _, field := range f[11:15] {
			n, _ := strconv.Atoi(field)
			p.cpu += time.Duration(n) * tick
		}
		all = append(all, p)
	}
	return all
}

func startedBy(pid int, all []process) (sum time.Duration) {
	for _, p := range all {
		if p.parent == pid {
			sum += p.cpu + startedBy(p.pid, all)
		}
	}
	return sum
}
