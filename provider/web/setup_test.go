package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const (
	// timeout is how long a test waits for what must happen.
	timeout = 2 * time.Minute
	tick    = 10 * time.Millisecond
	// deafness is for how long a connection that is deaf says nothing.
	deafness = time.Minute
)

// clock is the clock of a reference. It stands still unless a test moves it.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Now().UnixNano())
	return c
}

func (c *clock) now() time.Time      { return time.Unix(0, c.at.Load()) }
func (c *clock) add(d time.Duration) { c.at.Add(int64(d)) }

// fake is the network of all tests: phones keep them apart.
var fake *webtest.Server

func TestMain(m *testing.M) {
	fake = webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)})
	// A connection is probed often; whether it is deaf is told by the clock of
	// its reference.
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = time.Second, 2*time.Second
	whatsmeow.KeepAliveResponseDeadline = time.Second
	code := m.Run()
	if odd := fake.Unknown(); len(odd) > 0 {
		fmt.Fprintln(os.Stderr, "the network did not understand:", odd)
		code = 1
	}
	fake.Close()
	os.Exit(code)
}

// fast writes without a pace.
var fast = web.Rates{Messages: -1, Outreach: -1}

// fixture is a reference of a provider, and what it received.
type fixture struct {
	p       *web.Provider
	opts    web.Options
	db      *sqlx.DB
	ref     provider.Reference
	session provider.Session
	inbox   *inbox
	clock   *clock
	log     *output
	owner   *webtest.Phone
	device  *webtest.Device
}

// inbox stores what is received, as a messaging service does: a message whose
// id is known changes nothing.
type inbox struct {
	mu      sync.Mutex
	events  []provider.Event
	changed chan struct{}
	fail    atomic.Int32 // so many times from now on
	panics  atomic.Bool  // once
	// slow makes the next that is received wait until done, after it said so in
	// came.
	slow       atomic.Bool
	came, done chan struct{}
	// failHistory refuses what was written long ago.
	failHistory atomic.Bool
	called      testsignal.Signal // after each call of Receive
}

func newInbox() *inbox {
	return &inbox{changed: make(chan struct{}), came: make(chan struct{}), done: make(chan struct{})}
}

// answer reports whether an event is the answer to a question of the reference's
// own, for which nothing is acknowledged.
func answer(e provider.Event) bool {
	g, ok := e.(*provider.GroupChange)
	return ok && g.What == "group_subject"
}

func (in *inbox) Receive(_ context.Context, _ provider.ReferenceID, evs []provider.Event) error {
	if !answer(evs[0]) && in.slow.CompareAndSwap(true, false) {
		in.came <- struct{}{}
		<-in.done
	}
	defer in.called.Send()
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, connection := evs[0].(*provider.Connection); !connection && in.fail.Add(-1) >= 0 {
		return errors.New("the database is away")
	}
	if m, ok := evs[0].(*provider.Message); ok && m.Historical && in.failHistory.Load() {
		return errors.New("the database is away")
	}
	if in.panics.CompareAndSwap(true, false) {
		panic("an inbox that panics")
	}
	in.events = append(in.events, evs...)
	close(in.changed)
	in.changed = make(chan struct{})
	return nil
}

// await returns the first event from position on that match takes.
func await[E provider.Event](t testing.TB, in *inbox, match func(E) bool) E {
	t.Helper()
	deadline := time.After(timeout)
	for seen := 0; ; {
		in.mu.Lock()
		changed := in.changed
		for ; seen < len(in.events); seen++ {
			if e, ok := in.events[seen].(E); ok && match(e) {
				in.mu.Unlock()
				return e
			}
		}
		in.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			var none E
			require.Failf(t, "did not come", "%T", none)
		}
	}
}

func (in *inbox) state(t testing.TB, want provider.ConnectionState) *provider.Connection {
	t.Helper()
	return await(t, in, func(c *provider.Connection) bool { return c.State == want })
}

// has reports whether a connection was said to stand so.
func (in *inbox) has(state provider.ConnectionState) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.ContainsFunc(in.events, func(e provider.Event) bool {
		c, ok := e.(*provider.Connection)
		return ok && c.State == state
	})
}

func (in *inbox) message(t testing.TB, id string) *provider.Message {
	t.Helper()
	return await(t, in, func(m *provider.Message) bool { return m.ID == id })
}

func (in *inbox) count(id string) (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.events {
		if m, ok := e.(*provider.Message); ok && m.ID == id {
			n++
		}
	}
	return n
}

// clear forgets what came.
func (in *inbox) clear() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events = nil
}

// soon is the context of what must not take long.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// output is a test's, until that is over: whatsmeow may have something to say
// after it.
type output struct {
	mu     sync.Mutex
	w      io.Writer
	stated []byte
	wrote  testsignal.Signal
}

func newOutput(t testing.TB) *output {
	o := &output{w: t.Output()}
	t.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.w = io.Discard
	})
	return o
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stated = append(o.stated, b...)
	o.wrote.Send()
	return o.w.Write(b)
}

func (o *output) says(words string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Contains(o.stated, []byte(words))
}

var refs atomic.Int64

// newReference is a reference that is not paired, of an owner with options.
func newReference(t testing.TB, db *sqlx.DB, o *webtest.PhoneOptions) *fixture {
	t.Helper()
	return newPaced(t, db, o, fast)
}

// newPaced is newReference with a pace, and with proxies that may be private.
func newPaced(t testing.TB, db *sqlx.DB, o *webtest.PhoneOptions, rate web.Rates, proxies ...string) *fixture {
	t.Helper()
	require.NoError(t, web.Migrate(soon(t), db))
	root, clock, log := fake.RootKey(), newClock(), newOutput(t)
	opts := web.Options{
		HTTPClient: fake.HTTPClient(), RootKey: &root, Allow: proxies, Rates: rate, Now: clock.now, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	p, err := web.New(soon(t), db, &opts)
	require.NoError(t, err)
	f := &fixture{p: p, opts: opts, log: log, db: db, clock: clock, owner: fake.AddPhone(o), inbox: newInbox()}
	f.ref = provider.Reference{ID: provider.ReferenceID(refs.Add(1)), Settings: provider.Settings{}}
	return f
}

// open opens the session; it is closed with the test.
func (f *fixture) open(t testing.TB) {
	t.Helper()
	var err error
	f.session, err = f.p.Open(soon(t), f.ref, f.inbox)
	require.NoError(t, err)
	t.Cleanup(func() { f.close(t) })
}

func (f *fixture) close(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	require.NoError(t, f.session.Close(ctx))
}

// link pairs the reference by QR.
func (f *fixture) link(t testing.TB) {
	t.Helper()
	require.NoError(t, f.session.(provider.Linker).Link(soon(t), ""))
	shown := await(t, f.inbox, func(c *provider.Connection) bool { return c.QR != "" })
	var err error
	f.device, err = f.owner.Scan(soon(t), shown.QR)
	require.NoError(t, err)
	f.inbox.state(t, provider.Connected)
}

// paired is a reference that is connected.
func paired(t testing.TB, db *sqlx.DB) *fixture {
	t.Helper()
	f := newReference(t, db, nil)
	f.open(t)
	f.link(t)
	return f
}

// limitedReference is a reference that is connected and keeps a pace.
func limitedReference(t testing.TB, db *sqlx.DB, rate web.Rates) *fixture {
	t.Helper()
	f := newPaced(t, db, nil, rate)
	f.open(t)
	f.link(t)
	return f
}

// each runs fn on both databases.
func each(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// conflicts are the times when the reference was logged in twice at once.
func (f *fixture) conflicts() (n int) {
	for _, c := range fake.Conflicts() {
		if c.Device.User == f.owner.JID().User {
			n++
		}
	}
	return n
}

func (f *fixture) send(t testing.TB, to provider.Address, c provider.Content) string {
	t.Helper()
	id := f.p.NewMessageID()
	r, err := f.session.Send(soon(t), provider.Outbound{ID: id, To: to, Content: c})
	require.NoError(t, err)
	require.Equal(t, id, r.MessageID)
	return id
}

// number is a phone as users address it.
func (f *fixture) number(t testing.TB, p *webtest.Phone) provider.Address {
	t.Helper()
	a, err := f.p.Address("+" + p.JID().User)
	require.NoError(t, err)
	return a
}
