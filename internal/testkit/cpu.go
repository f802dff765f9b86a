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

// CPUTime is the processor's time that this process and all that it has
// started, a PostgreSQL among it, have used, without what it takes to look.
// Without /proc it is the process's own.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	own, before := ownCPUTime(t), looked.Load()
	started := startedBy(os.Getpid(), processes())
	looked.Add(int64(ownCPUTime(t) - own))
	return own - time.Duration(before) + started
}

// looked is what [CPUTime] has used itself: milliseconds each time, where the
// machine has many processes.
var looked atomic.Int64

// OwnCPUTime is that of this process alone, read in a microsecond where
// [CPUTime] takes milliseconds of it.
func OwnCPUTime(t testing.TB) time.Duration {
	t.Helper()
	return ownCPUTime(t)
}

// Within fails the test when fn takes d or more each time of five: a machine
// that is busy stands still now and then, and what is slow is slow each time.
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
	cpu         time.Duration // its own, and that of children which have ended
}

// tick is the unit of /proc/*/stat.
const tick = 10 * time.Millisecond

func processes() []process {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	var all []process
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
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
