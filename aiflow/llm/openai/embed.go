package openai

import (
	"cmp"
	"context"

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
	var said embeddingList
	if err := m.server.Post(inner, "embeddings", embeddingRequest{Model: model, Input: texts, EncodingFormat: "float"}, &said); err != nil {
		return nil, call.Failure(ctx, err)
	}
	out := &llm.Embeddings{Vectors: make([][]float32, len(texts)), Provider: m.provider, Model: cmp.Or(string(said.Model), model)}
	if u := usageOf(said.Usage); u.Known {
		out.Usage = llm.Usage{Known: true, Input: u.Input}
	}
	call.Usage = out.Usage
	if len(said.Data) != len(texts) {
		return nil, call.Malformed("it has not one vector for each text")
	}
	for _, e := range said.Data {
		if e.Index < 0 || e.Index >= wire.Number(len(texts)) || out.Vectors[e.Index] != nil || len(e.Embedding) == 0 || len(e.Embedding) != len(said.Data[0].Embedding) {
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
