package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestReadme runs the lines of the README at another address: the function is
// called over REST, and by a client of the Model Context Protocol.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, addr := testkit.ReadExample(t), testkit.FreeAddress(t)
	sh := testkit.NewShell(t)
	sh.Run(t, readme.Block(t, "start", "/ownfunction ", "/ownfunction -addr "+addr+" "))
	testkit.AwaitListener(t, addr)
	out := sh.Run(t, readme.Block(t, "price", "curl ", "curl -sS ", "localhost:4000", addr))
	var answer struct {
		Success bool
		Result  price
	}
	require.NoError(t, json.Unmarshal([]byte(strings.Join(out, "")), &answer))
	require.True(t, answer.Success)
	require.Equal(t, price{2700, "EUR"}, answer.Result)

	token := sh.Run(t, "cat token\n")
	client := sdk.NewClient(&sdk.Implementation{Name: "an-agent", Version: "1.0.0"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + addr + "/mcp", HTTPClient: &http.Client{Transport: bearer(token[0])},
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 13, "the twelve, and ours")
	for name, want := range map[string]string{"jug": `{"cents":3500,"currency":"EUR"}`, "hat": ""} {
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "price", Arguments: map[string]any{"item": name}})
		require.NoError(t, err)
		require.Equal(t, want == "", got.IsError)
		if want == "" {
			require.Contains(t, got.Content[0].(*sdk.TextContent).Text, "the shop has no hat")
			continue
		}
		made, err := json.Marshal(got.StructuredContent)
		require.NoError(t, err)
		require.JSONEq(t, want, string(made))
	}
}
