package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
	"github.com/trunklinehq/trunkline/server/internal/billed"
)

// DefaultModel returns a function that names the model to ask where a flow names
// none: the configured one, or the mock model if no others are configured.
func DefaultModel(configured string, others int) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if configured != "" {
			return configured, nil
		}
		if others == 0 {
			return flows.MockModels + "/assistant", nil
		}
		return "", &llm.Error{Code: llm.CodeNoModel, Message: "is required: the server has no default model for this"}
	}
}

// NewEmbedder returns a function with which the files of projects are searched by
// their meaning. ref names the model, as "provider/model"; "": there is none, and
// the function is nil. Calls are in the ledger.
func NewEmbedder(models *llm.Models, ledger *usage.Ledger, ref string) (func(context.Context, knowledge.Texts) ([][]float32, error), error) {
	if ref == "" {
		return nil, nil
	}
	m, name, err := models.Find(ref)
	if err != nil {
		return nil, fmt.Errorf("Config.EmbeddingModel: %w", err)
	}
	e, is := m.(llm.Embedder)
	if !is {
		return nil, fmt.Errorf("Config.EmbeddingModel: %s has no embeddings", ref)
	}
	provider, _, _ := strings.Cut(ref, "/")
	return func(ctx context.Context, t knowledge.Texts) ([][]float32, error) {
		tokens := int64(0)
		for _, text := range t.Texts {
			tokens += int64(len(text))
		}
		entry, err := ledger.Begin(ctx, usage.Call{
			Account: t.Account, Feature: "knowledge", Project: t.Project, Flow: t.Flow, Run: t.Run, Provider: provider, Model: name,
			Reserve: llm.Usage{Known: true, Input: tokens},
		})
		if err != nil {
			return nil, err
		}
		found, failed := e.Embed(ctx, name, t.Texts)
		var answer *llm.Response
		if failed == nil {
			answer = &llm.Response{Usage: found.Usage, Provider: found.Provider, Model: found.Model}
		}
		if _, err := ledger.Complete(ctx, entry, answer, failed); failed != nil || err != nil {
			return nil, errors.Join(failed, err)
		}
		return found.Vectors, nil
	}, nil
}

// ExtractorModel returns a function that finds the model an extractor asks. Its
// calls are in the ledger.
func ExtractorModel(models *llm.Models, ledger *usage.Ledger) func(context.Context, store.Call) (llm.Model, string, error) {
	return func(_ context.Context, c store.Call) (llm.Model, string, error) {
		m, name, err := models.Find(c.Model)
		if err != nil {
			return nil, "", err
		}
		provider, _, _ := strings.Cut(c.Model, "/")
		return llm.Retry(&billed.Model{Ledger: ledger, Model: m, Used: c.Used, Call: usage.Call{
			Account: c.Account, Reference: c.Reference, ChatID: c.ChatID, Feature: "extractor", Provider: provider, Model: name,
		}}, nil), name, nil
	}
}
