package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/job"
)

type fixture struct {
	*job.Service
	db  *database.DB
	now time.Time
}

func setup(t *testing.T, db *sqlx.DB, do job.Do) *fixture {
	t.Helper()
	f := &fixture{now: time.Now()}
	var err error
	f.Service, err = job.Open(t.Context(), db, &job.Options{
		Kinds: map[string]job.Do{"chat": do}, Now: func() time.Time { return f.now }, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	f.db, err = database.Of(t.Context(), db)
	require.NoError(t, err)
	return f
}

func (f *fixture) add(t *testing.T) job.Job {
	t.Helper()
	var j job.Job
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) (err error) {
		j, err = f.AddTx(t.Context(), tx, job.New{Account: "acme", Kind: "chat", Reference: 7, Args: []string{"ana"}})
		return err
	}))
	return j
}

func eachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

// TestJob fails, is tried again when its wait is over, and ends.
func TestJob(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var tries int
		f := setup(t, db, func(_ context.Context, j job.Job) error {
			require.JSONEq(t, `["ana"]`, string(j.Args))
			switch tries++; tries {
			case 1:
				return errors.New("not now")
			case 2:
				panic("worse")
			}
			return nil
		})
		more, err := f.Step(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		j := f.add(t)
		for _, wait := range []time.Duration{time.Second, 2 * time.Second} {
			_, err = f.Step(t.Context())
			require.Error(t, err)
			more, err = f.Step(t.Context())
			require.NoError(t, err)
			require.False(t, more, "it waits")
			f.now = f.now.Add(wait)
		}
		got, err := f.Job(t.Context(), "acme", j.ID)
		require.NoError(t, err)
		require.True(t, got.EndedAt.IsZero())
		more, err = f.Step(t.Context())
		require.NoError(t, err)
		require.True(t, more)
		got, err = f.Job(t.Context(), "acme", j.ID)
		require.NoError(t, err)
		require.Equal(t, f.now.UnixMicro(), got.EndedAt.UnixMicro())
		require.EqualValues(t, 7, got.Reference)
		require.Empty(t, testkit.Holding(t, db, "ana"), "who was deleted is named no longer")
		for _, who := range []string{"other", ""} {
			_, err = f.Job(t.Context(), who, j.ID)
			require.ErrorIs(t, err, job.ErrNotFound)
		}
		_, err = f.Job(t.Context(), "acme", "no\x00id")
		require.ErrorIs(t, err, job.ErrNotFound)

		f.now = f.now.Add(31 * 24 * time.Hour)
		require.NoError(t, f.Prune(t.Context()))
		_, err = f.Job(t.Context(), "acme", j.ID)
		require.ErrorIs(t, err, job.ErrNotFound)
	})
}

// TestNodes: two nodes do each job once, and one takes over what the other has
// left.
func TestNodes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var done atomic.Int64
		dead := make(chan struct{})
		killed := setup(t, db, func(ctx context.Context, _ job.Job) error {
			close(dead)
			<-ctx.Done()
			return ctx.Err()
		})
		j := killed.add(t)
		ctx, kill := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return killed.Run(ctx) })
		<-dead
		other := setup(t, db, func(context.Context, job.Job) error {
			done.Add(1)
			return nil
		})
		more, err := other.Step(t.Context())
		require.NoError(t, err)
		require.False(t, more, "the first one has it")
		other.now = other.now.Add(10 * time.Second) // its lease has expired
		more, err = other.Step(t.Context())
		require.NoError(t, err)
		require.True(t, more)
		kill()
		require.NoError(t, g.Wait())
		got, err := other.Job(t.Context(), "acme", j.ID)
		require.NoError(t, err)
		require.False(t, got.EndedAt.IsZero())

		for range 20 {
			other.add(t)
		}
		for range 3 {
			g.Go(func() error {
				for {
					more, err := other.Step(t.Context())
					if !more || err != nil {
						return err
					}
				}
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, 21, done.Load())
	})
}

// TestRun is woken by a commit.
func TestRun(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		done := make(chan struct{})
		f := setup(t, db, func(context.Context, job.Job) error {
			close(done)
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return f.Run(ctx) })
		f.add(t)
		<-done
		stop()
		require.NoError(t, g.Wait())
		require.NoError(t, f.Forget(t.Context(), "acme"))
		require.Empty(t, testkit.Holding(t, db, "acme"))
	})
}
