package server_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// seller is a provider that lists what it was given, or does not.
type seller struct {
	*llmtest.Script
	offers []llm.Offer
	err    error
}

func (s seller) List(context.Context) ([]llm.Offer, error) { return s.offers, s.err }

func TestModels(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) {
		c.Models = map[string]llm.Model{
			"own":    seller{offers: []llm.Offer{{Name: "small", Title: "Small one"}, {Name: "big/2"}}},
			"closed": seller{err: &llm.Error{Code: llm.CodeForbidden, Message: "the key is wrong", Status: 401}},
			"odd":    seller{err: errors.New("dialling 10.1.2.3 with key sk-secret")},
			"slow":   seller{err: context.DeadlineExceeded},
			"silent": llmtest.NewScript(),
		}
	})
	got := f.as(t, "ana").call(t, "GET", "/aiflow/model", "").json(200)
	require.Equal(t, []any{
		map[string]any{"id": "mock/assistant", "provider": "mock", "name": "assistant", "title": "Assistant of rules"},
		map[string]any{"id": "mock/echo", "provider": "mock", "name": "echo", "title": "Echo"},
		map[string]any{"id": "own/small", "provider": "own", "name": "small", "title": "Small one"},
		map[string]any{"id": "own/big/2", "provider": "own", "name": "big/2", "title": ""},
	}, got["items"])
	failed := func(name, code, message string) any {
		return map[string]any{"name": name, "error": map[string]any{"code": code, "message": message}}
	}
	listed := func(name string) any { return map[string]any{"name": name, "error": nil} }
	require.Equal(t, []any{
		failed("closed", "llm.forbidden", "the key is wrong"), listed("mock"), failed("odd", "llm.unavailable", "the provider cannot be asked"),
		listed("own"), listed("silent"), failed("slow", "llm.timeout", "the provider did not answer in time"),
	}, got["providers"])
}

func TestModelsNeedNames(t *testing.T) {
	t.Parallel()
	_, err := server.New(t.Context(), server.Config{
		DB: testkit.Open(t, testkit.SQLiteURL(t)), Secrets: []server.Secret{secret},
		Models: map[string]llm.Model{"No/Name": llmtest.NewScript()},
	})
	require.ErrorContains(t, err, "Config.Models")
}
