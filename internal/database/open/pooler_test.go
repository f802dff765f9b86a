package open_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestPooler opens a database through PgBouncer. With a connection for each client it is
// like any other; with one for each transaction it is refused, unless notifications have
// an address of their own.
func TestPooler(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines  string
		pooled bool
	}{
		{"pool_mode = session", false},
		{"pool_mode = transaction", true},
		{"pool_mode = transaction\ndefault_pool_size = 1", true},
		{"pool_mode = statement", true},
		{"pool_mode = transaction\nserver_round_robin = 1\nmin_pool_size = 2", true},
		{"pool_mode = transaction\nserver_round_robin = 1\nmin_pool_size = 5", true},
	} {
		t.Run(c.lines, func(t *testing.T) {
			t.Parallel()
			direct := testkit.PostgresURL(t)
			through := testkit.StartPooler(t, direct, c.lines).URL
			for range 3 { // the first client is alone
				db, err := open.Open(t.Context(), through)
				if !c.pooled {
					require.NoError(t, err)
					require.NoError(t, db.Close())
					continue
				}
				require.ErrorIs(t, err, open.ErrPooler)
			}
			if !c.pooled {
				return
			}
			db, err := open.With(t.Context(), through, open.Options{ListenURL: direct})
			if strings.Contains(c.lines, "statement") {
				require.ErrorContains(t, err, "the pooler refuses transactions (pool_mode=statement)")
				return
			}
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			d, err := database.Of(t.Context(), db)
			require.NoError(t, err)
			for i := range 50 { // often enough to be prepared
				var got int
				require.NoError(t, d.GetContext(t.Context(), &got, `SELECT CAST($1 AS INTEGER) + 1`, i))
				require.Equal(t, i+1, got)
			}
			require.NoError(t, d.Prepare(t.Context(), `SELECT 1`))
			var prepared int
			require.NoError(t, db.Get(&prepared, `SELECT count(*) FROM pg_prepared_statements`))
			require.Zero(t, prepared)
			received := d.Listen(t.Context(), "topic")
			<-received // it listens
			other := testkit.Open(t, direct)
			o, err := database.Of(t.Context(), other)
			require.NoError(t, err)
			o.Notify("topic")
			<-received
		})
	}
}

// TestPooler_Busy opens a database through a PgBouncer while others use it. By chance a
// client then has the same connection again and again.
func TestPooler_Busy(t *testing.T) {
	t.Parallel()
	direct := testkit.PostgresURL(t)
	through := testkit.StartPooler(t, direct, "pool_mode = transaction\ndefault_pool_size = 4").URL
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 3 {
		db, err := open.With(t.Context(), through, open.Options{ListenURL: direct})
		require.NoError(t, err)
		busy.Go(func() {
			for ctx.Err() == nil {
				_, _ = db.ExecContext(ctx, `SELECT 1`)
			}
			_ = db.Close()
		})
	}
	defer busy.Wait()
	defer cancel()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 15 * testkit.Rounds(1) {
				db, err := open.Open(ctx, through)
				if db != nil {
					_ = db.Close()
				}
				assert.ErrorIs(t, err, open.ErrPooler)
			}
		})
	}
	all.Wait()
}

// TestListenURL refuses an address at which no notification arrives: that of a pooler, or
// of another database. That it cannot be reached is another error.
func TestListenURL(t *testing.T) {
	t.Parallel()
	through := testkit.StartPooler(t, testkit.PostgresURL(t), "pool_mode = transaction").URL
	for _, wrong := range []string{through, testkit.PostgresURL(t), "postgres://u@127.0.0.1:1/x"} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			_, err := open.With(t.Context(), through, open.Options{ListenURL: wrong})
			if strings.Contains(wrong, ":1/") {
				require.ErrorContains(t, err, "listening: ")
				require.ErrorIs(t, err, syscall.ECONNREFUSED)
				return
			}
			require.ErrorIs(t, err, open.ErrListener)
		})
	}
}

// TestOptions refuses settings that make no sense.
func TestOptions(t *testing.T) {
	t.Parallel()
	_, err := open.With(t.Context(), testkit.SQLiteURL(t), open.Options{MaxConns: 5})
	require.ErrorContains(t, err, "are for PostgreSQL")
	_, err = open.With(t.Context(), "postgres://x", open.Options{MaxConns: 3})
	require.ErrorContains(t, err, fmt.Sprintf("at least %d", open.MinConns))
	_, err = open.With(t.Context(), "postgres://u@127.0.0.1:1/x", open.Options{ListenURL: "postgres://u:s3cret@%zz"})
	require.EqualError(t, err, "listening: postgres URL is malformed")
}
