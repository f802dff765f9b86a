package remote_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// memory returns a database for a client that lives only for one call.
func memory(ctx context.Context) (*sqlx.DB, func(), error) {
	dir, err := os.MkdirTemp("", "trunkline-remote-")
	if err != nil {
		return nil, nil, err
	}
	db, err := open.Open(ctx, "sqlite://"+dir+"/client.db")
	if err != nil {
		return nil, nil, err
	}
	return db, func() { _ = db.Close(); _ = os.RemoveAll(dir) }, remote.Migrate(ctx, db)
}

// TestConformance runs the official suite against the client, with the scenarios
// that only require a client to use a server's features.
func TestConformance(t *testing.T) {
	t.Parallel()
	for scenario, revisions := range map[string][]string{
		"initialize":                    {"2025-11-25"},
		"tools_call":                    {"2025-11-25", "2026-07-28"},
		"sse-retry":                     {"2025-11-25"},
		"request-metadata":              {"2026-07-28"},
		"sep-2322-client-request-state": {"2026-07-28"},
		"http-standard-headers":         {"2026-07-28"},
		"http-invalid-tool-headers":     {"2026-07-28"},
		"json-schema-ref-no-deref":      {"2025-11-25", "2026-07-28"},
	} {
		for _, revision := range revisions {
			t.Run(fmt.Sprint(scenario, " ", revision), func(t *testing.T) {
				t.Parallel()
				testkit.MCPClientConformance(t, []string{os.Args[0]}, scenario, revision, asProgram+"=client")
			})
		}
	}
}
