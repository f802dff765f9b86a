package simulation_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// world is a simulation.
type world struct {
	t     *testing.T
	seed  uint64
	nodes int
	kill  bool     // processes are killed
	base  *sqlx.DB // the database; no fault meets what uses it directly
	log   *slog.Logger
	tail  *tail
	token string

	networks  map[int]*network
	receivers []*receiver

	healed atomic.Bool
	over   chan struct{}
	ids    atomic.Int64
	kills  atomic.Int64

	mu        sync.Mutex
	processes []*process // all that were started
	breaches  []string
	once      map[string]int // calls that must not be repeated, by their texts
	story     []string       // what happened, for a person who looks for a fault
}

// All Guards of this test binary reach receivers in memory, and SQLite's clock is that
// of the simulation in which a statement runs.
func init() {
	guard.Dial(func(ctx context.Context, address string) (net.Conn, error) {
		p := processOf(ctx)
		if p == nil {
			return nil, errors.New("simulation: the connection belongs to no process")
		}
		if r := p.w.receiverAt(address); r != nil {
			return p.dial(r)
		}
		return nil, fmt.Errorf("simulation: nothing listens on %s", address)
	})
	sqlite.MustRegisterScalarFunction("unixepoch", 1, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return float64(time.Now().UnixMilli()) / 1000, nil
	})
}

// tail keeps the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (l *tail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	if len(l.lines) > 400 {
		l.lines = l.lines[100:]
	}
	return len(b), nil
}

// start is when a simulation begins: [testkit.StepClock] takes earlier times for numbers.
var start = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, seed uint64) *world {
	rest(time.Until(start)) // before anything measures it
	w := &world{t: t, seed: seed, nodes: 1 + int(seed%2), kill: seed%4 > 1, networks: map[int]*network{}, once: map[string]int{}, over: make(chan struct{}), tail: &tail{}}
	w.log = slog.New(slog.NewTextHandler(w.tail, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.base = testkit.Open(t, "sqlite://"+filepath.Join(memory(t), "trunkline.db")+"?synchronous=normal")
	w.base.SetMaxOpenConns(0) // each process has a limit of its own
	w.base.SetMaxIdleConns(16)
	return w
}

// memory is a folder, in memory if the system has one there: a database in SQLite's own
// memory has no log, so that its readers keep writers waiting.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "trunkline-simulation-") //nolint:usetesting // there, if it exists
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// dice decides one thing. nil decides for no fault.
type dice struct{ *rand.Rand }

// draw returns dice that depend on the seed and on what they decide, not on when they
// are asked.
func (w *world) draw(what ...any) *dice {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, what...)
	return &dice{rand.New(rand.NewPCG(w.seed, h.Sum64()))}
}

// upTo returns a number below n, and n if there are no dice.
func (d *dice) upTo(n int64) int64 {
	if d == nil {
		return n
	}
	return d.Int64N(n)
}

// chance is true in so many of a hundred cases.
func (d *dice) chance(percent int64) bool { return d.upTo(100) < percent }

// faulty reports whether faults happen.
func (w *world) faulty() bool { return !w.healed.Load() }

func (w *world) id() string { return fmt.Sprintf("id-%d", w.ids.Add(1)) }

// breach records that a promise was broken.
func (w *world) breach(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaches = append(w.breaches, fmt.Sprintf(format, args...))
}

// logf records what happened.
func (w *world) logf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) networkOf(ref int) *network {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.networks[ref] == nil {
		w.networks[ref] = &network{
			w: w, ref: ref, shown: map[string][]string{}, known: map[string]bool{}, attempts: map[string]int{},
			senders: map[string][]*process{}, doubted: map[string]bool{},
		}
	}
	return w.networks[ref]
}

// receiverAt returns the receiver at an address, or nil.
func (w *world) receiverAt(address string) *receiver {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.receivers {
		if r.address == address {
			return r
		}
	}
	return nil
}

// supervise keeps a process running until the simulation is over.
func (w *world) supervise(slot int) {
	for n := slot * 1000; ; n++ {
		d := w.draw("supervise", n)
		p, err := w.start(n)
		if err != nil && !errors.Is(err, errDead) && w.healed.Load() {
			w.breach("a server does not start: %v", err)
		}
		if err == nil {
			w.mu.Lock()
			w.processes = append(w.processes, p)
			w.mu.Unlock()
			w.logf("%v starts", p)
			select {
			case <-p.killed:
				w.kills.Add(1)
				w.logf("%v is killed at commit %d, after it: %v", p, p.killAt, p.killAfter)
				p.stop()
				_ = p.db.Close()
			case err := <-p.ended:
				w.breach("%v ends by itself: %v", p, err)
				p.ended <- err
				p.kill()
				p.stop()
			case <-w.over:
				p.stop()
				if err := <-p.ended; err != nil {
					w.breach("a server ends with %v", err)
				}
				_ = p.db.Close()
				return
			}
		}
		pause(context.Background(), 1+d.upTo(3000))
	}
}

// bury waits for the end of what runs of processes that were killed.
func (w *world) bury() {
	for _, p := range w.processes {
		if p.dead() {
			<-p.ended
			_ = p.db.Close()
		}
	}
}

// alive returns a process that runs, and waits for one.
func (w *world) alive(d *dice) *process {
	for {
		w.mu.Lock()
		var running []*process
		for _, p := range w.processes {
			if !p.dead() {
				running = append(running, p)
			}
		}
		w.mu.Unlock()
		if len(running) > 0 {
			return running[d.IntN(len(running))]
		}
		rest(50 * time.Millisecond)
	}
}

// request makes a request until it is answered.
func (w *world) request(method, path, body string, header ...string) (status int, answer map[string]any) {
	d := w.draw("request", method, path, body)
	for tries := 0; ; tries++ {
		if tries > 500 {
			w.breach("%s %s is not answered: %d %v", method, path, status, answer)
			return status, answer
		}
		p := w.alive(d)
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), processKey{}, p))
		req := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		if w.token != "" {
			req.Header.Set("Authorization", "Bearer "+w.token)
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res := httptest.NewRecorder()
		p.server.ServeHTTP(res, req)
		cancel()
		status = res.Code
		answer = map[string]any{}
		_ = json.NewDecoder(bytes.NewReader(res.Body.Bytes())).Decode(&answer)
		if !p.dead() && status < 500 && status != http.StatusTooManyRequests && status != http.StatusConflict {
			return status, answer
		}
		rest(time.Duration(100+d.upTo(1500)) * time.Millisecond)
	}
}

// must posts what is accepted.
func (w *world) must(path, body string) map[string]any {
	status, answer := w.request("POST", path, body)
	if status >= 300 {
		panic(fmt.Sprintf("POST %s: %d %v", path, status, answer))
	}
	return answer
}
