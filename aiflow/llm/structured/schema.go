package structured

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	raw      json.RawMessage
	doc      any
	object   bool // it describes an object, as providers require
	compiled *jsonschema.Schema
}

// place is the URL of the schema. Nothing is fetched from it.
const place = "trunkline:schema"

// nowhere refuses to load other documents: a schema may name files and hosts.
type nowhere struct{}

// maxPatterns bounds the instructions of all patterns of a schema together.
const maxPatterns = 5000

// patterns compiles those of one schema.
type patterns struct{ size int }

func (p *patterns) compile(source string) (jsonschema.Regexp, error) {
	re, size, err := pattern.Compile(source)
	if p.size += size; err == nil && p.size > maxPatterns {
		err = fmt.Errorf("the patterns repeat too much: they need %d instructions of the %d they may have together", p.size, maxPatterns)
	}
	if err != nil {
		return nil, err
	}
	return searching{re}, nil
}

// searching is a pattern that looks at no more than the beginning of a long
// text.
type searching struct{ *regexp.Regexp }

// MatchString says whether the beginning of a text has a match.
func (s searching) MatchString(text string) bool {
	return s.Regexp.MatchString(pattern.Searched(text))
}

var errEffort = errors.New("structured: the schema refers to its parts too often")

var errElsewhere = errors.New("a schema may refer to nothing but itself")

func (nowhere) Load(string) (any, error) { return nil, errElsewhere }

// Compile compiles a JSON Schema, of the revision 2020-12 unless it names another.
// It must not refer to other documents, nor too often to its own parts. Formats are
// validated.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := plain(raw)
	if err != nil {
		return nil, fmt.Errorf("structured: the schema is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.AssertFormat()
	c.UseRegexpEngine((&patterns{}).compile)
	if err := c.AddResource(place, doc); err != nil {
		return nil, fmt.Errorf("structured: reading the schema: %w", err)
	}
	if tooMuch(doc, 1) {
		return nil, errEffort
	}
	s := &Schema{raw: raw, doc: doc}
	if s.compiled, err = c.Compile(place); err != nil {
		return nil, fmt.Errorf("structured: the schema is wrong: %w", err)
	}
	if top, is := doc.(map[string]any); is {
		s.object = top["type"] == "object"
	}
	return s, nil
}

// Ask adds the schema to a request. Providers support schemas of objects; other
// schemas are added to the instructions.
func (s *Schema) Ask(r *llm.Request) {
	if s.object {
		r.Schema = s.raw
		return
	}
	r.System = strings.TrimSpace(r.System + "\n\nAnswer with JSON alone that fits this JSON Schema:\n" + string(s.raw))
}

// Validate validates a value as decoded by encoding/json. A value that does not
// match is a [*Misfit].
func (s *Schema) Validate(v any) error {
	if tooMuch(s.doc, levels(v)) {
		return &Misfit{Problems: []string{"/: it is nested too deeply"}}
	}
	err := s.compiled.Validate(v)
	if bad, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return &Misfit{Problems: problems(bad)}
	}
	if err != nil {
		return fmt.Errorf("structured: %w", err)
	}
	return nil
}

// maxProblems limits the number of reported problems of a value.
const maxProblems = 10

var english = message.NewPrinter(language.English)

// problems returns the leaves of a validation error, which say what is wrong.
func problems(e *jsonschema.ValidationError) (out []string) {
	for _, c := range e.Causes {
		out = append(out, problems(c)...)
	}
	if len(e.Causes) == 0 {
		at := "/" + strings.Join(e.InstanceLocation, "/")
		out = append(out, at+": "+e.ErrorKind.LocalizedString(english))
	}
	return out[:min(len(out), maxProblems)]
}
