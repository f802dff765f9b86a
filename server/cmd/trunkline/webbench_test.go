package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// many returns a number of the benchmarks: the environment's, or one that only shows
// that they work.
func many(b *testing.B, env string, def int) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		return def
	}
	return n
}

// side is one of two programs that are compared: a process with references which
// can be ended, and started again with more of them.
type side struct {
	name    string
	devices []*webtest.Device
	pid     int
	// start starts the process, which links so many more references.
	start func(b *testing.B, more int)
	end   func()
}

// bareSide returns whatsmeow alone.
func bareSide(b *testing.B, fake *webtest.Server) *side {
	b.Helper()
	url := "sqlite://" + filepath.Join(b.TempDir(), "bare.db")
	s := &side{name: "floor"}
	var cmd *exec.Cmd
	s.start = func(b *testing.B, more int) {
		before := logins(s.devices)
		c, refs := launchBare(b, fake, url, more)
		cmd, s.pid = c, c.Process.Pid
		s.devices = append(s.devices, linkBare(b, fake, refs, more)...)
		back(b, s.devices[:len(before)], before, time.Now())
	}
	s.end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return s
}

// serverSide returns the server.
func serverSide(b *testing.B, fake *webtest.Server) *side {
	b.Helper()
	r := webEnvOn(b, fake)
	data := b.TempDir()
	s := &side{name: "trunkline"}
	var n *node
	s.start = func(b *testing.B, more int) {
		before := logins(s.devices)
		n = r.launch(b, "--data", data)
		r.balancer.open(n)
		s.pid = n.cmd.Process.Pid
		if r.token == "" {
			r.signUp(b)
		}
		for range more {
			s.devices = append(s.devices, r.link(b).device)
		}
		back(b, s.devices[:len(before)], before, time.Now())
	}
	s.end = func() { n.kill() }
	return s
}

// restart starts the process again without anything that linking has left.
func (s *side) restart(b *testing.B) {
	b.Helper()
	s.end()
	for _, d := range s.devices {
		require.NoError(b, d.AwaitGone(within(b)))
	}
	s.start(b, 0)
}

// resident returns the memory of a process, in KiB, once it has come to rest.
func (s *side) resident(b *testing.B, rest time.Duration) float64 {
	b.Helper()
	timer := time.NewTimer(rest)
	defer timer.Stop()
	<-timer.C
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	require.NoError(b, err)
	_, after, ok := strings.Cut(string(status), "VmRSS:")
	require.True(b, ok)
	var kib float64
	_, err = fmt.Sscan(after, &kib)
	require.NoError(b, err)
	return kib
}

// cpu returns the processor's time that a process has used.
func (s *side) cpu(b *testing.B) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	require.NoError(b, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] { // see proc(5): utime and stime
		n, err := strconv.Atoi(f)
		require.NoError(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// BenchmarkWebIdle measures the cost of another idle connected reference: the growth of
// resident memory from SESSIONS/10 to SESSIONS (500) references, compared with that of
// bare whatsmeow, and the time until all references are connected again after an outage.
func BenchmarkWebIdle(b *testing.B) {
	limit := many(b, "SESSIONS", 4)
	few, rest := max(limit/10, 2), time.Duration(0)
	if limit > few*2 {
		rest = 10 * time.Second
	}
	for b.Loop() {
		kib := map[string]float64{}
		fake := startFake(b)
		for _, s := range []*side{bareSide(b, fake), serverSide(b, fake)} {
			s.start(b, few)
			s.restart(b)
			before := s.resident(b, rest)
			s.end()
			s.start(b, limit-few)
			s.restart(b)
			kib[s.name] = (s.resident(b, rest) - before) / float64(limit-few)
			b.ReportMetric(kib[s.name], s.name+"-KiB/line")
			stood := logins(s.devices)
			fake.DropAll()
			b.ReportMetric(back(b, s.devices, stood, time.Now()).Seconds(), s.name+"-s-back")
			s.end()
		}
		b.ReportMetric(kib["trunkline"]/kib["floor"], "x-floor")
	}
}

// BenchmarkWebReceive measures how fast a backlog is received: of 20 references with
// TEXTS (100) messages each, and of one line with five times as many. It compares
// the server with bare whatsmeow with one durable insert for each message, by the
// time between the first and the last acknowledgement and by the CPU time. One
// reference's messages are received one after the other, so that the time of a durable
// commit, which is measured in between, limits the rate.
func BenchmarkWebReceive(b *testing.B) {
	texts := many(b, "TEXTS", 5)
	refs := 20
	if texts < 50 {
		refs = 3
	}
	b.Run("lines", func(b *testing.B) { receive(b, refs, texts) })
	b.Run("line", func(b *testing.B) { receive(b, 1, 5*texts) })
}

// receive measures what waits for references, so many texts for each.
func receive(b *testing.B, refs, texts int) {
	b.Helper()
	for b.Loop() {
		rate := map[string]float64{}
		fake := startFake(b)
		for _, s := range []*side{bareSide(b, fake), serverSide(b, fake)} {
			s.start(b, refs)
			s.restart(b)
			idle := s.cpu(b)
			s.end()
			b.ReportMetric(float64(commit(b).Microseconds()), s.name+"-commit-µs")
			messages := float64(refs * texts)
			elapsed, cpu := s.drain(b, fake, texts)
			rate[s.name] = messages / elapsed.Seconds()
			b.ReportMetric(rate[s.name], s.name+"-msg/s")
			b.ReportMetric(float64((cpu-idle).Microseconds())/messages, s.name+"-cpu-µs/msg")
			s.end()
		}
		b.ReportMetric(rate["trunkline"]/rate["floor"], "of-floor")
	}
}

// commit returns how long one durable commit takes now, on the disk of both: the
// median of many.
func commit(b *testing.B) time.Duration {
	b.Helper()
	db := testkit.Open(b, "sqlite://"+filepath.Join(b.TempDir(), "commit.db"))
	db.MustExec(`CREATE TABLE message (id INTEGER PRIMARY KEY, body TEXT NOT NULL)`)
	elapsed := make([]time.Duration, 200)
	for i := range elapsed {
		begin := time.Now()
		db.MustExec(`INSERT INTO message (body) VALUES ($1)`, "text")
		elapsed[i] = time.Since(begin)
	}
	slices.Sort(elapsed)
	return elapsed[len(elapsed)/2]
}

// drain lets texts wait for each reference, starts the process and waits until all
// are acknowledged.
func (s *side) drain(b *testing.B, fake *webtest.Server, texts int) (elapsed, cpu time.Duration) {
	b.Helper()
	var g errgroup.Group
	var acked int
	for _, d := range s.devices {
		require.NoError(b, d.AwaitGone(within(b)))
		acked += len(d.Acks())
		from := fake.AddPhone(nil)
		g.Go(func() error {
			for i := range texts {
				if _, err := from.SendText(within(b), d.Phone().LID(), fmt.Sprintf("text %d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(b, g.Wait())
	begin := time.Now()
	s.start(b, 0)
	var at []time.Time
	for _, d := range s.devices {
		require.NoError(b, d.AwaitIdle(within(b)))
		for _, a := range d.Acks() {
			if a.Kind == "message" && a.At.After(begin) {
				at = append(at, a.At)
			}
		}
	}
	require.GreaterOrEqual(b, len(at), texts*len(s.devices))
	return slices.MaxFunc(at, time.Time.Compare).Sub(slices.MinFunc(at, time.Time.Compare)), s.cpu(b)
}
