package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// agents starts a server with one user and returns its address and his token.
func agents(t *testing.T, args ...string) (base, token string) {
	t.Helper()
	_, base = start(t, nil, append([]string{"--data", t.TempDir()}, args...)...)
	status, session := post(t, base+"/user/signup", account)
	require.Equal(t, 201, status)
	return base, session["token"].(string)
}

// TestMCPConformance has the official suite judge a server as it is started,
// behind its authentication. What needs tools that no server has is named in
// the baselines; package mcp/protocol runs those.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	base, token := agents(t)
	address := testkit.BearerProxy(t, base, token) + "/mcp"
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			testkit.MCPConformance(t, address, revision, "testdata/conformance-"+revision+".yml")
		})
	}
}
