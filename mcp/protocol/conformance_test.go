package protocol_test

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// TestConformance runs the official suite against a server with everything that its
// scenarios call, including authentication and the registry.
func TestConformance(t *testing.T) {
	t.Parallel()
	for revision, baseline := range map[string]string{
		"2026-07-28": "",
		"2025-11-25": "testdata/conformance-2025-11-25.yml",
	} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			r := registry(t, &mcp.Options{Limit: -1, AccountLimit: -1})
			registerFixtures(t, r)
			address := serve(t, r, protocol.Options{
				Extend: extendFixtures,
				Server: &sdk.ServerOptions{
					CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
						return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
					},
					SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
					UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
				},
			})
			testkit.MCPConformance(t, testkit.BearerProxy(t, address, everything)+protocol.Path, revision, baseline)
		})
	}
}
