package expression

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Template is a text with expressions in it: "Hello {{ title(vars.name) }}".
//
// A template that consists of one expression, without even a space around it, has
// the value of the expression. All others are texts, into which values are written
// as by [Format]. {{{{ writes two opening braces; closing braces outside of an
// expression need no escape.
type Template struct{ parts []part }

// part is a literal text or an expression.
type part struct {
	text    string
	program *Program
	at      int // its offset in the template
}

// ParseTemplate parses a template and compiles its expressions. Every error is an
// [*Error] with an offset in the template.
func ParseTemplate(src string, scope *Scope) (*Template, error) {
	return parseTemplate(src, func(src string) (*Program, error) { return Compile(src, scope) })
}

func parseTemplate(src string, compile func(string) (*Program, error)) (*Template, error) {
	if len(src) > MaxTemplate {
		return nil, fail(CodeTooLong, 0, "is longer than %d bytes", MaxTemplate)
	}
	if !utf8.ValidString(src) {
		return nil, fail(CodeSyntax, validPrefix(src), "is not UTF-8")
	}
	r := reader{src: src, compile: compile}
	for r.at < len(src) {
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	r.flush()
	return &Template{r.parts}, nil
}

// reader splits a template into parts.
type reader struct {
	src     string
	compile func(string) (*Program, error)

	at      int
	literal []byte // read since the last expression
	parts   []part
	count   int // of expressions
}

// next reads a literal text, two escaped braces or an expression.
func (r *reader) next() error {
	rest := r.src[r.at:]
	switch {
	case strings.HasPrefix(rest, "{{{{"):
		r.literal = append(r.literal, "{{"...)
		r.at += 4
		return nil
	case strings.HasPrefix(rest, "{{"):
		return r.expression(rest[2:])
	}
	end := strings.Index(rest, "{{")
	if end < 0 {
		end = len(rest)
	}
	r.literal = append(r.literal, rest[:end]...)
	r.at += end
	return nil
}

func (r *reader) expression(rest string) error {
	length := closing(rest)
	if length < 0 {
		return fail(CodeSyntax, r.at, "has {{ without }}").hint("to write two braces, use {{{{")
	}
	if r.count == MaxNodes {
		return fail(CodeTooManyNodes, r.at, "has more than %d expressions", MaxNodes)
	}
	p, err := r.compile(rest[:length])
	if err != nil {
		return shifted(err, r.at+2)
	}
	r.flush()
	r.count++
	r.parts = append(r.parts, part{program: p, at: r.at + 2})
	r.at += length + 4
	return nil
}

// flush makes a part of the literal text that was read.
func (r *reader) flush() {
	if len(r.literal) > 0 {
		r.parts = append(r.parts, part{text: string(r.literal)})
		r.literal = r.literal[:0]
	}
}

// closing returns the position of the }} that ends an expression, ignoring texts
// and the braces of objects, or −1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '\'', '`':
			n := quotation(s[i:])
			if n < 0 {
				return -1
			}
			i += n
		case '{':
			depth++
		case '}':
			if depth == 0 && strings.HasPrefix(s[i:], "}}") {
				return i
			}
			depth = max(0, depth-1)
		}
	}
	return -1
}

// quotation returns the offset of the quote that ends the text which s begins
// with, or -1.
func quotation(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return -1
}

// shifted returns err with its offset moved by a number of bytes.
func shifted(err error, by int) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.shift(by)
	}
	return err
}

// Constant reports whether the template has no expressions.
func (t *Template) Constant() bool {
	return len(t.parts) == 0 || len(t.parts) == 1 && t.parts[0].program == nil
}

// Literal returns the text between the expressions of the template, with a space
// for each expression.
func (t *Template) Literal() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.program != nil {
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// lone returns the only part of a template that is a single expression, else nil.
func (t *Template) lone() *part {
	if len(t.parts) == 1 && t.parts[0].program != nil {
		return &t.parts[0]
	}
	return nil
}

// Type returns what is known about the type of the value.
func (t *Template) Type() Type {
	if p := t.lone(); p != nil {
		return p.program.kind
	}
	return Type{Kind: Text}
}

// Render returns the value of the template: that of its only expression, or a
// string. Budget and errors are those of [Program.Eval], for all expressions
// together.
func (t *Template) Render(env map[string]any, budget *Budget) (v any, err error) {
	p := t.lone()
	if p == nil {
		return t.Text(env, budget)
	}
	m := begin(env, budget)
	defer m.end(budget, &err)
	v, err = m.run(p.program)
	return v, shifted(err, p.at)
}

// Text is like Render, but always returns a text.
func (t *Template) Text(env map[string]any, budget *Budget) (s string, err error) {
	if t.Constant() && budget == nil {
		return t.literal(), nil
	}
	m := begin(env, budget)
	defer m.end(budget, &err)
	w := writer{m: m, out: m.out[:0]}
	for i := range t.parts {
		if err := w.part(&t.parts[i]); err != nil {
			return "", err
		}
	}
	m.out = w.out
	return string(w.out), nil
}

func (t *Template) literal() string {
	if len(t.parts) == 0 {
		return ""
	}
	return t.parts[0].text
}

func (w *writer) part(p *part) error {
	if p.program == nil {
		return w.raw(p.text)
	}
	w.at = 0
	v, err := w.m.run(p.program)
	if err == nil {
		err = w.text(v)
	}
	return shifted(err, p.at)
}
