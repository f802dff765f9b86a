package flow

import (
	"reflect"
	"strings"
	"sync"
)

// decode reads the configuration of a node of the type: into c what all nodes
// with functions have; of the rest only the shape is checked, as its templates
// are to be rendered first.
func (o *own) decode(d decoder, config *tree, c *ownConfig) {
	d.known(config, o.all)
	d.members(config, reflect.ValueOf(c).Elem(), ownShape())
	d.members(config, reflect.New(o.run.in).Elem(), o.open)
	rest := &tree{Kind: KindObject}
	for _, m := range config.members {
		if o.open.field(m.name) != nil {
			rest.members = append(rest.members, m)
		}
	}
	c.given = Data{Source: rest}
}

// field is the member of a name, or nil.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if f := &s.fields[i]; f.name == name || f.alias == name && name != "" {
			return f
		}
	}
	return nil
}

// open reads a member that may be a template.
func (d decoder) open(v *tree, to reflect.Value, s *shape, r *rules) {
	if v.Kind != KindString || !strings.Contains(v.text, "{{") {
		d.value(v, to, s.elem, r)
		return
	}
	d.template(v.text, r)
}

// declaredAs are the declared types whose values a form takes.
var declaredAs = map[form]string{formString: "string", formInteger: "integer", formNumber: "number", formAny: "any"}

// own compiles what the function of a node is given.
func (c *compiler) own(config *ownConfig) {
	config.given.root = c.data(config.given.Source, 0)
	c.fits(config.given.root, config.own.open)
}

// fits reports templates whose values cannot be what a member is to be.
func (c *compiler) fits(n *dataNode, s *shape) {
	if s.form == formOpen && n.template != nil {
		if k := n.template.Type().Kind; !holdable(k, declaredAs[s.elem.form]) {
			c.problem("expression.type", "is "+k.String()+"; it must be of type "+declaredAs[s.elem.form], "")
		}
		return
	}
	for i, item := range n.items {
		var part any = i
		if n.object {
			part = n.names[i]
		}
		if inner := s.at(part); inner != nil {
			c.push(part)
			c.fits(item, inner)
			c.pop()
		}
	}
}

// at is the shape of a member or an item; nil: it is not known.
func (s *shape) at(part any) *shape {
	switch name, isName := part.(string); {
	case s.form == formPointer:
		return s.elem.at(part)
	case s.form == formStruct && isName:
		if f := s.field(name); f != nil {
			return f.shape
		}
	case s.form == formMap && isName, s.form == formList && !isName:
		return s.elem
	}
	return nil
}

// refer checks the credentials that a node names.
func (c *ownConfig) Refer(k *Checker, env *Environment) {
	k.credentials(c.given.Source, c.own.plain, &rules{}, env)
}

func (k *Checker) credentials(v *tree, s *shape, r *rules, env *Environment, at ...any) {
	switch s.form {
	case formString:
		if r.pattern == "credential" && v.Kind == KindString {
			k.Refer("credential", v.text, env.Credentials, at...)
		}
	case formPointer:
		k.credentials(v, s.elem, r, env, at...)
	case formStruct:
		for _, m := range v.members {
			if f := s.field(m.name); f != nil {
				k.credentials(m.value, f.shape, &f.rules, env, Below(at, m.name)...)
			}
		}
	case formMap:
		for _, m := range v.members {
			k.credentials(m.value, s.elem, r.items(), env, Below(at, m.name)...)
		}
	case formList:
		for i, item := range v.items {
			k.credentials(item, s.elem, r.items(), env, Below(at, i)...)
		}
	}
}

// gone stands for a node type that the program of an earlier time had: who
// comes to a node of it fails.
type gone struct {
	SaveTo string `json:"saveTo" pattern:"variable" writes:"true"`
	name   string
}

// newGone is a type for a node whose type is not there.
func newGone(name string) *nodeType {
	return &nodeType{NodeType: NodeType{Name: name, Wait: "gone"}, shape: goneShape()}
}

var goneShape = sync.OnceValue(func() *shape {
	s, err := shapeOf(&gone{})
	if err != nil {
		panic(err) // a mistake in this package, which every test would meet
	}
	return s
})

// goneConfig keeps of a configuration which variable the node writes, so
// that it exists, and the rest of the document means what it meant.
func goneConfig(name string, config *tree) *gone {
	g := &gone{name: name}
	decoder{&report{}}.members(config, reflect.ValueOf(g).Elem(), goneShape())
	return g
}

func (*gone) Outputs() []string { return nil }
func (*gone) Check(*Checker)    {}

// Step fails: nobody knows what to do.
func (g *gone) Step(*Turn) (Exit, error) { return Exit{}, noType(g.name) }

// Resume fails, whatever the function gave back.
func (g *gone) Resume(*Turn, Input) (Exit, error) { return Exit{}, noType(g.name) }

func noType(name string) *Error {
	return &Error{Code: codeNoType, Message: "This program has no node type " + shorten(name) + "."}
}
