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

// TestObserverPanics has an observer panic after a commit: the caller sees it, and
// those after it write.
func TestObserverPanics(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		nothing := func(*database.Tx) error { return nil }
		for name, write := range map[string]func(context.Context, func(*database.Tx) error) error{"Write": d.Write, "InTx": d.InTx} {
			require.NoError(t, database.Observe(t.Context(), db, func(int64) { panic("observer") }))
			require.PanicsWithValue(t, "observer", func() { _ = write(t.Context(), nothing) }, name)
			require.NoError(t, database.Observe(t.Context(), db, nil))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			require.NoError(t, d.Write(ctx, nothing), name)
			require.NoError(t, d.InTx(ctx, nothing), name)
		}
	})
}
