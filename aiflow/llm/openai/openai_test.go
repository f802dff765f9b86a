package openai_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/modeltest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
)

// start makes a model on a fake server.
func start(t *testing.T, limit time.Duration, steps ...llmtest.Step) (*openai.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.NewServer(steps...)
	t.Cleanup(server.Close)
	server.RequireKey("the key")
	m, err := openai.New(&openai.Options{BaseURL: server.OpenAI(), Key: "the key", Timeout: limit})
	require.NoError(t, err)
	return m, server
}

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Suite{
		Provider: "openai", HTTP: true,
		Start: func(t *testing.T, limit time.Duration, steps ...llmtest.Step) (llm.Model, modeltest.Script) {
			return start(t, limit, steps...)
		},
		Files: []llm.Part{
			{MediaType: "image/jpeg", Data: []byte{0xff, 0xd8}},
			{MediaType: "image/webp", Data: []byte("RIFF")},
			{MediaType: "audio/wav", Data: []byte("RIFF")},
			{MediaType: "audio/mpeg", Data: []byte("ID3")},
			{MediaType: "application/pdf", Data: []byte("%PDF"), Name: "bill.pdf"},
		},
		NoFiles: []llm.Part{{MediaType: "audio/ogg", Data: []byte("OggS")}, {MediaType: "video/mp4"}},
	}.Run(t)
}
