package flow

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Expression is a member of a configuration with an expression.
type Expression struct {
	Source  string
	program *expression.Program // nil: not given
}

// Present reports whether the member was given.
func (e Expression) Present() bool { return e.Source != "" }

// Kind returns what is known about the kind of the value.
func (e Expression) Kind() expression.Kind {
	if e.program == nil {
		return 0
	}
	return e.program.Type().Kind
}

// Eval evaluates the expression. It returns nil if there is none.
func (e Expression) Eval(env map[string]any, b *expression.Budget) (any, error) {
	if e.program == nil {
		return nil, nil
	}
	return e.program.Eval(env, b)
}

// Text is a member with a text that may have {{ expressions }}.
type Text struct {
	Source   string
	template *expression.Template // nil: not given
}

// Present reports whether the member was given, or has a default.
func (t Text) Present() bool { return t.Source != "" }

// Eval renders the text. It returns "" if there is none.
func (t Text) Eval(env map[string]any, b *expression.Budget) (string, error) {
	if t.template == nil {
		return "", nil
	}
	return t.template.Text(env, b)
}

// Constant returns the text if it has no expressions.
func (t Text) Constant() (string, bool) {
	if t.template == nil || !t.template.Constant() {
		return "", false
	}
	s, err := t.template.Text(nil, nil)
	return s, err == nil
}

// Literal reports whether the text has no expressions.
func (t Text) Literal() bool { return t.template == nil || t.template.Constant() }

// Authored returns the text with a space in place of each expression.
func (t Text) Authored() string {
	if t.template == nil {
		return ""
	}
	return t.template.Literal()
}

// contactMessage matches an expression that is the contact's message.
var contactMessage = regexp.MustCompile(`^\s*\{\{\s*input\s*\.\s*text\s*\}\}\s*$`)

// Message reports whether the text is the contact's message and nothing else.
func (t Text) Message() bool { return contactMessage.MatchString(t.Source) }

// Data is a member with any JSON value. Every string in it is a template; a
// template of a single {{ expression }} keeps the type of its value.
type Data struct {
	source *tree
	root   *dataNode
}

// dataNode is a part of a Data: a template, a list or an object that contains
// templates, or a constant.
type dataNode struct {
	constant any
	template *expression.Template
	items    []*dataNode
	names    []string // of the items of an object
	object   bool
}

// Present reports whether the member was given. Null counts as given.
func (d Data) Present() bool { return d.source != nil }

// IsObject reports whether the document has an object here.
func (d Data) IsObject() bool { return d.source != nil && d.source.kind == kindObject }

// IsText reports whether the document has a string here.
func (d Data) IsText() bool { return d.source != nil && d.source.kind == kindString }

// Size returns the size of the value in the document, in bytes of JSON.
func (d Data) Size() int {
	if d.source == nil {
		return 0
	}
	return len(d.source.canonical())
}

// Eval renders the value. It returns nil if there is none. The result may share
// parts with the program and must not be changed.
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

// Constant returns the value if it has no templates.
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

// Present reports whether the member was given.
func (s Schema) Present() bool { return s.source != nil }

// Raw returns the schema in canonical form; nil if there is none.
func (s Schema) Raw() json.RawMessage {
	if s.source == nil {
		return nil
	}
	return s.source.canonical()
}
