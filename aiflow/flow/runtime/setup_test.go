package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	account = "acme"
	patient = 2 * time.Minute // longest wait of a test
	line    = 7
)

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

// host is a chat service whose messages are rows of a table, written as a real
// one writes them: in the turn's transaction.
type host struct {
	mu     sync.Mutex
	silent bool
	until  time.Time
	refuse map[string]*flow.Error // by text
	jumps  map[string]runtime.Source
	breaks string            // a text that it fails to send, without saying why
	looks  func(chat string) // called whenever a turn looks at a chat; nil: nothing is
}

const hostTables = `CREATE TABLE IF NOT EXISTS test_did (id %s, run TEXT NOT NULL, effect TEXT NOT NULL, chat TEXT NOT NULL, what TEXT NOT NULL, body TEXT NOT NULL)`

func newHost(t testing.TB, db *sqlx.DB) *host {
	t.Helper()
	id := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if db.DriverName() != "sqlite" {
		id = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	}
	_, err := db.ExecContext(t.Context(), fmt.Sprintf(hostTables, id))
	require.NoError(t, err)
	return &host{refuse: map[string]*flow.Error{}, jumps: map[string]runtime.Source{}}
}

func (h *host) hush(silent bool, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent, h.until = silent, until
}

func (h *host) Snapshot(_ context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	if h.looks != nil {
		h.looks(c.ID)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return runtime.Snapshot{
		Contact: map[string]any{"id": c.ID, "name": "Ana", "phone": c.ID, "tags": []any{}, "fields": map[string]any{}, "language": "en"},
		Chat:    map[string]any{"id": c.ID, "reference": c.Reference, "variables": map[string]any{}},
		Silent:  h.silent, Until: h.until,
	}, nil
}

func (h *host) Jump(_ context.Context, from runtime.Run, to flow.Jump) (runtime.Start, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	src, ok := h.jumps[to.Flow]
	if !ok {
		return runtime.Start{}, fmt.Errorf("no flow %q", to.Flow)
	}
	return runtime.Start{Engine: from.Engine, Owner: to.Flow, Version: 1, Source: src, Input: to.Input}, nil
}

func (h *host) did(ctx context.Context, tx runtime.Tx, r runtime.Run, effect, what string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO test_did (run, effect, chat, what, body) VALUES ($1, $2, $3, $4, $5)`, r.ID, effect, r.Chat.ID, what, string(raw))
	return err
}

func (h *host) SendTx(ctx context.Context, tx runtime.Tx, r runtime.Run, s flow.Send) (string, error) {
	var m struct{ Text string }
	if err := json.Unmarshal(s.Message, &m); err != nil {
		return "", err
	}
	h.mu.Lock()
	no, breaks := h.refuse[m.Text], h.breaks
	h.mu.Unlock()
	if breaks != "" && m.Text == breaks {
		return "", errors.New("the host is broken")
	}
	if no != nil {
		return "", no
	}
	return "out-" + r.ID + "-" + s.ID, h.did(ctx, tx, r, s.ID, "send", m.Text)
}

func (h *host) ContactTx(ctx context.Context, tx runtime.Tx, r runtime.Run, c flow.ContactChange) error {
	return h.did(ctx, tx, r, c.ID, "contact", c)
}

func (h *host) EventTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.DataEvent) error {
	return h.did(ctx, tx, r, e.ID, "event", e.Name)
}

func (h *host) HandoffTx(ctx context.Context, tx runtime.Tx, r runtime.Run, x flow.Handoff) error {
	return h.did(ctx, tx, r, x.ID, "handoff", x.Target)
}

func (h *host) EndHandoffTx(ctx context.Context, tx runtime.Tx, r runtime.Run, x flow.EndHandoff) error {
	return h.did(ctx, tx, r, x.ID, "endHandoff", "")
}

func (h *host) AskTx(ctx context.Context, tx runtime.Tx, r runtime.Run, a flow.Ask) error {
	return h.did(ctx, tx, r, a.ID, "ask", a.Tool)
}

// shelf is an engine whose flows are documents of testdata.
type shelf struct {
	mu    sync.Mutex
	flows []*shelved
}

type shelved struct {
	owner   string
	source  runtime.Source
	program *flow.Program
	created time.Time
}

func (*shelf) Name() string { return flow.EngineFlow }

func (s *shelf) Listeners(context.Context, string, int64) ([]runtime.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []runtime.Listener
	for _, f := range s.flows {
		trigger := f.program.Trigger()
		out = append(out, runtime.Listener{Owner: f.owner, Version: 1, Enabled: true, Priority: trigger.Priority, CreatedAt: f.created, Trigger: trigger})
	}
	return out, nil
}

func (s *shelf) Source(_ context.Context, _, owner string, _ int64) (runtime.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.flows {
		if f.owner == owner {
			return f.source, nil
		}
	}
	return runtime.Source{}, runtime.ErrNotFound
}

// add publishes a flow.
func (s *shelf) add(t testing.TB, owner string, src runtime.Source) {
	t.Helper()
	env := &flow.Environment{Functions: map[string]*flow.Document{}}
	for _, f := range src.Functions {
		env.Functions[f.Slug] = f
	}
	env.Published = true
	p, problems := node.NewTypes().Compile(src.Document, env)
	require.NotNil(t, p, "%v", problems)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flows = append(s.flows, &shelved{owner, src, p, epoch.Add(time.Duration(len(s.flows)) * time.Second)})
}

// source reads a document of testdata.
func source(t testing.TB, name string) runtime.Source {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	return document(t, string(raw))
}

// document makes a source of a document, whose head may be left out.
func document(t testing.TB, text string) runtime.Source {
	t.Helper()
	d, problems := flow.Decode([]byte(text))
	require.NotNil(t, d, "%v", problems)
	require.False(t, flow.Failed(problems), "%v", problems)
	return runtime.Source{Document: d}
}

// nodes is a document of nodes that begins with a trigger of any message; the
// first node is called first.
func nodes(t testing.TB, variables, rest string) runtime.Source {
	t.Helper()
	return document(t, `{"format":"trunkline-flow/1","kind":"flow","slug":"test","name":"Test","start":"trigger","variables":{`+variables+`},
		"nodes":{"trigger":{"type":"trigger","config":{"on":[{"kind":"any_message"}]},"next":{"out":"first"}},`+rest+`}}`)
}

// fixture is a runtime under test.
type fixture struct {
	*runtime.Runtime
	acc   *runtime.Account
	db    *database.DB
	raw   *sqlx.DB
	host  *host
	shelf *shelf
	clock *clock
	stop  func()
}

// setup returns a runtime over db that does not run. change may be nil.
func setup(t testing.TB, db *sqlx.DB, change func(*runtime.Options)) *fixture {
	t.Helper()
	require.NoError(t, runtime.Migrate(t.Context(), db))
	testkit.CheckLocks(t, db)
	f := &fixture{raw: db, host: newHost(t, db), shelf: &shelf{}, clock: newClock(), stop: func() {}}
	o := &runtime.Options{Now: f.clock.Now, Allow: []string{"127.0.0.1"}, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	if change != nil {
		change(o)
	}
	var err error
	f.db, err = database.Of(t.Context(), db)
	require.NoError(t, err)
	f.Runtime, err = runtime.New(t.Context(), db, f.host, o)
	require.NoError(t, err)
	f.Serve(f.shelf)
	f.acc = f.For(account)
	return f
}

// start runs the runtime until the test ends or stop is called.
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

func running(t testing.TB, db *sqlx.DB, change func(*runtime.Options)) *fixture {
	t.Helper()
	return setup(t, db, change).start(t)
}

// alone is what tests choose that hold a call in hand: nobody takes their node
// for dead when the machine stands still, and the call for lost.
func alone(o *runtime.Options) { o.Exclusive = true }

// successor is another node on the same world.
func (f *fixture) successor(t testing.TB, db *sqlx.DB, change func(*runtime.Options)) *fixture {
	t.Helper()
	return setup(t, db, func(o *runtime.Options) {
		o.Now = f.clock.Now
		if change != nil {
			change(o)
		}
	}).sharing(f)
}

func (f *fixture) sharing(g *fixture) *fixture {
	f.clock, f.shelf = g.clock, g.shelf
	f.Serve(g.shelf)
	return f
}

func chatOf(id string) runtime.Chat {
	return runtime.Chat{Account: account, Reference: line, Key: fmt.Sprint(line, ":", id), ID: id}
}

// say has contacts write, all in one transaction.
func (f *fixture) say(t testing.TB, chat string, texts ...string) {
	t.Helper()
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
		for _, text := range texts {
			if err := f.IncomingTx(t.Context(), tx, incoming(chat, text)); err != nil {
				return err
			}
		}
		return nil
	}))
}

func incoming(chat, text string) runtime.Incoming {
	return runtime.Incoming{
		Chat: chatOf(chat), Message: map[string]any{"id": "in-" + text, "type": "text", "text": text},
		Inbound: flow.Inbound{Channel: "provider-sandbox", Text: text},
	}
}

// did is what was done in a chat, in order, as "what body".
func (f *fixture) did(t testing.TB, chat string) []string {
	t.Helper()
	var rows []struct{ What, Body string }
	require.NoError(t, f.raw.SelectContext(t.Context(), &rows, `SELECT what, body FROM test_did WHERE chat = $1 ORDER BY id`, chat))
	out := []string{}
	for _, r := range rows {
		var text any
		_ = json.Unmarshal([]byte(r.Body), &text)
		if r.What == "send" {
			out = append(out, fmt.Sprint(text))
			continue
		}
		out = append(out, fmt.Sprint(r.What, " ", text))
	}
	return out
}

// until waits until done returns true, which it asks now and after each commit on the
// handle of the runtime.
func (f *fixture) until(t testing.TB, done func() bool, what ...any) {
	t.Helper()
	testkit.UntilCommitted(t, f.raw, done, what...)
}

// awaitDid waits until what was done in a chat is this.
func (f *fixture) awaitDid(t testing.TB, chat string, want ...string) {
	t.Helper()
	var got []string
	ok := func() bool {
		got = f.did(t, chat)
		return len(got) >= len(want)
	}
	f.until(t, ok, "in %s", chat)
	require.Equal(t, want, got)
}

// once checks that nothing was done twice.
func (f *fixture) once(t testing.TB) {
	t.Helper()
	var twice int
	require.NoError(t, f.raw.GetContext(t.Context(), &twice, `SELECT count(*) FROM (SELECT run, effect FROM test_did GROUP BY run, effect, what HAVING count(*) > 1) x`))
	require.Zero(t, twice, "effects that were done twice")
}

// eventually is for what other processes do.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, patient, 2*time.Millisecond)
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// Each test has a database of its own, and few need to see how it came to be.
func init() { testkit.Fill(runtime.Migrate) }
