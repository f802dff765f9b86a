package anthropic_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/modeltest"
)

// start makes a model on a fake server.
func start(t *testing.T, limit time.Duration, steps ...llmtest.Step) (*anthropic.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.NewServer(steps...)
	t.Cleanup(server.Close)
	server.RequireKey("the key")
	m, err := anthropic.New(&anthropic.Options{BaseURL: server.Anthropic(), Key: "the key", Timeout: limit})
	require.NoError(t, err)
	return m, server
}

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Suite{
		Provider: "anthropic", HTTP: true, OneHourCache: true,
		Start: func(t *testing.T, limit time.Duration, steps ...llmtest.Step) (llm.Model, modeltest.Script) {
			return start(t, limit, steps...)
		},
		Files: []llm.Part{
			{MediaType: "image/jpeg", Data: []byte{0xff, 0xd8}},
			{MediaType: "image/gif", Data: []byte("GIF")},
			{MediaType: "application/pdf", Data: []byte("%PDF"), Name: "bill.pdf"},
		},
		NoFiles: []llm.Part{{MediaType: "audio/wav", Data: []byte("RIFF")}, {MediaType: "video/mp4"}},
	}.Run(t)
}
