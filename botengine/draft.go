package botengine

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// compile makes a draft ready to run, or says why it cannot be. Problems are
// never nil.
func (s *Service) compile(draft json.RawMessage) (*flow.Program, []flow.Problem) {
	program, _, problems := s.store.Compile(draft, &flow.Environment{Engine: flow.EngineBot})
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
