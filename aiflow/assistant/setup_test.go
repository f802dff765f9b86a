package assistant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// fixture is a service with all its options, and the model that it calls: script/m.
// script/other is scripted by other.
type fixture struct {
	*assistant.Service
	model, other *llmtest.Script
	usage        *usage.Ledger
	memory       *memory.Service
	knowledge    *knowledge.Account
	project      string
	log          *bytes.Buffer

	mu    sync.Mutex
	typed int // number of calls of Typing
	calls int
}

// nobody is a ChatService in which runs do nothing.
type nobody struct{ runtime.ChatService }

const account = "acme"

// now is when all of it happens.
var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func eachDatabase(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setup(t, db))
	})
}

func setup(t *testing.T, db *sqlx.DB) *fixture {
	t.Helper()
	ctx := t.Context()
	for _, migrate := range []func(context.Context, *sqlx.DB) error{runtime.Migrate, aiflow.Migrate, knowledge.Migrate, memory.Migrate, usage.Migrate} {
		require.NoError(t, migrate(ctx, db))
	}
	f := &fixture{model: llmtest.NewScript(), other: llmtest.NewScript(), log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(f.log, nil))
	runs, err := runtime.New(ctx, db, nobody{}, &runtime.Options{Logger: log})
	require.NoError(t, err)
	flows, err := aiflow.New(ctx, db, &aiflow.Options{Runs: runs, Logger: log})
	require.NoError(t, err)
	p, err := flows.For(account).Projects().Create(ctx, aiflow.NewProject{Name: "hotel"})
	require.NoError(t, err)
	f.project = p.ID
	files, err := knowledge.New(ctx, db, &knowledge.Options{Logger: log})
	require.NoError(t, err)
	f.knowledge = files.For(account)
	f.usage, err = usage.New(ctx, db, &usage.Options{Logger: log})
	require.NoError(t, err)
	require.NoError(t, f.usage.For(account).SetPricing(ctx, []usage.Price{{Provider: "script", Model: "m", Rates: usage.Rates{Input: 2e9, Output: 10e9}}}))
	f.memory, err = memory.New(ctx, db, &memory.Options{Logger: log})
	require.NoError(t, err)
	models, err := llm.NewModels(map[string]llm.Model{"script": f.model, "other": f.other})
	require.NoError(t, err)
	f.Service, err = assistant.New(models, &assistant.Options{
		Ledger: f.usage, Memory: f.memory, Knowledge: files, Logger: log, Now: func() time.Time { return now },
		Project: func(context.Context, string, string) (string, error) { return f.project, nil },
		Model:   func(context.Context) (string, error) { return "script/m", nil },
		File:    file,
		Typing: func(context.Context, runtime.Chat) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.typed++
		},
		Retry: &llm.RetryOptions{Wait: time.Millisecond},
	})
	require.NoError(t, err)
	return f
}

// file has the files whose names it knows.
func file(_ context.Context, _ string, media map[string]any, _ int64) (assistant.File, error) {
	name, _ := media["fileName"].(string)
	kinds := map[string]string{"cat.png": "image/png", "hello.ogg": "audio/ogg; codecs=opus", "table.zip": "application/zip"}
	if kinds[name] == "" {
		return assistant.File{}, assistant.ErrNoFile
	}
	return assistant.File{Type: kinds[name], Name: name, Data: []byte("bytes of " + name)}, nil
}

// request returns what an assistant node asks for, in a chat.
func (f *fixture) request(in flow.ModelRequest) runtime.Request {
	f.calls++
	if in.Model == "" {
		in.Model = "script/m"
	}
	key := "run." + string(rune('0'+f.calls))
	return runtime.Request{
		Run:  runtime.Run{ID: "run", Owner: "flow", Chat: runtime.Chat{Account: account, Reference: 7, Key: "7:1", ID: "ana@sandbox"}},
		Call: flow.Call{Kind: flow.CallAssistant, Key: key, Attempt: 1, Request: in}, Key: key,
	}
}

func (f *fixture) answer(t *testing.T, in flow.ModelRequest) *flow.ModelResult {
	t.Helper()
	out, err := f.Answer(t.Context(), f.request(in))
	require.NoError(t, err)
	return out.(*flow.ModelResult)
}

// fails requires that there is no answer, and returns why.
func (f *fixture) fails(t *testing.T, in flow.ModelRequest) *flow.Error {
	t.Helper()
	out, err := f.Answer(t.Context(), f.request(in))
	require.Nil(t, out)
	var failed *flow.Error
	require.ErrorAs(t, err, &failed)
	return failed
}

// asked returns the last request that the model got.
func (f *fixture) asked(t *testing.T) llm.Request {
	t.Helper()
	all := f.model.Requests()
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

func chatMemory() flow.Memory { return flow.Memory{Scope: "chat", Messages: 20, Tokens: 8000} }

var city = json.RawMessage(`{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}`)
