package main

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

const secret = "a secret of tests that is long enough"

// receiver keeps the bodies that are posted to it.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	posted testsignal.Signal
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.bodies = append(r.bodies, string(body))
		r.mu.Unlock()
		r.posted.Send()
	}))
	t.Cleanup(r.Close)
	return r
}

// until waits for n bodies, and returns them.
func (r *receiver) until(t *testing.T, n int) []string {
	t.Helper()
	count := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.bodies)
	}
	testkit.Until(t, []*testsignal.Signal{&r.posted}, func() bool { return count() >= n })
	return r.bodies
}

// TestReadme runs the lines of the README, against another receiver and database, and
// orders.
func TestReadme(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	program := testkit.Build(t, ".") + "/gorm -url " + r.URL
	sh := testkit.NewShell(t)
	sh.Send(t, testkit.ReadGuide(t, "README.md").Block(t, "start", "go run ./examples/webhookreceiver &\n", "", "cd examples/gorm && ", "",
		"go run .", program, "postgres://localhost/shop", "'"+testkit.PostgresURL(t)+"'"))
	sh.Send(t, "a lamp\n")
	require.Contains(t, r.until(t, 1)[0], `"what":"a lamp"`)
}

// TestOrders types orders: each that gorm stores is delivered, and one that breaks a
// rule of its table is neither stored nor delivered.
func TestOrders(t *testing.T) {
	t.Setenv("APP_SECRET", secret)
	r := newReceiver(t)
	url := testkit.PostgresURL(t)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	in, typed := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, url, r.URL, in) }()
	_, err := io.WriteString(typed, "two chairs\n\na table\n")
	require.NoError(t, err)
	bodies := r.until(t, 2)
	require.NoError(t, typed.Close())
	stop()
	require.NoError(t, <-done)
	require.Len(t, bodies, 2)
	require.Contains(t, bodies[0], `"what":"two chairs"`)
	require.Contains(t, bodies[1], `"what":"a table"`)
	var stored []string
	require.NoError(t, testkit.Open(t, url).SelectContext(t.Context(), &stored, `SELECT what FROM orders ORDER BY id`))
	require.Equal(t, []string{"two chairs", "a table"}, stored)
}

// TestPool works on the connections of a pool of pgx, in a schema that is not public,
// beside a table of the program and in its transactions.
func TestPool(t *testing.T) {
	r := newReceiver(t)
	url := testkit.PostgresURL(t)
	_, err := testkit.Open(t, url).ExecContext(t.Context(), `CREATE SCHEMA shop`)
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), url+"&search_path=shop")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db := sqlx.NewDb(stdlib.OpenDBFromPool(pool), "pgx")
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	hooks, err := webhook.New(t.Context(), db, &webhook.Options{Secrets: []string{secret}, Allow: []string{"127.0.0.1"}})
	require.NoError(t, err)
	_, _, err = hooks.For(webhook.OneAccount).Put(t.Context(), webhook.Settings{Scope: "shop", URL: r.URL})
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `CREATE TABLE orders (what TEXT)`)
	require.NoError(t, err)
	for _, what := range []string{"kept", "dropped", "kept, too"} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, store(t.Context(), tx, hooks, what))
		if strings.HasPrefix(what, "kept") {
			require.NoError(t, tx.Commit())
		} else {
			require.NoError(t, tx.Rollback())
		}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- hooks.Run(ctx) }()
	bodies := r.until(t, 2)
	stop()
	require.NoError(t, <-done)
	require.Len(t, bodies, 2)
	require.Contains(t, bodies[0], `"what":"kept"`)
	require.Contains(t, bodies[1], `"what":"kept, too"`)
	var schemas []string
	require.NoError(t, db.SelectContext(t.Context(), &schemas, `SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'webhook\_%'`))
	require.Equal(t, []string{"shop"}, schemas)
}

func store(ctx context.Context, tx *sql.Tx, hooks *webhook.Dispatcher, what string) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders (what) VALUES ($1)`, what); err != nil {
		return err
	}
	return hooks.PublishTx(ctx, tx, webhook.Event{Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Key: "orders", Body: []byte(`{"what":"` + what + `"}`)})
}
