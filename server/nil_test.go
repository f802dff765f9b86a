package server_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
)

// TestNil passes nil where there must be a value: the error names the place.
func TestNil(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		secrets := []server.Secret{"a secret of tests that is long enough"}
		for names, cfg := range map[string]server.Config{
			"Config.DB is required":      {Secrets: secrets},
			"*sqlx.DB is nil":            {Secrets: secrets, DB: &sqlx.DB{}},
			"Config.Secrets":             {DB: db},
			"Config.Providers[0] is nil": {DB: db, Secrets: secrets, Providers: []provider.Provider{nil}},
			"the model of mine is nil":   {DB: db, Secrets: secrets, Models: map[string]llm.Model{"mine": nil}},
		} {
			_, err := server.New(t.Context(), cfg)
			require.ErrorContains(t, err, names)
			require.ErrorContains(t, err, "server: ")
		}
	})
}
