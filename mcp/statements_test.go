package mcp_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
)

// TestStatements counts what a call asks of the database.
func TestStatements(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, n := testkit.Counting(t, db)
		lazy := int64(0)
		if db.DriverName() == "sqlite" {
			lazy = 1 // a pragma, that the commit need not be waited for
		}
		for name, c := range map[string]struct {
			options                  mcp.Options
			statements, transactions int64
		}{
			"nothing":   {mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true}, 0, 0},
			"limits":    {mcp.Options{NoAudit: true}, 2 + lazy, 1},
			"audit":     {mcp.Options{Limit: -1, AccountLimit: -1}, 1, 1},
			"all of it": {mcp.Options{}, 3 + lazy, 2},
		} {
			r := setup(t, seen, c.options)
			ping(t, r, "ping")
			statements, transactions := n.Statements.Load(), n.Transactions.Load()
			const calls = 10
			for range calls {
				require.True(t, call(t, r, ana, "ping", "").Success)
			}
			require.Equal(t, calls*c.statements, n.Statements.Load()-statements, name)
			require.Equal(t, calls*c.transactions, n.Transactions.Load()-transactions, name)
		}
	})
}
