package flow

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Expression is a member of a configuration that holds an expression.
type Expression struct {
	Source  string
	program *expression.Program // nil: not given
}

// Present says whether the member was given.
func (e Expression) Present() bool { return e.Source != "" }

// Kind is what is known of the value.
func (e Expression) Kind() expression.Kind {
	if e.program == nil {
		return 0
	}
	return e.program.Type().Kind
}

// Eval evaluates the expression; without one it is nil.
func (e Expression) Eval(env map[string]any, b *expression.Budget) (any, error) {
	if e.program == nil {
		return nil, nil
	}
	return e.program.Eval(env, b)
}

// Text is a member that holds a text with {{ expressions }}.
type Text struct {
	Source   string
	template *expression.Template // nil: not given
}

// Present says whether the member was given, or has a default.
func (t Text) Present() bool { return t.Source != "" }

// Eval renders the text; without one it is "".
func (t Text) Eval(env map[string]any, b *expression.Budget) (string, error) {
	if t.template == nil {
		return "", nil
	}
	return t.template.Text(env, b)
}

// Constant returns the text if there is one without expressions.
func (t Text) Constant() (string, bool) {
	if t.template == nil || !t.template.Constant() {
		return "", false
	}
	s, err := t.template.Text(nil, nil)
	return s, err == nil
}

// Literal says that no expression is in the text.
func (t Text) Literal() bool { return t.template == nil || t.template.Constant() }

// Authored is the text without its expressions: a space stands for each.
func (t Text) Authored() string {
	if t.template == nil {
		return ""
	}
	return t.template.Literal()
}

// contactMessage is the expression of what the contact wrote.
var contactMessage = regexp.MustCompile(`^\s*\{\{\s*input\s*\.\s*text\s*\}\}\s*$`)

// Message says that the text is what the contact wrote, and nothing else.
func (t Text) Message() bool { return contactMessage.MatchString(t.Source) }

// Data is a member that holds any JSON value, in which every string is a
// template: a lone {{ expression }} keeps the type of its value.
type Data struct {
	source *tree
	root   *dataNode
}

// dataNode is a part of a Data: a template, a list or an object with
// something to render in it, or what stays as it is.
type dataNode struct {
	constant any
	template *expression.Template
	items    []*dataNode
	names    []string // of an object: of items
	object   bool
}

// Present says whether the member was given; null is a value.
func (d Data) Present() bool { return d.source != nil }

// IsObject reports whether the value is written as an object.
func (d Data) IsObject() bool { return d.source != nil && d.source.kind == kindObject }

// IsText reports whether the value is written as a text.
func (d Data) IsText() bool { return d.source != nil && d.source.kind == kindString }

// Size is how many bytes of JSON the value takes in the document.
func (d Data) Size() int {
	if d.source == nil {
		return 0
	}
	return len(d.source.canonical())
}

// Eval renders the value; without one it is nil. What it shares with the
// program must not be changed.
func (d Data) Eval(env map[string]any, b *expression.Budget) (any, error) {
	if d.root == nil {
		return nil, nil
	}
	return d.root.eval(env, b)
}

func (n *dataNode) eval(env map[string]any, b *expression.Budget) (any, error) {
	switch {
	case n.template != nil:
		return n.template.Render(env, b)
	case n.items == nil:
		return n.constant, nil
	case n.object:
		out := make(map[string]any, len(n.items))
		for i, item := range n.items {
			v, err := item.eval(env, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n.names[i], err)
			}
			out[n.names[i]] = v
		}
		return out, nil
	}
	out := make([]any, len(n.items))
	for i, item := range n.items {
		v, err := item.eval(env, b)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out[i] = v
	}
	return out, nil
}

// Constant returns the value if there is no template in it.
func (d Data) Constant() (v any, ok bool) {
	if d.root == nil || d.root.template != nil || d.root.items != nil {
		return nil, false
	}
	return d.root.constant, true
}

// Bytes is a size: a number of bytes, or "256KiB", "1MiB".
type Bytes int64

// Schema is a JSON Schema.
type Schema struct {
	source *tree
}

// Present says whether the member was given.
func (s Schema) Present() bool { return s.source != nil }

// Raw is the schema in canonical form; nil when there is none.
func (s Schema) Raw() json.RawMessage {
	if s.source == nil {
		return nil
	}
	return s.source.canonical()
}
