package messaging_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// timeout is how long a test waits for what must happen.
const timeout = 60 * time.Second

// epoch is when the clocks of tests begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: epoch} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// sink keeps the events of committed transactions; what a transaction that was
// undone has told it is dropped with its row.
type sink struct {
	db *sqlx.DB

	mu     sync.Mutex
	events map[string]messaging.Event
}

func newSink(t testing.TB, db *sqlx.DB) *sink {
	t.Helper()
	for _, q := range []string{
		`CREATE TABLE IF NOT EXISTS test_event (id TEXT PRIMARY KEY, at BIGINT)`,
		`CREATE INDEX IF NOT EXISTS test_event_at ON test_event (at)`,
	} {
		_, err := db.ExecContext(t.Context(), q)
		require.NoError(t, err)
	}
	return &sink{db: db, events: map[string]messaging.Event{}}
}

func (k *sink) EventsTx(ctx context.Context, tx messaging.Tx, evs []messaging.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range evs {
		if _, err := tx.ExecContext(ctx, `INSERT INTO test_event (id, at) VALUES ($1, (SELECT COALESCE(max(at), 0) + 1 FROM test_event))`, e.ID); err != nil {
			return err
		}
		k.events[e.ID] = e
	}
	return nil
}

// all returns the committed events in order.
func (k *sink) all(t testing.TB) []messaging.Event {
	t.Helper()
	var ids []string
	require.NoError(t, k.db.SelectContext(t.Context(), &ids, `SELECT id FROM test_event ORDER BY at, id`))
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []messaging.Event
	for _, id := range ids {
		out = append(out, k.events[id])
	}
	return out
}

// of returns the committed events of one message, as "message:SENDING".
func (k *sink) of(t testing.TB, ids ...string) []string {
	t.Helper()
	out := []string{}
	for _, e := range k.all(t) {
		for _, id := range ids {
			if e.MessageID == id {
				out = append(out, summary(t, e))
			}
		}
	}
	return out
}

func summary(t testing.TB, e messaging.Event) string {
	t.Helper()
	var p struct{ Status, State string }
	require.NoError(t, json.Unmarshal(e.Payload, &p))
	return string(e.Type) + ":" + p.Status + p.State
}

// fixture is a service under test.
type fixture struct {
	db    *sqlx.DB
	svc   *messaging.Service
	acc   *messaging.Account
	sink  *sink
	clock *clock
	net   *network // of references of kind "test"
	stop  func()
}

// config changes what setup makes; the zero value is a running service with
// the sandbox and a scripted network.
type config struct {
	options func(*messaging.Options)
	net     *network // nil: one of its own
	clock   *clock   // nil: one of its own
	idle    bool     // Run is not called
}

const sealing = "a secret of tests that is long enough"

// setup returns a service over db.
func setup(t testing.TB, db *sqlx.DB, c config) *fixture {
	t.Helper()
	require.NoError(t, messaging.Migrate(t.Context(), db))
	testkit.CheckLocks(t, db)
	f := &fixture{db: db, sink: newSink(t, db), clock: c.clock, net: c.net}
	if f.clock == nil {
		f.clock = newClock()
	}
	if f.net == nil {
		f.net = newNetwork()
	}
	o := messaging.Options{
		Providers: []provider.Provider{sandbox.New(), f.net.provider(), f.net.ownIDs()}, Secrets: []string{sealing},
		Sinks: []messaging.Sink{f.sink}, Now: f.clock.Now, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if c.options != nil {
		c.options(&o)
	}
	var err error
	f.svc, err = messaging.New(t.Context(), db, &o)
	require.NoError(t, err)
	f.acc = f.svc.For(messaging.OneAccount)
	f.stop = func() {}
	if !c.idle {
		f.run(t)
	}
	return f
}

// run starts the workers, until the test ends or stop is called.
func (f *fixture) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.svc.Run(ctx) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(f.stop)
}

// stopAfter stops the workers, which must not end before release is closed.
func (f *fixture) stopAfter(t testing.TB, release chan struct{}) {
	t.Helper()
	stopped := make(chan struct{})
	go func() {
		f.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		require.Fail(t, "it did not wait for the work in hand")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	<-stopped
}

// reference makes a reference.
func (f *fixture) reference(t testing.TB, kind provider.Kind, settings ...map[string]string) provider.ReferenceID {
	t.Helper()
	n := messaging.NewReference{Name: "Shop", Type: kind}
	for _, s := range settings {
		n.Settings = s
	}
	ref, err := f.acc.References().Create(t.Context(), n)
	require.NoError(t, err)
	return ref.ID
}

// receive stores events, which must succeed.
func (f *fixture) receive(t testing.TB, ref provider.ReferenceID, evs ...provider.Event) {
	t.Helper()
	require.NoError(t, f.svc.Receive(t.Context(), ref, evs))
}

func (f *fixture) send(t testing.TB, req messaging.SendRequest) messaging.Message {
	t.Helper()
	if req.Content == nil {
		req.Content = provider.Text{Text: "hi"}
	}
	sent, err := f.acc.Send(t.Context(), req)
	require.NoError(t, err)
	return sent.Message
}

func (f *fixture) chat(t testing.TB, ref provider.ReferenceID, id string) messaging.Chat {
	t.Helper()
	c, err := f.acc.Chat(t.Context(), ref, id)
	require.NoError(t, err)
	return c
}

// message finds a message of a chat by its id.
func (f *fixture) message(t testing.TB, ref provider.ReferenceID, chat, id string) messaging.Message {
	t.Helper()
	for _, m := range f.messages(t, ref, chat) {
		if m.ID == id {
			return m
		}
	}
	require.Failf(t, "no such message", "%s in %s", id, chat)
	return messaging.Message{}
}

func (f *fixture) messages(t testing.TB, ref provider.ReferenceID, chat string) []messaging.Message {
	t.Helper()
	page, err := f.acc.Messages(t.Context(), ref, chat, messaging.History{Limit: 200})
	require.NoError(t, err)
	return page.Items
}

// until waits until done returns true, which it asks now and after each commit on the
// handle of the service.
func (f *fixture) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	testkit.UntilCommitted(t, f.db, done, what)
}

func count(t testing.TB, db *sqlx.DB, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, db.GetContext(t.Context(), &n, query, args...))
	return n
}

// text is a message of a contact.
func text(id, chat, words string, change ...func(*provider.Message)) *provider.Message {
	addr := provider.Address{ChatID: chat, Phone: chat}
	m := &provider.Message{
		ID: id, Chat: addr, From: provider.Contact{Address: addr}, At: epoch.Add(-time.Second), Content: provider.Text{Text: words},
	}
	for _, fn := range change {
		fn(m)
	}
	return m
}

func status(id string, s provider.Status) *provider.StatusChange {
	return &provider.StatusChange{MessageID: id, Status: s, At: epoch}
}

func ptr[T any](v T) *T { return &v }

// Each test has a database of its own, and few need to see how it came to be.
func init() { testkit.Fill(messaging.Migrate) }
