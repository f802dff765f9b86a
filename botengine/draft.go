package botengine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// maxDraft bounds a draft.
const maxDraft = 2 << 20

// checkDraft refuses what no draft can be: everything that is no JSON object
// with each member once.
func checkDraft(draft json.RawMessage) error {
	if len(draft) > maxDraft {
		return &Invalid{"flow", fmt.Sprintf("must have at most %d bytes", maxDraft)}
	}
	if !utf8.Valid(draft) {
		return &Invalid{"flow", "must be UTF-8"}
	}
	if !bytes.HasPrefix(bytes.TrimLeft(draft, " \t\r\n"), []byte("{")) {
		return &Invalid{"flow", "must be a JSON object"}
	}
	_, problems := flow.Decode(draft)
	for _, p := range problems {
		if p.Code == "shape.syntax" || p.Code == "shape.duplicate" {
			return &Invalid{"flow" + p.Path, p.Message}
		}
	}
	return nil
}

// compile makes a draft ready to run, or says why it cannot be. Problems are
// never nil.
func (s *Service) compile(draft json.RawMessage) (*flow.Program, []flow.Problem) {
	doc, problems := flow.Decode(draft)
	var program *flow.Program
	if doc != nil {
		program, problems = s.opts.Types.Compile(doc, &flow.Environment{Engine: flow.EngineBot})
	}
	if problems == nil {
		problems = []flow.Problem{}
	}
	return program, problems
}

// blank is the draft of a bot that is made without one.
func blank(name string) json.RawMessage {
	doc, err := json.Marshal(map[string]any{
		"format": flow.Format, "kind": flow.KindFlow, "engine": flow.EngineBot, "slug": slug(name), "name": shorten(name, 128), "nodes": object{},
	})
	if err != nil {
		panic(err) // strings are JSON
	}
	return doc
}

// slug makes a name of other documents out of one of people.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := strings.Trim(shorten(b.String(), 64), "-")
	if out == "" {
		return "bot"
	}
	return out
}

// shorten cuts a text to a number of characters.
func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}
