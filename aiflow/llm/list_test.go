package llm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
)

// unlisted is a provider that refuses to say what it has.
type unlisted struct{ llm.Model }

func (unlisted) List(context.Context) ([]llm.Offer, error) {
	return nil, &llm.Error{Code: llm.CodeForbidden, Message: "the key is wrong"}
}

func TestList(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript()
	m, err := llm.NewModels(map[string]llm.Model{"z-script": script, "mock": mock.New(), "closed": unlisted{script}})
	require.NoError(t, err)
	offers := m.List(t.Context())
	require.Len(t, offers, 3)
	require.Equal(t, "closed", offers[0].Provider)
	require.EqualError(t, offers[0].Err, "llm.forbidden: the key is wrong")
	require.Equal(t, "mock", offers[1].Provider)
	require.Equal(t, "assistant", offers[1].Items[0].Name)
	require.Equal(t, llm.Offers{Provider: "z-script"}, offers[2])
	require.Empty(t, (*llm.Models)(nil).List(t.Context()))
}

func TestFind(t *testing.T) {
	t.Parallel()
	m, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
	require.NoError(t, err)
	model, name, err := m.Find("mock/a/b")
	require.NoError(t, err)
	require.NotNil(t, model)
	require.Equal(t, "a/b", name)
	for _, ref := range []string{"", "mock", "mock/", "/echo", "other/echo"} {
		_, _, err := m.Find(ref)
		var e *llm.Error
		require.ErrorAs(t, err, &e, ref)
		require.Equal(t, llm.CodeNoModel, e.Code)
	}
	for name, model := range map[string]llm.Model{"": mock.New(), "Open": mock.New(), "a/b": mock.New(), "nil": nil} {
		_, err := llm.NewModels(map[string]llm.Model{name: model})
		require.Error(t, err, name)
	}
}
