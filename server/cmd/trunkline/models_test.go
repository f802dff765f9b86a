package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// TestModelServers starts a server with both providers, and one with none.
func TestModelServers(t *testing.T) {
	t.Parallel()
	provider := llmtest.NewServer()
	t.Cleanup(provider.Close)
	provider.RequireKey("the key")
	base, token := agents(t, "--openai-url", provider.OpenAI(), "--openai-key", "the key", "--anthropic-url", provider.Anthropic(), "--anthropic-key", "another")
	status, got := get(t, base+"/aiflow/model", token)
	require.Equal(t, 200, status)
	require.Contains(t, got["items"], map[string]any{"id": "openai/model-1", "provider": "openai", "name": "model-1", "title": ""})
	require.Contains(t, got["providers"], map[string]any{
		"name": "anthropic", "error": map[string]any{"code": "llm.forbidden", "message": "the provider refuses the key, or what it may use (401, authentication_error)"},
	})

	base, token = agents(t)
	_, got = get(t, base+"/aiflow/model", token)
	require.Len(t, got["providers"], 1, "the mock alone")
}
