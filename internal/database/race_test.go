package database_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
)

func TestAgain(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost a race")
	isLost := func(err error) bool { return errors.Is(err, lost) }
	synctest.Test(t, func(t *testing.T) {
		tries, start := 0, time.Now()
		again := func(ctx context.Context, failures int, err error) error {
			tries, start = 0, time.Now()
			return database.Again(ctx, isLost, func() error {
				if tries++; tries <= failures {
					return err
				}
				return nil
			})
		}
		require.NoError(t, again(t.Context(), 0, nil))
		require.Equal(t, 1, tries)

		require.NoError(t, again(t.Context(), 1, lost))
		require.Equal(t, 2, tries)
		require.Zero(t, time.Since(start), "the second try is at once")

		require.NoError(t, again(t.Context(), 19, lost))
		require.Equal(t, 20, tries)
		require.NotZero(t, time.Since(start), "those who race are parted")
		require.Less(t, time.Since(start), time.Second)

		require.ErrorIs(t, again(t.Context(), 20, lost), lost)
		require.Equal(t, 20, tries)

		other := errors.New("another")
		require.ErrorIs(t, again(t.Context(), 5, other), other)
		require.Equal(t, 1, tries)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, again(ctx, 5, lost), lost)
		require.Equal(t, 1, tries)

		ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		require.ErrorIs(t, again(ctx, 20, lost), lost)
		require.Less(t, tries, 20, "a pause ends with its context")
	})
}
