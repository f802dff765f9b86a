package webhook_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

// promises are what a receiver can rely on, with the usual policy, each shown
// by a receiver that follows a script while a clock leaps. What needs no clock
// has tests of its own: what is in a request (TestRequest), filters, masks,
// 410, redirects, the test event.
var promises = []struct {
	name string
	opts webhook.Options
	show func(t *testing.T, w *env)
}{
	{name: "a refused event is retried by the table, then dead, and can be replayed", show: retryTable},
	{name: "a chat is in order whatever is refused", show: orderUnderRetries},
	{name: "a refused event holds its chat back for ten minutes at most, then goes on alone", show: deferAndPass},
	{name: "Retry-After is honoured", show: retryAfter},
	{name: "five different events that fail pause the endpoint, however they fail", opts: webhook.Options{Timeout: time.Second}, show: kindsOfDown},
	{name: "one event that fails, and events that are refused, pause nothing", show: notDown},
	{name: "a paused endpoint is probed with its oldest event after 5 s, doubling to 5 min", show: probes},
	{name: "what pauses an endpoint may say for how long", show: pauseAsAsked},
	{name: "a receiver that was down for a day gets everything in order", show: downForADay},
	{name: "an endpoint that is down for five days is disabled, and its events can be replayed", show: downForFiveDays},
	{name: "an endpoint that is switched off gets nothing", show: switchedOff},
	{name: "each endpoint has its own order and count", show: endpointsApart},
	{name: "pages of the log stay as they are while rows arrive", show: stablePages},
	{name: "the log keeps 1 KiB of a response", show: storedResponse},
	{name: "retention deletes in small batches what is older and nothing else", opts: webhook.Options{Retention: 30 * 24 * time.Hour}, show: retention},
	{name: "connections are used again", show: keepAlive},
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				w := newEnv(t, db, p.opts)
				p.show(t, w)
				w.sound(t)
			})
		})
	}
}

// clock stands still but for a microsecond at each look, and leaps when told.
type clock struct{ us atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.us.Add(1)).UTC() }

// env is a dispatcher under a clock, and a receiver that follows a script.
type env struct {
	*fixture
	clock clock
	rec   *receiver
	ep    webhook.Endpoint
	logs  buffer

	mu       sync.Mutex
	counts   map[string]int // what the observer was told, by outcome
	observed testsignal.Signal
	script   func(r request) reply
	taken    []request // what was answered with a 2xx
}

func newEnv(t *testing.T, db *sqlx.DB, opts webhook.Options) *env {
	t.Helper()
	w := &env{script: always(reply{}), counts: map[string]int{}}
	w.clock.us.Store(time.Now().UnixMicro())
	w.rec = receive(t, func(_ int, r request, rw http.ResponseWriter) { w.answer(r, rw) })
	w.rec.now = w.clock.now
	opts.Now = w.clock.now
	opts.Exclusive = true // else a machine that stands still is taken for dead, and requests are repeated
	opts.Logger = slog.New(slog.NewTextHandler(&w.logs, nil))
	opts.Observer = &webhook.Observer{
		Attempted: func(outcome string, _ time.Duration) { w.count(outcome) },
		Paused:    func() { w.count("endpoint paused") },
		Disabled:  func() { w.count("endpoint disabled") },
	}
	w.fixture = running(t, db, opts)
	w.ep = w.put(t, w.rec.URL+"/")
	return w
}

// always answers the same.
func always(re reply) func(request) reply { return func(request) reply { return re } }

func (w *env) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
	w.observed.Send()
}

// counted waits until the observer was told of something n times.
func (w *env) counted(t *testing.T, what string, n int) {
	t.Helper()
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.counts[what]
	}
	testkit.Until(t, []*testsignal.Signal{&w.observed}, func() bool { return count() >= n }, what)
	require.Equal(t, n, count(), what)
}

// follow replaces the script.
func (w *env) follow(script func(r request) reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.script = script
}

func (w *env) answer(r request, rw http.ResponseWriter) {
	w.mu.Lock()
	re := w.script(r)
	if re.code() == http.StatusOK {
		w.taken = append(w.taken, r)
	}
	w.mu.Unlock()
	re.write(r, rw)
}

// forget begins a new list of what was accepted.
func (w *env) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = nil
}

// accepted are the sequence numbers that were answered with a 2xx, by path and
// chat.
func (w *env) accepted() map[string][]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string][]int64{}
	for _, r := range w.taken {
		k := strings.TrimPrefix(r.path, "/") + r.key()
		out[k] = append(out[k], r.seq())
	}
	return out
}

// quiet waits until there is nothing to be done before the clock continues.
func (w *env) quiet(t *testing.T) {
	t.Helper()
	w.until(t, func() bool {
		hand, next, ok := w.look(t)
		return hand == 0 && (!ok || next > 0)
	})
}

// look returns how much is in hand, and how long it is until something is to
// be done, if anything is.
func (w *env) look(t *testing.T) (hand int, next time.Duration, ok bool) {
	t.Helper()
	const look = `SELECT (SELECT count(*) FROM queue_partition WHERE holder <> '') AS hand,
		(SELECT COALESCE(MIN(CASE WHEN c.paused_us > l.ready_us THEN c.paused_us ELSE l.ready_us END), 0)
			FROM queue_partition l LEFT JOIN queue_subscriber c ON c.subscriber = l.subscriber WHERE l.ready_us IS NOT NULL) AS next`
	var row struct{ Hand, Next int64 }
	require.NoError(t, w.raw.Get(&row, look))
	return int(row.Hand), time.UnixMicro(row.Next).Sub(w.clock.now()), row.Next > 0
}

// leap lets a time pass at once.
func (w *env) leap(t *testing.T, d time.Duration) {
	t.Helper()
	w.quiet(t)
	w.clock.us.Add(d.Microseconds())
	w.Notify()
	w.quiet(t)
}

// due is how long it is until something is to be done.
func (w *env) due(t *testing.T) time.Duration {
	t.Helper()
	_, d, ok := w.look(t)
	require.True(t, ok, "nothing is to be done")
	return d
}

// step leaps to what is to be done next.
func (w *env) step(t *testing.T) {
	t.Helper()
	w.quiet(t)
	w.leap(t, max(w.due(t), 0))
}

// pass lets a time pass from one thing to be done to the next.
func (w *env) pass(t *testing.T, d time.Duration) {
	t.Helper()
	end := w.clock.now().Add(d)
	for {
		w.quiet(t)
		_, next, ok := w.look(t)
		if left := end.Sub(w.clock.now()); !ok || next > left {
			w.leap(t, max(left, 0))
			return
		}
		w.leap(t, max(next, 0))
	}
}

// sound checks what holds for every request: its signature, and that a repeat
// is the same to the byte.
func (w *env) sound(t *testing.T) {
	t.Helper()
	first := map[string]request{}
	for _, r := range w.rec.all() {
		if r.path != "/" {
			continue // of another endpoint
		}
		require.NoError(t, webhook.Verify(w.ep.Secret, r.header, []byte(r.body), r.at))
		id := r.header.Get("Webhook-Id")
		if before, again := first[id]; again {
			require.Equal(t, before.body, r.body)
			require.Equal(t, before.seq(), r.seq())
			continue
		}
		first[id] = r
	}
}

// all is the whole log of the endpoint in a state.
func (w *env) all(t *testing.T, state string) []webhook.Delivery {
	t.Helper()
	ds, _ := w.pages(t, webhook.DeliveryFilter{Endpoint: w.ep.ID, State: state, Limit: 200})
	return ds
}

// one is the only delivery in a state.
func (w *env) one(t *testing.T, state string) webhook.Delivery {
	t.Helper()
	ds := w.all(t, state)
	require.Len(t, ds, 1)
	return ds[0]
}

func (w *env) now(t *testing.T) webhook.Endpoint {
	t.Helper()
	ep, err := w.Endpoint(t.Context(), w.ep.ID)
	require.NoError(t, err)
	return ep
}

// fill publishes n events for each of some chats, in turns.
func (w *env) fill(t *testing.T, chats, n int) {
	t.Helper()
	for i := range n {
		var evs []webhook.Event
		for c := range chats {
			evs = append(evs, event(chat(c), i))
		}
		w.publish(t, evs...)
	}
}

// inOrder requires that each of some chats got n events, in order and once.
func (w *env) inOrder(t *testing.T, chats, n int) {
	t.Helper()
	got := w.accepted()
	require.Len(t, got, chats)
	for chat, seqs := range got {
		require.Equal(t, upTo(n), seqs, chat)
	}
}

// upTo counts from 1 to n.
func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i + 1)
	}
	return out
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
