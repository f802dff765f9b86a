package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// timeout is how long something may take that happens in the background.
const timeout = 2 * time.Minute

// start returns a service that trains until the test ends.
func start(t testing.TB, db *sqlx.DB, o store.Options) *store.Service {
	t.Helper()
	s := idle(t, db, o)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return s
}

// idle returns a service that trains nothing.
func idle(t testing.TB, db *sqlx.DB, o store.Options) *store.Service {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	require.NoError(t, store.Migrate(t.Context(), db))
	s, err := store.New(t.Context(), db, &o)
	require.NoError(t, err)
	return s
}

// made makes an extractor of line 1.
func made(t testing.TB, a *store.Account, kind, config string) store.Extractor {
	t.Helper()
	e, err := a.Create(t.Context(), store.NewExtractor{
		Name: "Our " + kind, Kind: kind, Scope: store.Scope{Reference: 1}, Config: json.RawMessage(config),
	})
	require.NoError(t, err)
	return e
}

// trained waits until the intents of an extractor have been learned.
func trained(t testing.TB, db *sqlx.DB, a *store.Account, id string) {
	t.Helper()
	var e store.Extractor
	testkit.UntilCommitted(t, db, func() bool {
		var err error
		e, err = a.Extractor(t.Context(), id)
		return err == nil && e.Training != store.Training
	})
	require.Equal(t, store.Ready, e.Training, e.TrainingError)
}

// said returns a message of line 1.
func said(text string) store.Message {
	return store.Message{Reference: 1, ChatID: "ana@sandbox", Said: store.Said{
		Text: text, UsualLocale: "en", Now: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
	}}
}

// valuesOf returns the values of a message, as JSON.
func valuesOf(t testing.TB, a *store.Account, m store.Message) string {
	t.Helper()
	results, err := a.Extract(t.Context(), m)
	require.NoError(t, err)
	raw, err := json.Marshal(store.Merge(results))
	require.NoError(t, err)
	return string(raw)
}

const orders = `{"intents": [
	{"name": "refund", "examples": ["I want my money back", "please refund me", "can I get a refund?"]},
	{"name": "delivery", "examples": ["where is my parcel", "when does my order arrive", "track my package"]}]%s}`

func intents(more string) string { return fmt.Sprintf(orders, more) }

// parrot is a model that always gives the same answer, and records its requests.
type parrot struct {
	mu     sync.Mutex
	answer string
	err    error
	hang   bool
	asked  []llm.Request
}

func (p *parrot) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	p.mu.Lock()
	p.asked = append(p.asked, *r)
	answer, err, hang := p.answer, p.err, p.hang
	p.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &llm.Response{Message: llm.Assistant(answer), Stop: llm.StopDone, Usage: llm.Usage{Known: true, Input: 10, Output: 5}}, err
}

func (p *parrot) times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func (p *parrot) say(answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// models returns the parrot for every model, with a price.
func (p *parrot) models(_ context.Context, c store.Call) (llm.Model, string, error) {
	return paid{p, c}, c.Model, nil
}

type paid struct {
	*parrot
	call store.Call
}

func (p paid) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	res, err := p.parrot.Generate(ctx, r)
	if err == nil {
		p.call.Used(res.Usage, 1500, true)
	}
	return res, err
}
