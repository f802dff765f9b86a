package main

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/server"
)

// modelServer configures a provider of models, which exists if one of the fields is
// set: its own address needs a key, another address may need none.
type modelServer struct {
	URL string
	Key server.Secret
}

func (s modelServer) given() bool { return s.URL != "" || s.Key != "" }

// models returns the language models in the settings.
func (s settings) models() (map[string]llm.Model, error) {
	out := map[string]llm.Model{}
	if p := s.OpenAI; p.given() {
		m, err := openai.New(&openai.Options{BaseURL: p.URL, Key: string(p.Key)})
		if err != nil {
			return nil, fmt.Errorf("--openai-url: %w", err)
		}
		out["openai"] = m
	}
	if p := s.Anthropic; p.given() {
		m, err := anthropic.New(&anthropic.Options{BaseURL: p.URL, Key: string(p.Key)})
		if err != nil {
			return nil, fmt.Errorf("--anthropic-url: %w", err)
		}
		out["anthropic"] = m
	}
	return out, nil
}
