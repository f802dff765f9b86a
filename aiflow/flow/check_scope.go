package flow

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// fixedRoots are the names that expressions see, everywhere or in some places.
var fixedRoots = []string{
	"vars", "args", "input", "start", "contact", "chat", "run", "now", "error", "answer", "response",
}

var (
	anyType    = expression.Type{}
	numberType = expression.Type{Kind: expression.Number}
	textType   = expression.Type{Kind: expression.Text}
	objectType = expression.Type{Kind: expression.Map}
	dateType   = expression.Type{Kind: expression.Date | expression.Text}
)

// record returns the type of an object with exactly these members.
func record(fields map[string]expression.Type) expression.Type {
	return expression.Type{Kind: expression.Map, Fields: fields}
}

// baseScope returns what all expressions of a document see. A variable exists if it
// is declared or if a node writes it.
func baseScope(d *Document, written map[string]bool) *expression.Scope {
	vars := declared(d.Variables)
	for _, name := range keys(written) {
		if _, ok := vars[name]; !ok && len(vars) < maxVariables {
			vars[name] = anyType
		}
	}
	roots := map[string]expression.Type{
		"vars": record(vars), "input": objectType, "start": objectType, "contact": objectType,
		"chat": record(map[string]expression.Type{"id": textType, "reference": numberType, "variables": objectType}),
		"run":  record(map[string]expression.Type{"id": textType, "startedAt": dateType}),
		"now":  {Kind: expression.Date},
	}
	if d.Kind == KindFunction {
		roots["args"] = record(declared(d.Args))
	}
	return expression.NewScope(roots)
}

func declared(of map[string]Typed) map[string]expression.Type {
	types := make(map[string]expression.Type, len(of))
	for name, t := range of {
		types[name], _ = expression.TypeNamed(t.Type)
	}
	return types
}

// errorType returns the type of error on an error path.
func errorType() expression.Type {
	return record(map[string]expression.Type{
		"code": textType, "message": textType, "node": textType, "attempt": numberType, "detail": anyType,
	})
}

func responseType() expression.Type {
	return record(map[string]expression.Type{"status": numberType, "headers": objectType, "body": anyType})
}

// compiler compiles the expressions and templates of configurations.
type compiler struct {
	*report
	cache *expression.Cache
	scope *expression.Scope
	of    Config
}

// fields compiles the members of a struct.
func (c *compiler) fields(v reflect.Value, s *shape) {
	for i := range s.fields {
		f := &s.fields[i]
		c.push(f.name)
		c.value(v.Field(f.index), f.shape, f)
		c.pop()
	}
}

func (c *compiler) value(v reflect.Value, s *shape, f *field) {
	switch s.form {
	case formPointer:
		if !v.IsNil() {
			c.value(v.Elem(), s.elem, f)
		}
	case formStruct:
		c.fields(v, s)
	case formList:
		for i := range v.Len() {
			c.push(i)
			c.value(v.Index(i), s.elem, f)
			c.pop()
		}
	case formMap:
		c.mapping(v, s, f)
	case formText:
		t := v.Addr().Interface().(*Text)
		t.template = c.template(t.Source)
	case formExpression:
		c.expression(v.Addr().Interface().(*Expression), f)
	case formData:
		if d := v.Addr().Interface().(*Data); d.source != nil {
			d.root = c.data(d.source, 0)
		}
	}
}

// mapping compiles the members of a map, which it must replace.
func (c *compiler) mapping(v reflect.Value, s *shape, f *field) {
	if !compiles(s.elem) {
		return
	}
	for _, name := range keysOf(v) {
		c.push(name.String())
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(v.MapIndex(name))
		c.value(item, s.elem, f)
		v.SetMapIndex(name, item)
		c.pop()
	}
}

// compiles reports whether a shape may have anything to compile.
func compiles(s *shape) bool {
	return s.form == formText || s.form == formExpression || s.form == formData || s.form >= formStruct
}

func (c *compiler) template(source string) *expression.Template {
	if source == "" {
		return nil
	}
	t, err := c.cache.ParseTemplate(source, c.scope)
	if err != nil {
		c.refuse(err)
		return nil
	}
	return t
}

func (c *compiler) expression(e *Expression, f *field) {
	if e.Source == "" {
		return
	}
	p, err := c.cache.Compile(e.Source, c.scopeOf(f.scope))
	if err != nil {
		c.refuse(err)
		return
	}
	if want, ok := wanted[f.want]; ok {
		if k := p.Type().Kind; k != 0 && k&want == 0 {
			c.problem("expression.type", "is "+k.String()+"; it must be "+want.String(), "")
		}
	}
	e.program = p
}

// wanted maps the values of the tag want to kinds.
var wanted = map[string]expression.Kind{
	"boolean": expression.Bool, "number": expression.Number, "list": expression.List,
	"date": expression.Date | expression.Text,
}

// scopeOf returns the scope for a value of the tag scope.
func (c *compiler) scopeOf(tag string) *expression.Scope {
	switch tag {
	case "answer":
		t := anyType
		if q, ok := c.of.(asker); ok {
			t = values.AnswerTypes[q.Expects()]
		}
		return c.scope.With("answer", t)
	case "response":
		return c.scope.With("response", responseType())
	case "loop":
		if l, ok := c.of.(looper); ok {
			return loopScope(c.scope, l)
		}
	}
	return c.scope
}

// loopScope returns what expressions see in the body of a loop.
func loopScope(s *expression.Scope, l looper) *expression.Scope {
	role, item := l.LoopRole(), numberType
	if !role.Numbers {
		item = anyType
	}
	return s.With(role.Item, item).With(role.Index, numberType)
}

func (c *compiler) refuse(err error) {
	e, ok := err.(*expression.Error) //nolint:errorlint // Compile returns only this type
	if !ok {
		c.problem("expression.invalid", err.Error(), "")
		return
	}
	c.add(Problem{Severity: SeverityError, Code: e.Code, At: &e.At, Message: e.Message, Hint: e.Hint})
}

// data compiles the templates in a JSON value.
func (c *compiler) data(t *tree, depth int) *dataNode {
	switch t.kind {
	case kindString:
		return c.dataText(t.text)
	case kindArray, kindObject:
	default:
		return &dataNode{constant: t.plain()}
	}
	if depth == values.MaxDepth {
		c.problem("value.depth", "has more than "+strconv.Itoa(values.MaxDepth)+" levels", "")
		return &dataNode{}
	}
	n := &dataNode{object: t.kind == kindObject, items: []*dataNode{}}
	if len(t.items) > values.MaxList {
		c.problem("shape.length", "has "+values.Count(len(t.items), "item")+"; a list has at most "+strconv.Itoa(values.MaxList), "")
	}
	for i, item := range t.items {
		c.push(i)
		n.items = append(n.items, c.data(item, depth+1))
		c.pop()
	}
	for _, m := range t.members {
		c.push(m.name)
		n.names = append(n.names, m.name)
		n.items = append(n.items, c.data(m.value, depth+1))
		c.pop()
	}
	if !n.renders() {
		return &dataNode{constant: n.constants()}
	}
	return n
}

// dataText returns a text as a template only if it has expressions.
func (c *compiler) dataText(source string) *dataNode {
	t := c.template(source)
	if t == nil || !t.Constant() {
		return &dataNode{template: t, constant: source}
	}
	v, err := t.Render(nil, nil)
	if err != nil {
		c.refuse(err)
	}
	return &dataNode{constant: v}
}

// renders reports whether a list or an object contains a template.
func (n *dataNode) renders() bool {
	for _, item := range n.items {
		if item.template != nil || item.items != nil {
			return true
		}
	}
	return false
}

// constants returns the value of a list or an object without templates.
func (n *dataNode) constants() any {
	if n.object {
		out := make(map[string]any, len(n.items))
		for i, item := range n.items {
			out[n.names[i]] = item.constant
		}
		return out
	}
	out := make([]any, len(n.items))
	for i, item := range n.items {
		out[i] = item.constant
	}
	return out
}

// keysOf returns the keys of a map, sorted.
func keysOf(v reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
}
