package webhook_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	account = "acme"
	scope   = "7"
	sealing = "a secret of tests that is long enough"
	patient = 2 * time.Minute // longest wait of a test
)

// fast is a policy whose waits are too short to be noticed.
var fast = webhook.Policy{
	Retries:    slices.Repeat([]time.Duration{10 * time.Millisecond}, 8),
	ProbeFirst: 10 * time.Millisecond,
	ProbeLast:  40 * time.Millisecond,
}

// fixture is a dispatcher that runs, and the account that the tests use.
type fixture struct {
	*webhook.Dispatcher
	*webhook.Account
	db   *database.DB
	raw  *sqlx.DB
	stop func()
}

// chatTypes are types as a gateway of chats has them.
var chatTypes = []webhook.Type{
	{Name: "message", Aliases: []string{"messages"}},
	{Name: "status", Aliases: []string{"statuses"}},
	{Name: "data"},
	{Name: "calls", Aliases: []string{"call"}},
	{Name: "subscription", Aliases: []string{"subscriptions"}},
	{Name: "session", Aliases: []string{"sessions"}, OptIn: true},
}

// until waits until done returns true, which it asks now and after each commit on the
// handle of the dispatcher.
func (f *fixture) until(t testing.TB, done func() bool) {
	t.Helper()
	testkit.UntilCommitted(t, f.raw, done)
}

// setup returns a dispatcher on a fresh database, not running.
func setup(t testing.TB, db *sqlx.DB, opts webhook.Options) *fixture {
	t.Helper()
	require.NoError(t, webhook.Migrate(t.Context(), db))
	testkit.CheckLocks(t, db)
	if opts.Secrets == nil {
		opts.Secrets = []string{sealing}
	}
	if opts.Types == nil {
		opts.Types, opts.UserAgent, opts.HeaderPrefix = chatTypes, "Trunkline", "X-Trunkline-"
	}
	if opts.Allow == nil {
		opts.Allow = []string{"127.0.0.1"}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	d, err := webhook.New(t.Context(), db, &opts)
	require.NoError(t, err)
	handle, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	return &fixture{Dispatcher: d, Account: d.For(account), db: handle, raw: db, stop: func() {}}
}

// start runs the dispatcher until the test ends or stop is called.
func (f *fixture) start(t testing.TB) *fixture {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(f.stop)
	return f
}

func running(t testing.TB, db *sqlx.DB, opts webhook.Options) *fixture {
	t.Helper()
	return setup(t, db, opts).start(t)
}

// chat is the key of a chat, by its number.
func chat(n int) string { return fmt.Sprint("chat", n) }

// event is a message event of the tests' scope.
func event(key string, n int) webhook.Event {
	return webhook.Event{
		Account: account, Scope: scope, Type: "message", Key: key, ChatID: key,
		Headers: map[string]string{"X-Trunkline-Reference": scope},
		Body:    fmt.Appendf(nil, `{"key":%q,"n":%d}`, key, n),
	}
}

func (f *fixture) publish(t testing.TB, evs ...webhook.Event) {
	t.Helper()
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
		return f.PublishTx(t.Context(), tx, evs...)
	}))
}

func (f *fixture) put(t testing.TB, url string) webhook.Endpoint {
	t.Helper()
	ep, created, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: url})
	require.NoError(t, err)
	require.True(t, created)
	return ep
}

// request is what a receiver saw.
type request struct {
	method, path, body string
	header             http.Header
	host               string
	at                 time.Time
	gone               <-chan struct{} // closed when the caller waits no more
}

// seq is the number of the event in its chat.
func (r request) seq() int64 {
	n, _ := strconv.ParseInt(r.header.Get("X-Trunkline-Sequence"), 10, 64) // 0 is no event's
	return n
}

// key is the key of an event of [event].
func (r request) key() string {
	key, _, _ := strings.Cut(strings.TrimPrefix(r.body, `{"key":"`), `"`)
	return key
}

// reply is what a receiver answers; the zero value is 200.
type reply struct {
	status     int
	retryAfter string
	body       string
	cut        bool          // the connection is closed instead
	hang       bool          // nothing is answered while the caller waits
	slow       time.Duration // before the answer
}

// code is the status that the caller sees, 0 if none.
func (re reply) code() int {
	switch {
	case re.cut || re.hang:
		return 0
	case re.status == 0:
		return http.StatusOK
	}
	return re.status
}

func (re reply) write(r request, w http.ResponseWriter) {
	switch {
	case re.hang:
		<-r.gone
	case re.cut:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	default:
		if re.retryAfter != "" {
			w.Header().Set("Retry-After", re.retryAfter)
			w.Header()["Date"] = nil // which would not be that of the test's clock
		}
		w.WriteHeader(re.code())
		_, _ = io.WriteString(w, re.body)
	}
}

// receiver is a server that remembers.
type receiver struct {
	*httptest.Server
	now   func() time.Time // of requests
	conns atomic.Int64     // ever opened

	mu      sync.Mutex
	got     []request
	arrived testsignal.Signal
}

// receive starts a receiver. answer, given the number of the request from 1,
// writes the response; nil: 200.
func receive(t testing.TB, answer func(n int, r request, w http.ResponseWriter)) *receiver {
	t.Helper()
	rec := &receiver{now: time.Now}
	rec.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		one := request{method: r.Method, path: r.URL.RequestURI(), body: string(body), header: r.Header.Clone(), host: r.Host, at: rec.now(), gone: r.Context().Done()}
		rec.mu.Lock()
		rec.got = append(rec.got, one)
		n := len(rec.got)
		rec.mu.Unlock()
		rec.arrived.Send()
		if answer != nil {
			answer(n, one, w)
		}
	}))
	rec.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			rec.conns.Add(1)
		}
	}
	rec.Start()
	t.Cleanup(func() {
		rec.CloseClientConnections()
		rec.Close()
	})
	return rec
}

func (r *receiver) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

// until waits until done returns true, which it asks now and after each request.
func (r *receiver) until(t testing.TB, done func() bool) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&r.arrived}, done)
}

func (r *receiver) wait(t testing.TB, n int) []request {
	t.Helper()
	r.until(t, func() bool { return len(r.all()) >= n })
	return r.all()
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// eventually is for what other processes do.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, patient, 2*time.Millisecond)
}

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// Each test has a database of its own, and few need to see how it came to be.
func init() { testkit.Fill(webhook.Migrate) }
