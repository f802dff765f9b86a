package database_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
)

// inMemory opens a database for a test in a bubble.
func inMemory(t *testing.T) *database.DB {
	t.Helper()
	db, err := open.Open(t.Context(), "sqlite://:memory:")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	return d
}

// TestForRequest_Waits has a writer who does not end: a request that writes gives up
// after five seconds, and who is no request waits. SQLite has one writer at a time.
func TestForRequest_Waits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := inMemory(t)
		release := make(chan struct{})
		go func() {
			_ = d.Alone(context.Background(), func() error {
				<-release
				return nil
			})
		}()
		synctest.Wait()
		for name, write := range map[string]func(context.Context, func(*database.Tx) error) error{"InTx": d.InTx, "Write": d.Write, "WriteLazy": d.WriteLazy} {
			began := time.Now()
			err := write(database.ForRequest(t.Context()), func(*database.Tx) error { return nil })
			require.ErrorIs(t, err, database.ErrUnwritable, name)
			require.EqualError(t, err, "database: the store cannot be written: it took no transaction within 5 seconds", name)
			require.Equal(t, 5*time.Second, time.Since(began), name)
			ctx, cancel := context.WithTimeout(database.ForRequest(t.Context()), time.Second)
			err = write(ctx, func(*database.Tx) error { return nil })
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.NotErrorIs(t, err, database.ErrUnwritable, "the caller has left")
		}
		began := time.Now()
		time.AfterFunc(time.Hour, func() { close(release) })
		require.NoError(t, d.Write(database.Chore(database.ForRequest(t.Context())), func(*database.Tx) error { return nil }))
		require.Equal(t, time.Hour, time.Since(began))
	})
}

// TestForRequest_Sheds has as many requests that wait as may: another fails at once.
func TestForRequest_Sheds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := inMemory(t)
		ctx, done := context.WithCancel(database.ForRequest(t.Context()))
		defer done()
		for range 2000 {
			go d.Wait(ctx, func(ctx context.Context) error { //nolint:errcheck // it only waits
				<-ctx.Done()
				return nil
			})
		}
		synctest.Wait()
		began := time.Now()
		err := d.InTx(ctx, func(*database.Tx) error { return nil })
		require.ErrorIs(t, err, database.ErrUnwritable)
		require.ErrorContains(t, err, "too many requests wait")
		require.Zero(t, time.Since(began))
		require.NoError(t, d.InTx(t.Context(), func(*database.Tx) error { return nil }), "a worker")
		done()
		synctest.Wait()
		require.NoError(t, d.InTx(database.ForRequest(t.Context()), func(*database.Tx) error { return nil }))
	})
}
