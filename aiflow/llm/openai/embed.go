package openai

import (
	"context"

	"github.com/openai/openai-go/v3"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// Embed computes embeddings of texts.
//
// Source: https://platform.openai.com/docs/api-reference/embeddings
func (m *Model) Embed(ctx context.Context, model string, texts []string) (*llm.Embeddings, error) {
	call := wire.Call{Provider: m.provider, Model: model}
	if len(texts) == 0 {
		return nil, call.Refuse("there is no text")
	}
	inner, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	said, err := m.embeddings.New(inner, openai.EmbeddingNewParams{
		Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}, EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
	})
	if err != nil {
		return nil, call.Failure(ctx, err)
	}
	out := &llm.Embeddings{Vectors: make([][]float32, len(texts)), Provider: m.provider, Model: or(said.Model, model)}
	if said.JSON.Usage.Valid() {
		out.Usage = llm.Usage{Known: true, Input: max(0, said.Usage.PromptTokens)}
	}
	call.Usage = out.Usage
	if len(said.Data) != len(texts) {
		return nil, call.Malformed("it has not one vector for each text")
	}
	for _, e := range said.Data {
		if e.Index < 0 || e.Index >= int64(len(texts)) || out.Vectors[e.Index] != nil || len(e.Embedding) == 0 || len(e.Embedding) != len(said.Data[0].Embedding) {
			return nil, call.Malformed("its vectors do not fit the texts")
		}
		v := make([]float32, len(e.Embedding))
		for i, x := range e.Embedding {
			v[i] = float32(x)
		}
		out.Vectors[e.Index] = v
	}
	return out, nil
}
