package usage_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 7, 2, 10, 30, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) add(d time.Duration) { c.set(c.now().Add(d)) }

// fixture is a ledger and one account.
type fixture struct {
	*usage.Ledger
	db    *sqlx.DB
	clock *clock
	own   *usage.Account
}

// onLedgers runs fn with an empty ledger on each database.
func onLedgers(t *testing.T, fn func(t *testing.T, f fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, open(t, db, nil))
	})
}

// open opens a ledger over a database.
func open(t testing.TB, db *sqlx.DB, change func(*usage.Options)) fixture {
	t.Helper()
	c := newClock()
	opts := &usage.Options{Now: c.now}
	if change != nil {
		change(opts)
	}
	require.NoError(t, usage.Migrate(t.Context(), db))
	l, err := usage.New(t.Context(), db, opts)
	require.NoError(t, err)
	return fixture{l, db, c, l.For(usage.OneAccount)}
}

// call returns a call of a model, "provider/model".
func call(model string) usage.Call {
	provider, name, _ := strings.Cut(model, "/")
	return usage.Call{Account: usage.OneAccount, Feature: "assistant", Provider: provider, Model: name}
}

// answer returns what a model answered that took so much.
func answer(model string, u llm.Usage) *llm.Response {
	provider, name, _ := strings.Cut(model, "/")
	return &llm.Response{Provider: provider, Model: name, Usage: u, Stop: llm.StopDone, Message: llm.Assistant("Hello")}
}

// tokens returns a known usage.
func tokens(in, out int64) llm.Usage { return llm.Usage{Known: true, Input: in, Output: out} }

// make writes a call down that is answered by the model it asks.
func (f fixture) make(t testing.TB, c usage.Call, u llm.Usage) usage.Cost {
	t.Helper()
	e, err := f.Begin(t.Context(), c)
	require.NoError(t, err)
	cost, err := f.Complete(t.Context(), e, answer(c.Provider+"/"+c.Model, u), nil)
	require.NoError(t, err)
	return cost
}

// records returns all calls, the newest first.
func (f fixture) records(t testing.TB, filter usage.Filter) []usage.Record {
	t.Helper()
	if filter.From.IsZero() {
		filter.From = time.Unix(0, 0)
	}
	if filter.To.IsZero() {
		filter.To = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	var all []usage.Record
	for cursor := ""; ; {
		p, err := f.own.Detail(t.Context(), filter, usage.List{Limit: 200, Cursor: cursor})
		require.NoError(t, err)
		all = append(all, p.Items...)
		if cursor = p.Next; cursor == "" {
			return all
		}
	}
}

// scripted is a model that calls a function.
type scripted func(r *llm.Request) (*llm.Response, error)

func (s scripted) Generate(_ context.Context, r *llm.Request) (*llm.Response, error) { return s(r) }

// run runs the ledger until the returned function is called.
func (f fixture) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}
