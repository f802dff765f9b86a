package flow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Compile checks a document in three passes and compiles it. The passes check its
// shape, its meaning (expressions, connections, loops) and, with env, what it
// refers to. Compile reports all problems, in the order of a walk from the start.
// The Program is nil if one of them is an error. Programs are cached by the
// document's hash, so that compiling again costs little.
func (t *Types) Compile(d *Document, env *Environment) (*Program, []Problem) {
	if d == nil || d.root == nil {
		return nil, []Problem{{Severity: SeverityError, Code: "document.empty", Message: "there is no document"}}
	}
	if env == nil {
		env = &Environment{}
	}
	c := t.compiled(d)
	linked, found := t.inEnvironment(d, c, env)
	problems := slices.Concat(d.problems, c.problems, found)
	if !env.Published {
		problems = append(problems, c.gone...)
	}
	if len(problems) > 0 {
		sortProblems(problems, c.graph.ranks())
	}
	if Failed(problems) {
		return nil, problems
	}
	return linked, problems
}

// compiled is the part of compilation that does not depend on an environment.
type compiled struct {
	graph    *graph
	program  *Program
	problems []Problem // besides those of Decode
	gone     []Problem // custom node types that are missing
	size     int       // bytes of the document
}

// compiled returns the first two passes over a document. It caches them by the
// document's content.
func (t *Types) compiled(d *Document) *compiled {
	hash := d.Hash()
	if c := t.memory.get(hash); c != nil {
		return c
	}
	c := t.build(d)
	t.memory.put(hash, c)
	return c
}

// maxVariables limits the variables of a document, declared or not.
const maxVariables = 200

func (t *Types) build(d *Document) *compiled {
	r, lost := &report{root: d.root}, &report{root: d.root}
	vertices := map[string]*vertex{}
	written := map[string]bool{}
	for _, id := range keys(d.Nodes) {
		v := t.vertex(r, lost, d, id)
		vertices[id] = v
		if v.config != nil {
			writes(reflect.ValueOf(v.config).Elem(), v.typ.shape, written)
		}
	}
	g := newGraph(d, vertices)
	g.regions()
	r.checkVariables(d, written)
	b := meaning{r, d, g, t.expressions, baseScope(d, written), map[string]*expression.Scope{}}
	for _, v := range g.order {
		b.check(v)
	}
	g.check(r)
	return &compiled{graph: g, program: newProgram(d, g, t.answers), problems: r.problems, gone: lost.problems, size: len(d.Canonical())}
}

// Scope returns what the expressions of a node see, for editors, with
// [expression.Completions]. It omits what single members see by their tag scope. It
// is nil if the document does not have the node, or if the type of the node is
// unknown.
func (t *Types) Scope(d *Document, node string) *expression.Scope {
	if d == nil || d.root == nil {
		return nil
	}
	v := t.compiled(d).graph.vertices[node]
	if v == nil {
		return nil
	}
	return v.scope
}

// checkVariables counts the variables, including those that exist only because a
// node writes them.
func (r *report) checkVariables(d *Document, written map[string]bool) {
	all := len(d.Variables)
	for name := range written {
		if _, ok := d.Variables[name]; !ok {
			all++
		}
	}
	if all > max(maxVariables, len(d.Variables)) {
		r.problem("document.variables", fmt.Sprintf("the flow writes %d variables; at most %d are allowed", all, maxVariables), "")
	}
}

// vertex decodes a node's configuration by its type. lost receives custom types
// that are missing.
func (t *Types) vertex(r, lost *report, d *Document, id string) *vertex {
	v := &vertex{id: id, node: d.Nodes[id], typ: t.get(d.Nodes[id].Type)}
	r.path, lost.path = []any{"nodes", id}, []any{"nodes", id}
	defer func() { r.path = nil }()
	config := d.root.at("nodes", id, "config")
	if config == nil || config.kind != kindObject {
		config = &tree{kind: kindObject}
	}
	if v.typ == nil && ownName.MatchString(v.node.Type) {
		lost.problem("unknown.type", "this program has no node type "+v.node.Type, cmp.Or(values.DidYouMean(v.node.Type, t.names()), "register it when the program starts"), "type")
		v.typ = newGone(v.node.Type)
		v.config = goneConfig(v.node.Type, config)
		return v
	}
	if v.typ == nil {
		if v.node.Type != "" {
			r.problem("unknown.type", "there is no node type "+values.Shorten(v.node.Type), values.DidYouMean(v.node.Type, t.names()), "type")
		}
		return v
	}
	if !v.typ.runs(d.Engine) {
		r.problem("node.engine", v.node.Type+" is not available in the engine "+d.Engine, "", "type")
	}
	before := len(r.problems)
	v.config = v.typ.Config()
	r.push("config")
	if own, is := v.config.(*ownConfig); is {
		own.own.decode(decoder{r}, config, own)
	} else {
		decoder{r}.object(config, reflect.ValueOf(v.config).Elem(), v.typ.shape)
	}
	v.sound = len(r.problems) == before
	return v
}

// writes collects the variables that a configuration writes.
func writes(v reflect.Value, s *shape, into map[string]bool) {
	switch {
	case s.form == formPointer && !v.IsNil():
		writes(v.Elem(), s.elem, into)
	case s.form == formList && s.elem.form == formStruct:
		for i := range v.Len() {
			writes(v.Index(i), s.elem, into)
		}
	case s.form == formStruct:
		for i := range s.fields {
			f := &s.fields[i]
			if !f.writes {
				writes(v.Field(f.index), f.shape, into)
			} else if name, _ := values.CutPath(v.Field(f.index).String()); name != "" {
				into[name] = true
			}
		}
	}
}

// meaning is the second pass.
type meaning struct {
	*report
	document *Document
	graph    *graph
	cache    *expression.Cache
	scope    *expression.Scope // outside of all regions
	scopes   map[string]*expression.Scope
}

func (m meaning) check(v *vertex) {
	if v.config == nil || m.full() {
		return
	}
	m.path = []any{"nodes", v.id, "config"}
	v.scope = m.scopeOf(v)
	c := compiler{m.report, m.cache, v.scope, v.config}
	c.fields(reflect.ValueOf(v.config).Elem(), v.typ.shape)
	if own, is := v.config.(*ownConfig); is {
		c.own(own)
	}
	m.undeclared(reflect.ValueOf(v.config).Elem(), v.typ.shape)
	if v.sound {
		v.config.Check(&Checker{m.report, m.document, m.graph, v, map[string]bool{}})
	}
	m.path = nil
}

// scopeOf returns what expressions of a node see: besides the usual names, the item
// and index of each loop around it, where inner loops hide outer ones, and, on an
// error path, the error.
func (m meaning) scopeOf(v *vertex) *expression.Scope {
	key := string(v.may.bytes())
	if s := m.scopes[key]; s != nil {
		return s
	}
	s := m.scope
	if v.may.has(regionOfErrors) {
		s = s.With("error", errorType())
	}
	for _, l := range m.graph.around(v) {
		s = loopScope(s, l.config.(looper))
	}
	m.scopes[key] = s
	return s
}

// undeclared warns of variables that are written but not declared.
func (m meaning) undeclared(v reflect.Value, s *shape) {
	switch {
	case s.form == formPointer && !v.IsNil():
		m.undeclared(v.Elem(), s.elem)
	case s.form == formList && s.elem.form == formStruct:
		for i := range v.Len() {
			m.push(i)
			m.undeclared(v.Index(i), s.elem)
			m.pop()
		}
	case s.form == formStruct:
		for i := range s.fields {
			m.undeclaredField(v, &s.fields[i])
		}
	}
}

func (m meaning) undeclaredField(v reflect.Value, f *field) {
	m.push(f.name)
	defer m.pop()
	if !f.writes {
		m.undeclared(v.Field(f.index), f.shape)
		return
	}
	name, _ := values.CutPath(v.Field(f.index).String())
	if _, ok := m.document.Variables[name]; !ok && values.Patterns["variable"]().MatchString(name) {
		m.warn("variable.undeclared", "there is no variable "+name, values.DidYouMean(name, keys(m.document.Variables)))
	}
}

// newProgram compiles a document. Its result is used only if the document has no
// errors.
func newProgram(d *Document, g *graph, answers AnswerReader) *Program {
	p := &Program{
		hash: d.Hash(), slug: d.Slug, steps: map[string]*step{},
		variables: variables(d.Variables), args: variables(d.Args), returns: variables(d.Returns),
		replyTimeout: d.Settings.ReplyTimeout, locale: d.Settings.Locale, location: time.UTC, answers: answers,
	}
	if l, err := time.LoadLocation(d.Settings.Timezone); err == nil {
		p.location = l
	}
	for id, v := range g.vertices {
		if v.typ != nil {
			p.steps[id] = &step{id: id, typ: v.node.Type, config: v.config, disabled: v.node.Disabled, pass: v.pass(), next: map[string]*step{}}
		}
	}
	for id, s := range p.steps {
		for output, to := range g.vertices[id].node.Next {
			if n := p.steps[to]; n != nil {
				s.next[output] = n
			}
		}
	}
	for _, of := range []map[string]variable{p.variables, p.args, p.returns} {
		for _, v := range of {
			p.secret = p.secret || v.Secret
		}
	}
	p.start, p.onError = p.steps[d.Start], p.steps[d.Settings.OnError]
	return p
}

func variables(declared map[string]Typed) map[string]variable {
	out := make(map[string]variable, len(declared))
	for name, t := range declared {
		v := variable{Typed: t}
		if t.Default != nil {
			v.initial, _ = conform(t.Default, t.Type) // Decode reports the error
		}
		out[name] = v
	}
	return out
}
