package versions

import (
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/internal/apierr"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// CheckDraft refuses what cannot be a draft. Field is the name of the draft
// where it came from.
func (s *Store) CheckDraft(field string, draft json.RawMessage) error {
	var p flow.Problem
	if err := flow.CheckDraft(draft); errors.As(err, &p) {
		return &apierr.Invalid{Field: field + p.Path, Message: p.Message}
	}
	return nil
}

// Compile makes a draft ready to run, or says why it cannot run. The document
// is nil if the draft could not be read. Problems are never nil.
func (s *Store) Compile(draft json.RawMessage, env *flow.Environment) (*flow.Program, *flow.Document, []flow.Problem) {
	return Compile(s.opts.Runs.Types(), draft, env)
}

// Compile makes a draft ready to run with some node types, or says why it
// cannot run. The document is nil if the draft could not be read. Problems are
// never nil.
func Compile(types *flow.Types, draft json.RawMessage, env *flow.Environment) (*flow.Program, *flow.Document, []flow.Problem) {
	doc, problems := flow.Decode(draft)
	var program *flow.Program
	if doc != nil {
		program, problems = types.Compile(doc, env)
	}
	if problems == nil {
		problems = []flow.Problem{}
	}
	return program, doc, problems
}

// Read reads a document that was published. One that rules of today refuse is
// Options.Refused.
func (s *Store) Read(document json.RawMessage) (*flow.Document, error) {
	doc, problems := flow.Decode(document)
	if doc == nil {
		return nil, s.opts.Refused(problems)
	}
	return doc, nil
}
