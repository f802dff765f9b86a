package database_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestFailed(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		_, err := db.ExecContext(t.Context(), `SELECT nothing FROM nowhere`)
		require.True(t, database.Failed(fmt.Errorf("reading: %w", err)))
		require.False(t, database.Failed(errors.New("a message that cannot be read")))
		require.NoError(t, db.Close())
		require.Error(t, db.PingContext(t.Context()))
	})
}
