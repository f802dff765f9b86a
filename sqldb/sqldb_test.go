package sqldb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/sqldb"
)

func TestMustOpen(t *testing.T) {
	t.Parallel()
	db := sqldb.MustOpen(t.Context(), "sqlite://:memory:")
	require.NoError(t, db.Close())
	require.PanicsWithValue(t, "sqldb: database URL must begin with sqlite:// or postgres://", func() {
		sqldb.MustOpen(t.Context(), "shop.db")
	})
}
