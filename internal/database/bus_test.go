package database_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func of(t *testing.T, url string) *database.DB {
	t.Helper()
	d, err := database.Of(t.Context(), testkit.Open(t, url))
	require.NoError(t, err)
	return d
}

func woken(t *testing.T, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(40 * time.Second):
		require.FailNow(t, "no wake-up")
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		again, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		a, b := d.Listen(ctx, "a"), d.Listen(ctx, "b")
		if d.Dialect == database.Postgres { // what listening itself tells
			woken(t, a)
			woken(t, b)
		}
		again.Notify("a") // another Of of the same handle
		again.Notify("a") // folded, never blocked
		woken(t, a)
		require.Empty(t, b)
		cancel()
		require.Eventually(t, func() bool {
			select {
			case <-a:
			default:
			}
			d.Notify("a")
			return len(a) == 0
		}, 40*time.Second, time.Millisecond, "nobody listens any more")
	})
}

// seen notifies topic from one node until the other receives it.
func seen(t *testing.T, from *database.DB, topic string, ch <-chan struct{}) {
	t.Helper()
	require.Eventually(t, func() bool {
		from.Notify(topic)
		select {
		case <-ch:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}, 40*time.Second, time.Millisecond)
}

// TestNotifyOtherNode wakes another handle on the same server, also after a
// subscription ended and began again, and after the connection was lost.
func TestNotifyOtherNode(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	here, there := of(t, url), of(t, url)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		a, b := there.Listen(ctx, "a"), there.Listen(ctx, "b")
		seen(t, here, "a", a)
		seen(t, here, "b", b)
		here.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'`)
		woken(t, b) // something may have been missed
		seen(t, here, "a", a)
		cancel()
	}
}
