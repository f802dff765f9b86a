package botengine

import (
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// checkDraft refuses what no draft can be.
func checkDraft(draft json.RawMessage) error {
	var p flow.Problem
	if err := flow.CheckDraft(draft); errors.As(err, &p) {
		return &Invalid{"flow" + p.Path, p.Message}
	}
	return nil
}

// compile makes a draft ready to run, or says why it cannot be. Problems are
// never nil.
func (s *Service) compile(draft json.RawMessage) (*flow.Program, []flow.Problem) {
	doc, problems := flow.Decode(draft)
	var program *flow.Program
	if doc != nil {
		program, problems = s.runs.Types().Compile(doc, &flow.Environment{Engine: flow.EngineBot})
	}
	if problems == nil {
		problems = []flow.Problem{}
	}
	return program, problems
}

// blank is the draft of a bot that is made without one.
func blank(name string) json.RawMessage {
	doc, err := json.Marshal(map[string]any{
		"format": flow.Format, "kind": flow.KindFlow, "engine": flow.EngineBot, "slug": flow.SlugOf(name, "bot"), "name": shorten(name, 128), "nodes": object{},
	})
	if err != nil {
		panic(err) // strings are JSON
	}
	return doc
}

// shorten cuts a text to a number of characters.
func shorten(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit])
	}
	return s
}
