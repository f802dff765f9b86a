package quota_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/quota"
)

// world is a service whose clock and counter the test moves.
type world struct {
	*quota.Service
	now   time.Time
	used  atomic.Int64 // what is stored
	reads atomic.Int64
}

func setup(t *testing.T, db *sqlx.DB, limits quota.Limits) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 3, 1, 23, 50, 0, 0, time.UTC)}
	count := func(context.Context, database.Reader, string, time.Time) (int64, error) {
		w.reads.Add(1)
		return w.used.Load(), nil
	}
	var err error
	w.Service, err = quota.New(t.Context(), db, &quota.Options{
		Defaults: limits, Now: func() time.Time { return w.now },
		Used: map[quota.Name]quota.Counter{quota.Messages: count, quota.Contacts: count},
	})
	require.NoError(t, err)
	return w
}

// TestTake takes up to the limit and no more, reads rarely, and begins again at
// midnight.
func TestTake(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		w := setup(t, db, quota.Limits{quota.Messages: 100})
		take := func() error { return w.Take(t.Context(), db, "ana", quota.Messages, 1) }
		w.used.Store(90)
		for range 10 {
			require.NoError(t, take())
		}
		require.EqualValues(t, 1, w.reads.Load(), "one reading for all of them")
		var over *quota.Exceeded
		require.ErrorAs(t, take(), &over)
		require.Equal(t, &quota.Exceeded{Name: quota.Messages, Limit: 100, After: 10 * time.Minute}, over)
		require.Equal(t, "quota.messages", over.Code())
		require.EqualValues(t, 1, w.reads.Load(), "what is refused costs no reading either")

		w.now = w.now.Add(2 * time.Second)
		w.used.Store(99) // one of them was a repeat and stored nothing
		require.NoError(t, take())
		require.Error(t, take())
		require.NoError(t, w.Take(t.Context(), db, "ben", quota.Contacts, 1), "unlimited")
		w.now = w.now.Add(8 * time.Minute)
		w.used.Store(100)
		require.Error(t, take())
		w.now, _ = w.now.Add(2*time.Minute), w.used.Swap(0)
		require.NoError(t, take(), "a new day")
		w.used.Store(100) // another node took the rest
		require.NoError(t, take())
		w.now = w.now.Add(6 * time.Second)
		require.Error(t, take(), "seen after five seconds")
	})
}

// TestOverrides sets limits of an account on one node, which another follows.
func TestOverrides(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		one, two := setup(t, db, quota.Limits{quota.Messages: 1}), setup(t, db, quota.Limits{quota.Messages: 1})
		require.NoError(t, two.Take(t.Context(), db, "ana", quota.Messages, 1))
		require.Error(t, two.Take(t.Context(), db, "ana", quota.Messages, 1))
		require.NoError(t, one.Set(t.Context(), "ana", quota.Limits{quota.Messages: 3, quota.API: 2}))
		require.Error(t, one.Set(t.Context(), "ana", quota.Limits{"spoons": 3}))
		require.Error(t, two.Take(t.Context(), db, "ana", quota.Messages, 1), "not yet")
		two.now = two.now.Add(6 * time.Second)
		two.used.Store(1)
		for range 2 {
			require.NoError(t, two.Take(t.Context(), db, "ana", quota.Messages, 1))
			require.NoError(t, two.Request(t.Context(), "ana"))
		}
		require.Error(t, two.Take(t.Context(), db, "ana", quota.Messages, 1))
		var over *quota.Exceeded
		require.ErrorAs(t, two.Request(t.Context(), "ana"), &over)
		require.Equal(t, time.Minute, over.After)
		two.now = two.now.Add(time.Minute)
		require.NoError(t, two.Request(t.Context(), "ana"))

		states, err := two.States(t.Context(), "ana")
		require.NoError(t, err)
		require.Equal(t, quota.State{Limit: 2, Used: 1, ResetsAt: two.now.Add(time.Minute)}, states[quota.API])
		require.Equal(t, quota.State{Limit: 3, Used: 1, ResetsAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}, states[quota.Messages])
		require.NoError(t, one.Set(t.Context(), "ana", quota.Limits{quota.Messages: -1}))
		own, err := one.Overrides(t.Context(), "ana")
		require.NoError(t, err)
		require.Equal(t, quota.Limits{quota.API: 2}, own)
		require.NoError(t, one.Forget(t.Context(), "ana"))
		own, err = one.Overrides(t.Context(), "ana")
		require.NoError(t, err)
		require.Empty(t, own)
	})
}

// TestLastOne lets many transactions on two nodes have the last one at once.
func TestLastOne(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE thing (n BIGINT NOT NULL)`)
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		count := func(ctx context.Context, q database.Reader, _ string, _ time.Time) (n int64, err error) {
			return n, q.GetContext(ctx, &n, `SELECT count(*) FROM thing`)
		}
		var g errgroup.Group
		var made, refused atomic.Int64
		for range 2 {
			q, err := quota.New(t.Context(), db, &quota.Options{Defaults: quota.Limits{quota.References: 3}, Used: map[quota.Name]quota.Counter{quota.References: count}})
			require.NoError(t, err)
			for i := range 6 {
				g.Go(func() error {
					err := d.InTx(t.Context(), func(tx *database.Tx) error {
						if err := q.TakeTx(t.Context(), tx, "ana", quota.References, 1); err != nil {
							return err
						}
						_, err := tx.ExecContext(t.Context(), `INSERT INTO thing (n) VALUES ($1)`, i)
						return err
					})
					var over *quota.Exceeded
					if err == nil {
						made.Add(1)
						return nil
					}
					require.ErrorAs(t, err, &over)
					refused.Add(1)
					return nil
				})
			}
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 3, made.Load())
		require.EqualValues(t, 9, refused.Load())
	})
}
