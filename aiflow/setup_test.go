package aiflow_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// chatService is a chat service that takes whatever runs do, and leaves jumps to the
// package under test.
type chatService struct{ flows *aiflow.Service }

func (chatService) Snapshot(_ context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	return runtime.Snapshot{Contact: map[string]any{"id": c.ID}, Chat: map[string]any{"id": c.ID}}, nil
}

func (h *chatService) Jump(ctx context.Context, from runtime.Run, to flow.Jump) (runtime.Start, error) {
	return h.flows.For(from.Chat.Account).Jump(ctx, from.Owner, to.Flow)
}

func (chatService) SendTx(_ context.Context, _ runtime.Tx, r runtime.Run, s flow.Send) (string, error) {
	return r.ID + "-" + s.ID, nil
}

// fixture is a service under test, and one of its accounts.
type fixture struct {
	*aiflow.Service
	*aiflow.Account
	runs *runtime.Runtime
	db   *sqlx.DB
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setup(t, db))
	})
}

func setup(t *testing.T, db *sqlx.DB) *fixture {
	t.Helper()
	require.NoError(t, runtime.Migrate(t.Context(), db))
	require.NoError(t, aiflow.Migrate(t.Context(), db))
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	h := &chatService{}
	runs, err := runtime.New(t.Context(), db, h, &runtime.Options{Logger: log})
	require.NoError(t, err)
	flows, err := aiflow.New(t.Context(), db, &aiflow.Options{Runs: runs, Logger: log})
	require.NoError(t, err)
	h.flows = flows
	return &fixture{Service: flows, Account: flows.For("acme"), runs: runs, db: db}
}

// running has runs continue until the test ends.
func (f *fixture) running(t *testing.T) *fixture {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.runs.Run(ctx) }()
	t.Cleanup(sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	}))
	return f
}

// project makes a project.
func (f *fixture) project(t *testing.T, name string) string {
	t.Helper()
	p, err := f.Projects().Create(t.Context(), aiflow.NewProject{Name: name, Description: "All of it"})
	require.NoError(t, err)
	return p.ID
}

// flow makes a flow of a draft, named after it.
func (f *fixture) flow(t *testing.T, project, draft string) aiflow.Flow {
	t.Helper()
	out, err := f.Flows().Create(t.Context(), aiflow.NewFlow{Project: project, Name: "Of " + project[:8], Draft: []byte(draft)})
	require.NoError(t, err)
	return out
}

// published makes and publishes a flow.
func (f *fixture) published(t *testing.T, project, draft string) aiflow.Flow {
	t.Helper()
	return f.publish(t, f.flow(t, project, draft).ID)
}

func (f *fixture) publish(t *testing.T, id string) aiflow.Flow {
	t.Helper()
	out, err := f.Versions().Publish(t.Context(), id, aiflow.Publisher{})
	require.NoError(t, err)
	return out
}

// change gives a flow another draft and publishes it.
func (f *fixture) change(t *testing.T, id, draft string) aiflow.Flow {
	t.Helper()
	_, err := f.Flows().Update(t.Context(), id, aiflow.FlowChange{Draft: []byte(draft)})
	require.NoError(t, err)
	return f.publish(t, id)
}

// output is what a run of a flow with an input gives back.
func (f *fixture) output(t *testing.T, id string, n int) string {
	t.Helper()
	run, err := f.Runs().Start(t.Context(), aiflow.Start{Flow: id, Input: map[string]any{"n": n}})
	require.NoError(t, err)
	testkit.UntilCommitted(t, f.db, func() bool {
		d, err := f.Runs().Get(t.Context(), run.ID)
		run = d.Run
		return err == nil && !run.EndedAt.IsZero()
	})
	require.Equal(t, runtime.Status("completed"), run.Status, "%v", run.Error)
	return string(run.Output)
}

// pins are the functions of what is published of a flow, as "slug@version".
func pins(f aiflow.Flow) string {
	var out []string
	for _, p := range f.Published.Functions {
		out = append(out, fmt.Sprint(p.Slug, "@", p.Version))
	}
	return strings.Join(out, " ")
}

// function is a function of one number that gives back an expression of it.
func function(slug, expression string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"function","slug":%q,"name":"F","start":"give",
		"args":{"n":{"type":"number","required":true}},"returns":{"n":{"type":"number"}},
		"nodes":{"give":{"type":"return","config":{"value":{"n":"{{ %s }}"}}}}}`, slug, expression)
}

// caller is a function of one number that gives back what another makes of it.
func caller(slug, calls string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"function","slug":%q,"name":"F","start":"call",
		"args":{"n":{"type":"number","required":true}},"returns":{"n":{"type":"number"}},"variables":{"got":{"type":"object"}},
		"nodes":{
			"call":{"type":"call","config":{"function":%q,"args":{"n":"{{ args.n }}"},"saveTo":"got"},"next":{"out":"give"}},
			"give":{"type":"return","config":{"value":{"n":"{{ vars.got.n }}"}}}}}`, slug, calls)
}

// using is a flow that ends with what a function makes of its input.
func using(slug, calls string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"F","start":"begin","variables":{"got":{"type":"object"}},
		"nodes":{
			"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"call"}},
			"call":{"type":"call","config":{"function":%q,"args":{"n":"{{ input.n }}"},"saveTo":"got"},"next":{"out":"end"}},
			"end":{"type":"end","config":{"result":"{{ vars.got.n }}"}}}}`, slug, calls)
}

// plain is a flow that needs nothing.
func plain(slug string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"F","start":"begin",
		"nodes":{"begin":{"type":"trigger","config":{"on":[{"kind":"any_message"}]}}}}`, slug)
}
