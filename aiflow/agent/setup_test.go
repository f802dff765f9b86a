package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	account = "acme"
	patient = 2 * time.Minute // longest wait of a test
	tick    = 2 * time.Millisecond
	line    = 7
)

// host is a chat service whose messages are rows of a table, written as a real
// one writes them: in the turn's transaction.
type host struct{}

const hostTable = `CREATE TABLE IF NOT EXISTS test_said (id %s, chat TEXT NOT NULL, run TEXT NOT NULL, effect TEXT NOT NULL, what TEXT NOT NULL)`

func hostTables(t testing.TB, db *sqlx.DB) {
	t.Helper()
	id := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if db.DriverName() != "sqlite" {
		id = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	}
	_, err := db.ExecContext(t.Context(), fmt.Sprintf(hostTable, id))
	require.NoError(t, err)
}

func (host) Snapshot(_ context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{Contact: map[string]any{"id": c.ID}, Chat: map[string]any{"id": c.ID}}, nil
}

func (host) said(ctx context.Context, tx runtime.Tx, r runtime.Run, effect, what string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO test_said (chat, run, effect, what) VALUES ($1, $2, $3, $4)`, r.Chat.ID, r.ID, effect, what)
	return err
}

func (h host) SendTx(ctx context.Context, tx runtime.Tx, r runtime.Run, s flow.Send) (string, error) {
	var m struct{ Text string }
	if err := json.Unmarshal(s.Message, &m); err != nil {
		return "", err
	}
	return r.ID + "-" + s.ID, h.said(ctx, tx, r, s.ID, m.Text)
}

func (h host) AskTx(ctx context.Context, tx runtime.Tx, r runtime.Run, a flow.Ask) error {
	return h.said(ctx, tx, r, a.ID, "ask "+a.Tool)
}

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.at.Load())) }

func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// fixture is an agent under test, in flows that run.
type fixture struct {
	agents  *agent.Service
	runs    *runtime.Runtime
	service *aiflow.Service
	flows   *aiflow.Account
	ledger  *usage.Ledger
	db      *sqlx.DB
	clock   *clock
	stop    func()
}

// change says what of a fixture is not as usual.
type change struct {
	model   llm.Model
	tools   []llm.Tool
	agent   func(*agent.Options)
	runtime func(*runtime.Options)
}

// setup makes an agent that does not run yet.
func setup(t testing.TB, db *sqlx.DB, c change) *fixture {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, migrate(ctx, db))
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	f := &fixture{db: db, clock: &clock{}, stop: func() {}}
	var err error
	f.ledger, err = usage.New(ctx, db, &usage.Options{Logger: log})
	require.NoError(t, err)
	memories, err := memory.New(ctx, db, nil)
	require.NoError(t, err)
	models, err := llm.NewModels(map[string]llm.Model{"script": c.model})
	require.NoError(t, err)
	o := &agent.Options{
		Memory: memories, Logger: log, Now: f.clock.Now,
		Tools: func(_ context.Context, _ agent.Scope, r *flow.AgentRequest) ([]llm.Tool, error) {
			return slices.DeleteFunc(slices.Clone(c.tools), func(tool llm.Tool) bool { return !slices.Contains(r.Tools, tool.Origin) }), nil
		},
	}
	if c.agent != nil {
		c.agent(o)
	}
	f.agents, err = agent.New(ctx, db, models, f.ledger, o)
	require.NoError(t, err)
	ro := &runtime.Options{Logger: log, Now: f.clock.Now, Callers: map[flow.CallKind]runtime.Caller{flow.CallAgent: f.agents.Act}}
	if c.runtime != nil {
		c.runtime(ro)
	}
	hostTables(t, db)
	f.runs, err = runtime.New(ctx, db, host{}, ro)
	require.NoError(t, err)
	f.service, err = aiflow.New(ctx, db, &aiflow.Options{Runs: f.runs, Logger: log})
	require.NoError(t, err)
	f.flows = f.service.For(account)
	return f
}

// running is an agent in flows that run until the test ends.
func running(t testing.TB, db *sqlx.DB, c change) *fixture {
	t.Helper()
	more := c.runtime
	c.runtime = func(o *runtime.Options) {
		o.Exclusive = true // nobody takes it for dead when the machine stands still
		if more != nil {
			more(o)
		}
	}
	f := setup(t, db, c)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.runs.Run(ctx) }()
	f.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(f.stop)
	return f
}

// config is that of an agent node.
type config map[string]any

// document is a flow whose agent's outputs lead on: each ends the run with its
// name, error with the code, and out with the answer.
func document(t testing.TB, c config, outputs ...string) []byte {
	t.Helper()
	full := config{"model": "script/one", "instructions": "Help.", "saveTo": "answer"}
	for name, v := range c {
		full[name] = v
	}
	next := map[string]string{"out": "end_out", "error": "end_error"}
	nodes := map[string]any{
		"begin":     map[string]any{"type": "trigger", "config": map[string]any{"on": []any{map[string]any{"kind": "api"}}}, "next": map[string]string{"out": "agent"}},
		"end_out":   map[string]any{"type": "end", "config": map[string]any{"result": "{{ vars.answer }}"}},
		"end_error": map[string]any{"type": "end", "config": map[string]any{"result": "{{ error.code }}"}},
	}
	for _, o := range outputs {
		next[o] = "end_" + o
		nodes["end_"+o] = map[string]any{"type": "end", "config": map[string]any{"result": o}}
	}
	nodes["agent"] = map[string]any{"type": "agent", "config": full, "next": next}
	raw, err := json.Marshal(map[string]any{
		"format": flow.Format, "kind": "flow", "slug": "agent", "name": "Agent", "start": "begin", "nodes": nodes,
		"variables": map[string]any{"answer": map[string]any{"type": "any"}},
	})
	require.NoError(t, err)
	return raw
}

// publish publishes a flow and returns its id.
func (f *fixture) publish(t testing.TB, draft []byte) string {
	t.Helper()
	p, err := f.flows.Projects().Create(t.Context(), aiflow.NewProject{Name: "P"})
	require.NoError(t, err)
	made, err := f.flows.Flows().Create(t.Context(), aiflow.NewFlow{Project: p.ID, Name: "F", Draft: draft})
	require.NoError(t, err)
	_, err = f.flows.Versions().Publish(t.Context(), made.ID, aiflow.Publisher{User: "ana"})
	require.NoError(t, err, "%v", err)
	return made.ID
}

func chatOf(id string) runtime.Chat {
	return runtime.Chat{Account: account, Reference: line, Key: fmt.Sprint(line, ":", id), ID: id}
}

// start begins a run in a chat; chat "" is none.
func (f *fixture) start(t testing.TB, id, chat, text string) runtime.Run {
	t.Helper()
	s := aiflow.Start{Flow: id, Input: map[string]any{"id": "m1", "text": text}}
	if chat != "" {
		s.Chat = chatOf(chat)
	}
	r, err := f.flows.Runs().Start(t.Context(), s)
	require.NoError(t, err)
	return r
}

// ask publishes an agent, asks it something and waits for the end of the run, or
// until it waits.
func (f *fixture) ask(t testing.TB, c config, text string, outputs ...string) runtime.Detail {
	t.Helper()
	return f.rest(t, f.start(t, f.publish(t, document(t, c, outputs...)), "ana", text).ID)
}

// rest waits until a run has ended or waits for somebody.
func (f *fixture) rest(t testing.TB, run string) (d runtime.Detail) {
	t.Helper()
	testkit.UntilCommitted(t, f.db, func() bool {
		var err error
		d, err = f.flows.Runs().Get(t.Context(), run)
		return err == nil && d.Status != runtime.Running
	})
	return d
}

// output is what a run gave back.
func output(t testing.TB, d runtime.Detail) any {
	t.Helper()
	require.Equal(t, runtime.Completed, d.Status, "%+v", d.Error)
	var v any
	if d.Output != nil {
		require.NoError(t, json.Unmarshal(d.Output, &v))
	}
	return v
}

// stopped is why the agent stopped, as the trace has it.
func stopped(t testing.TB, d runtime.Detail) agent.Stop {
	t.Helper()
	for _, s := range slices.Backward(d.Steps) {
		if s.Type == "agent" {
			if s.Error != nil {
				why, _ := s.Error.Detail["stopReason"].(string)
				return agent.Stop(why)
			}
			why, _ := s.Out["stopReason"].(string)
			return agent.Stop(why)
		}
	}
	require.Fail(t, "no agent took a step")
	return ""
}

// said is what a chat shows.
func (f *fixture) said(t testing.TB, chat string) []string {
	t.Helper()
	out := []string{}
	require.NoError(t, f.db.SelectContext(t.Context(), &out, `SELECT what FROM test_said WHERE chat = $1 ORDER BY id`, chat))
	return out
}

// entries are those of a run as "kind what status".
func (f *fixture) entries(t testing.TB, run string) (out []string) {
	t.Helper()
	es, err := f.agents.For(account).Entries(t.Context(), run, "")
	require.NoError(t, err)
	for _, e := range es {
		out = append(out, e.Kind+" "+e.Tool+e.Text+" "+e.Status)
	}
	return out
}

// sums are what the ledger has.
type sums struct {
	Calls, Input, Output, Unknown, Held int64
}

func (f *fixture) sums(t testing.TB) (s sums) {
	t.Helper()
	require.NoError(t, f.db.GetContext(t.Context(), &s, `SELECT count(*) AS calls, coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
		coalesce(sum(CASE WHEN cost_status = 'unknown' THEN 1 ELSE 0 END), 0) AS unknown,
		coalesce(sum(CASE WHEN cost_status = 'unknown' THEN held_tokens ELSE 0 END), 0) AS held FROM usage_call`))
	return s
}

// agrees holds the ledger against what the model counted, to the token.
func (f *fixture) agrees(t testing.TB, m *llmtest.Script) {
	t.Helper()
	c := m.Count()
	require.Equal(t, sums{Calls: int64(c.Requests), Input: c.Usage.Input, Output: c.Usage.Output}, f.sums(t))
}

// number is what a query counts.
func (f *fixture) number(t testing.TB, query string) (n int) {
	t.Helper()
	require.NoError(t, f.db.GetContext(t.Context(), &n, query))
	return n
}

// inTx runs fn in a transaction.
func (f *fixture) inTx(t testing.TB, fn func(*database.Tx) error) error {
	t.Helper()
	db, err := database.Of(t.Context(), f.db)
	require.NoError(t, err)
	return db.InTx(t.Context(), fn)
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// calls counts what tools were called with.
type calls struct {
	mu   sync.Mutex
	args []string
	keys []string
}

func (c *calls) note(r llm.ToolRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.args, c.keys = append(c.args, string(r.Arguments)), append(c.keys, r.Key)
}

func (c *calls) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.args)
}

// reading is a tool that changes nothing and says what it was asked.
func (c *calls) reading(name string) llm.Tool {
	return llm.Tool{
		Origin: name, ReadOnly: true, ToolSpec: llm.ToolSpec{
			Name: name, Description: "Finds an order by its number.",
			Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"],"additionalProperties":false}`),
		},
		Call: func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
			c.note(r)
			return llm.ToolOutput{Content: "found " + string(r.Arguments)}, nil
		},
	}
}

// writing is a tool that changes something.
func (c *calls) writing(name string) llm.Tool {
	tool := c.reading(name)
	tool.ReadOnly = false
	return tool
}

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func order(id, name, number string) llm.ToolCall {
	return call(id, name, fmt.Sprintf(`{"order":%q}`, number))
}

// Each test has a database of its own, and few need to see how it came to be.
func init() { testkit.Fill(migrate) }

func migrate(ctx context.Context, db *sqlx.DB) error {
	for _, migrate := range []func(context.Context, *sqlx.DB) error{runtime.Migrate, aiflow.Migrate, usage.Migrate, memory.Migrate, agent.Migrate} {
		if err := migrate(ctx, db); err != nil {
			return err
		}
	}
	return nil
}
