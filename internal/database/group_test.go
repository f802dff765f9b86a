package database_test

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// gather starts writes while the gate is held, so that they share a commit.
func gather(t *testing.T, d *database.DB, start ...func()) {
	t.Helper()
	var wg sync.WaitGroup
	require.NoError(t, d.InTx(t.Context(), func(*database.Tx) error {
		started := make(chan struct{})
		for _, fn := range start {
			wg.Go(func() {
				started <- struct{}{}
				fn()
			})
			<-started
		}
		if d.Dialect == database.SQLite {
			queued(t, len(start))
		}
		return nil
	}))
	wg.Wait()
}

// queued waits until so many goroutines of the test wait for the gate.
func queued(t *testing.T, n int) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	all := make([]byte, 8<<20)
	require.Eventually(t, func() bool {
		waiting := 0
		for stack := range bytes.SplitSeq(all[:runtime.Stack(all, true)], []byte("\n\n")) {
			if bytes.Contains(stack, []byte("groupcommit.(*Group")) && bytes.Contains(stack, []byte("."+name+".")) {
				waiting++
			}
		}
		return waiting >= n
	}, 40*time.Second, time.Millisecond)
}

// TestWriteGroups starts many writes while another commits.
func TestWriteGroups(t *testing.T) {
	t.Parallel()
	d := setupURL(t, testkit.SQLiteURL(t))
	const n = 100
	var commits atomic.Int64
	require.NoError(t, database.Observe(t.Context(), d.DB, func(int64) { commits.Add(1) }))
	writes := make([]func(), n)
	for i := range n {
		writes[i] = func() {
			if err := d.Write(t.Context(), insert(t.Context(), i)); err != nil {
				t.Error(err)
			}
		}
	}
	gather(t, d, writes...)
	require.Len(t, numbers(t, d), n)
	require.Less(t, commits.Load(), int64(n/5), "commits are shared")
}

func TestWriteFailsAlone(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ctx := t.Context()
		var failed, twice, panicked error
		gather(t, d,
			func() { _ = d.Write(ctx, insert(ctx, 1)) },
			func() {
				failed = d.Write(ctx, func(tx *database.Tx) error {
					if err := insert(ctx, 2)(tx); err != nil {
						return err
					}
					return errTest
				})
			},
			func() {
				twice = d.Write(ctx, func(tx *database.Tx) error {
					if err := insert(ctx, 3)(tx); err != nil {
						return err
					}
					return insert(ctx, 3)(tx)
				})
			},
			func() {
				defer func() {
					if v := recover(); v != nil {
						panicked = errTest
					}
				}()
				_ = d.Write(ctx, func(tx *database.Tx) error {
					if err := insert(ctx, 4)(tx); err != nil {
						return err
					}
					panic("test")
				})
			},
			func() { _ = d.Write(ctx, insert(ctx, 5)) },
		)
		require.ErrorIs(t, failed, errTest)
		require.True(t, database.IsUnique(twice))
		require.ErrorIs(t, panicked, errTest)
		require.Equal(t, []int{1, 5}, numbers(t, d))
		require.NoError(t, d.Write(ctx, insert(ctx, 6)), "the gate is free again")
	})
}

func TestWriteCancelled(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, d.Write(ctx, insert(t.Context(), 1)), context.Canceled)
		require.Empty(t, numbers(t, d))
	})
}

// TestWriteCancelledWaiting ends the context of a write that waits for the gate.
func TestWriteCancelledWaiting(t *testing.T) {
	t.Parallel()
	d := setupURL(t, testkit.SQLiteURL(t))
	require.NoError(t, d.InTx(t.Context(), func(*database.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, d.Write(ctx, insert(t.Context(), 1)), context.DeadlineExceeded)
		return nil
	}))
	require.NoError(t, d.Write(t.Context(), insert(t.Context(), 2)))
	require.Equal(t, []int{2}, numbers(t, d))
}

// TestWriteCancelledDuring ends the context of one write of a group, first
// outside of a statement and then within, where SQLite undoes everything.
func TestWriteCancelledDuring(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, cancel func(), tx *database.Tx) error{
		"between statements": func(ctx context.Context, cancel func(), tx *database.Tx) error {
			cancel()
			return insert(ctx, 102)(tx)
		},
		"within a statement": func(ctx context.Context, cancel func(), tx *database.Tx) error {
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err := tx.ExecContext(ctx, slow)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := setupURL(t, testkit.SQLiteURL(t))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			errs := make([]error, 5)
			var writes []func()
			want := []int{}
			for i := range errs {
				fn := insert(t.Context(), i)
				if i == 2 {
					fn = func(tx *database.Tx) error {
						if err := insert(ctx, 101)(tx); err != nil {
							return err
						}
						return end(ctx, cancel, tx)
					}
				} else {
					want = append(want, i)
				}
				writes = append(writes, func() { errs[i] = d.Write(t.Context(), fn) })
			}
			gather(t, d, writes...)
			for i, err := range errs {
				if i == 2 {
					require.ErrorIs(t, err, context.Canceled)
				} else {
					require.NoError(t, err)
				}
			}
			require.Equal(t, want, numbers(t, d))
		})
	}
}

// TestWriteLeaderCancelled ends the context of the caller that runs a group.
func TestWriteLeaderCancelled(t *testing.T) {
	t.Parallel()
	d := setupURL(t, testkit.SQLiteURL(t))
	const n = 20
	ctxs, cancels := make([]context.Context, n), make([]func(), n)
	errs := make([]error, n)
	var writes []func()
	for i := range n {
		ctxs[i], cancels[i] = context.WithCancel(t.Context())
		writes = append(writes, func() {
			errs[i] = d.Write(ctxs[i], func(tx *database.Tx) error {
				for _, cancel := range cancels { // one of them runs the group
					cancel()
				}
				return insert(t.Context(), i)(tx)
			})
		})
	}
	gather(t, d, writes...)
	written := 0
	for _, err := range errs {
		if err == nil {
			written++
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Positive(t, written)
	require.Len(t, numbers(t, d), written, "an error means that nothing was written")
}
