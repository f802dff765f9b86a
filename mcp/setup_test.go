package mcp_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const patient = 40 * time.Second // longest wait of a test

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// ana may do everything.
var ana = mcp.Caller{Account: "acme", User: "ana", Token: "t1", May: func(string) bool { return true }}

// only returns ana with these permissions.
func only(permissions ...string) mcp.Caller {
	c := ana
	c.May = func(p string) bool {
		for _, has := range permissions {
			if p == has {
				return true
			}
		}
		return false
	}
	return c
}

// setup returns a registry on a database, migrated.
func setup(t testing.TB, db *sqlx.DB, o mcp.Options) *mcp.Registry {
	t.Helper()
	require.NoError(t, mcp.Migrate(t.Context(), db))
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	r, err := mcp.New(t.Context(), db, &o)
	require.NoError(t, err)
	return r
}

// free returns a registry that counts and writes nothing.
func free(t testing.TB, o mcp.Options) *mcp.Registry {
	t.Helper()
	o.Limit, o.AccountLimit, o.NoAudit = -1, -1, true
	return setup(t, testkit.Open(t, testkit.SQLiteURL(t)), o)
}

// eachDatabase runs fn on both dialects, in parallel.
func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

type none struct{}

// add registers a function that only has a name and a handler.
func add[In, Out any](t testing.TB, r *mcp.Registry, name string, fn func(ctx context.Context, c mcp.Call, in In) (Out, error)) {
	t.Helper()
	require.NoError(t, mcp.Register(r, mcp.Function[In, Out]{Name: name, Description: "For tests.", Handler: fn}))
}

// ping registers a function that does nothing.
func ping(t testing.TB, r *mcp.Registry, name string) {
	t.Helper()
	add(t, r, name, func(context.Context, mcp.Call, none) (none, error) { return none{}, nil })
}

func call(t testing.TB, r *mcp.Registry, c mcp.Caller, function, arguments string) mcp.Outcome {
	t.Helper()
	return r.Execute(t.Context(), c, mcp.Request{Function: function, Arguments: json.RawMessage(arguments)})
}

// refused requires an error of a code.
func refused(t testing.TB, out mcp.Outcome, code string) *mcp.Error {
	t.Helper()
	require.False(t, out.Success)
	require.NotNil(t, out.Error)
	require.Equal(t, code, out.Error.Code, out.Error.Message)
	require.Nil(t, out.Result)
	require.NotNil(t, out.Error.Details)
	return out.Error
}

// logged collects log lines.
type logged struct {
	mu    sync.Mutex
	text  strings.Builder
	wrote testsignal.Signal
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.wrote.Send()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// Each test has a database of its own; migrating once and copying is faster.
func init() { testkit.Fill(mcp.Migrate) }
