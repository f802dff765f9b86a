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

// Schema is a JSON Schema that answers are held against. It is safe for
// concurrent use.
type Schema struct {
	raw      json.RawMessage
	doc      any
	object   bool // it asks for an object, which is what providers can be told
	compiled *jsonschema.Schema
}

// place is where a schema stands for itself; nothing is ever fetched.
const place = "trunkline:schema"

// nowhere refuses to fetch what a schema refers to: it may name files and hosts.
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

// Compile reads a JSON Schema, of the revision 2020-12 unless it says another.
// It may refer to nothing outside of itself, and to its own parts not without
// bounds. Formats are checked.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := plain(raw)
	if err != nil {
		return nil, fmt.Errorf("structured: the schema is no JSON: %w", err)
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

// Ask has a request say what must be answered. Providers understand schemas of
// objects; of anything else the model reads.
func (s *Schema) Ask(r *llm.Request) {
	if s.object {
		r.Schema = s.raw
		return
	}
	r.System = strings.TrimSpace(r.System + "\n\nAnswer with JSON alone that fits this JSON Schema:\n" + string(s.raw))
}

// Validate holds a value, as encoding/json reads it, against the schema. One
// that does not fit is a [*Misfit].
func (s *Schema) Validate(v any) error {
	if tooMuch(s.doc, levels(v)) {
		return &Misfit{Problems: []string{"/: it is nested too deeply"}}
	}
	err := s.compiled.Validate(v)
	var bad *jsonschema.ValidationError
	if errors.As(err, &bad) {
		return &Misfit{Problems: problems(bad)}
	}
	if err != nil {
		return fmt.Errorf("structured: %w", err)
	}
	return nil
}

// maxProblems is how many of a value's problems are told; more would not help.
const maxProblems = 10

var english = message.NewPrinter(language.English)

// problems are the ends of the tree of what is wrong: there it says what.
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
