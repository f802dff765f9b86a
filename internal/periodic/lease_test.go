package periodic_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/periodic"
)

func TestLeased_Renews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		renewed := 0
		err := periodic.Leased(t.Context(), 9*time.Second, func(context.Context) error { renewed++; return nil }, func(ctx context.Context) error {
			select {
			case <-time.After(10 * time.Second):
				return errors.New("half done")
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		require.EqualError(t, err, "half done")
		require.Equal(t, 3, renewed)
	})
}

func TestLeased_EndsWithoutLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("another node has it")
		err := periodic.Leased(t.Context(), 9*time.Second, func(context.Context) error { return gone }, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, gone)
	})
}

func TestLeased_Panics(t *testing.T) {
	t.Parallel()
	err := periodic.Leased(t.Context(), time.Hour, func(context.Context) error { return nil }, func(context.Context) error { panic("hidden words") })
	require.ErrorContains(t, err, "panic: hidden words")
}
