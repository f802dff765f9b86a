//go:build unix

package webhook_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

// ledger publishes for children to deliver, and is the receiver: it notes what
// it was sent and what it answered.
type ledger struct {
	*fixture
	ep  webhook.Endpoint
	put map[string]int // events published, by chat

	mu            sync.Mutex
	script        func() reply
	gate          chan struct{} // not nil: answers wait until it is closed
	deferredEvent int           // requests that wait for it
	total         int
	seen          map[string][]request // by webhook-id
	answers       map[string]map[int]int
	first         map[string][]int64 // first receipts of a chat
	taken         map[string]bool    // answered with 200
	noted         testsignal.Signal
}

func newLedger(t *testing.T, url string, script func() reply) *ledger {
	t.Helper()
	l := &ledger{
		put: map[string]int{}, script: script, seen: map[string][]request{}, answers: map[string]map[int]int{},
		first: map[string][]int64{}, taken: map[string]bool{},
	}
	l.fixture = setup(t, testkit.Open(t, url), webhook.Options{}) // not running: it only publishes
	rec := receive(t, func(_ int, r request, w http.ResponseWriter) { l.answer(r, w) })
	l.ep = l.fixture.put(t, rec.URL)
	return l
}

// follow replaces the script.
func (l *ledger) follow(script func() reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.script = script
}

// shut lets requests wait for their answer until the returned function is
// called.
func (l *ledger) shut() (open func()) {
	gate := make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gate = gate
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gate = nil
		close(gate)
	}
}

func (l *ledger) answer(r request, w http.ResponseWriter) {
	if gate := l.note(r); gate != nil {
		select {
		case <-gate:
		case <-r.gone:
		}
		l.mu.Lock()
		l.deferredEvent--
		l.mu.Unlock()
	}
	re := l.decide(r)
	if re.slow > 0 {
		timer := time.NewTimer(re.slow)
		defer timer.Stop()
		<-timer.C
	}
	re.write(r, w)
}

// note counts a request in when it arrives.
func (l *ledger) note(r request) (gate chan struct{}) {
	id := r.header.Get("Webhook-Id")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if l.seen[id] == nil {
		l.first[r.key()] = append(l.first[r.key()], r.seq())
	}
	l.seen[id] = append(l.seen[id], r)
	l.noted.Send()
	if l.gate != nil {
		l.deferredEvent++
	}
	return l.gate
}

func (l *ledger) decide(r request) reply {
	id := r.header.Get("Webhook-Id")
	l.mu.Lock()
	defer l.mu.Unlock()
	re := l.script()
	if l.answers[id] == nil {
		l.answers[id] = map[int]int{}
	}
	l.answers[id][re.code()]++
	return re
}

// fill publishes n events for each of some chats.
func (l *ledger) fill(t *testing.T, chats, n int) {
	t.Helper()
	for range n {
		var evs []webhook.Event
		for c := range chats {
			l.put[chat(c)]++
			evs = append(evs, event(chat(c), l.put[chat(c)]))
		}
		l.publish(t, evs...)
	}
}

// published is how many events there are.
func (l *ledger) published() (n int) {
	for _, each := range l.put {
		n += each
	}
	return n
}

// received is how many events were received, each counted once.
func (l *ledger) received() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.seen)
}

func (l *ledger) requests() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// waiting is how many requests wait for the gate to open.
func (l *ledger) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deferredEvent
}

// share waits until two processes are in the middle of requests, while the
// gate is shut. It publishes more when one of them has taken all.
func (l *ledger) share(t *testing.T) {
	t.Helper()
	const look = `SELECT count(DISTINCT CASE WHEN holder <> '' THEN holder END) AS holders,
		COALESCE(SUM(CASE WHEN holder = '' THEN 1 END), 0) AS spare
		FROM queue_partition WHERE ready_us IS NOT NULL`
	eventually(t, func() bool {
		var is struct{ Holders, Spare int }
		require.NoError(t, l.raw.Get(&is, look))
		if is.Holders == 1 && is.Spare == 0 {
			l.fill(t, len(l.put)+10, 1)
		}
		return is.Holders == 2 && l.waiting() > 1
	})
}

// probing reports that a process probes the endpoint.
func (l *ledger) probing(t *testing.T) (yes bool) {
	t.Helper()
	require.NoError(t, l.raw.Get(&yes, `SELECT count(*) > 0 FROM queue_subscriber WHERE probe <> ''`))
	return yes
}

func (l *ledger) delivered(t *testing.T) int { return outcomes(t, l.fixture, "delivered") }

func (l *ledger) attempts(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, l.raw.Get(&n, `SELECT count(*) FROM webhook_attempt`))
	return n
}

// complete waits until everything is delivered, holds what was received and
// the log against every promise, and returns how many events there were. Of each
// event as many attempts may not be in the log as processes were killed, or have
// lost a lease: they were in hand then, and were repeated.
func (l *ledger) complete(t *testing.T, kills int, cs ...*child) int {
	t.Helper()
	require.Eventually(t, func() bool { return l.delivered(t) >= l.published() }, 2*patient, 10*time.Millisecond, "%d", l.published())
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, n := range l.put {
		require.Equal(t, upTo(n), l.first[key], "first receipts of %s", key)
	}
	for id, rs := range l.seen {
		for _, r := range rs {
			require.Equal(t, rs[0].body, r.body, "a repeat of %s", id)
			require.Equal(t, rs[0].seq(), r.seq(), "a repeat of %s", id)
			require.NoError(t, webhook.Verify(l.ep.Secret, r.header, []byte(r.body), r.at))
		}
	}
	lost := kills
	for _, c := range cs {
		lost += int(c.fenced.Load())
	}
	l.checkLog(t, lost)
	return len(l.seen)
}

// checkLog compares the log with what was received and answered, where the log of
// each event may lack so many attempts. mu is held.
func (l *ledger) checkLog(t *testing.T, lost int) {
	t.Helper()
	var log []struct {
		Event   string
		Status  int
		Outcome string
		Fence   int64
	}
	require.NoError(t, l.raw.Select(&log, `SELECT e.id AS event, a.status, a.outcome, a.fence
		FROM webhook_attempt a JOIN webhook_event e ON e.number = a.event ORDER BY a.id`))
	type kind struct {
		event  string
		status int
	}
	rows, fences, over, attempts := map[kind]int{}, map[string]int64{}, map[string]int{}, map[string]int{}
	for _, a := range log {
		attempts[a.Event]++
		rows[kind{a.Event, a.Status}]++
		require.Greater(t, a.Fence, fences[a.Event], "two attempts of %s under one claim, or an older one", a.Event)
		fences[a.Event] = a.Fence
		require.Zero(t, over[a.Event], "%s was over before its last attempt", a.Event)
		if a.Outcome != "" {
			over[a.Event]++
			require.Equal(t, "delivered", a.Outcome)
			require.Equal(t, http.StatusOK, a.Status)
		}
	}
	require.Len(t, over, l.published(), "every event has an outcome")
	for k, n := range rows {
		if k.status == 0 {
			continue // its caller did not wait for the answer
		}
		require.LessOrEqual(t, n, l.answers[k.event][k.status], "%s is logged with %d, which was not answered so often", k.event, k.status)
	}
	for id, n := range attempts {
		require.LessOrEqual(t, n, len(l.seen[id]), "attempts of %s", id)
		cut := l.answers[id][0] // net/http may repeat what met a connection that was closed
		require.LessOrEqual(t, len(l.seen[id])-n, lost+cut, "%s was repeated more often than it can have been in hand", id)
	}
}
