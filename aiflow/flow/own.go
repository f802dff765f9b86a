package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Runner runs the function of a node type. [NodeFunc] makes it.
type Runner struct {
	in  reflect.Type
	run func(ctx context.Context, c NodeCall, in reflect.Value) (NodeResult, error)
}

// NodeFunc returns the [NodeType].Run of a node type that runs fn. The function is
// called as an HTTP node calls an address: outside of any transaction, with its
// start and its result in the journal, and with the retries of the node.
//
// In is a struct: the node's configuration, with tags as in [NodeType].Config, but
// with plain Go types, including any. Authors may write {{ expressions }} in texts,
// numbers and values of the type any, unless a text has an enum or a pattern. fn
// gets the rendered values, which satisfy the tags. The pattern credential is for
// ids of credentials, see [NodeCall]. Every node also has the members timeout,
// retry and saveTo.
//
// The context ends with the node's timeout, and fn must return then. An [*Error]
// goes to the node's error output unchanged. Any other error has the code
// [CodeNodeFailed], and authors see its text. [CodeNodeUnavailable] means that
// nothing was done, so that another attempt is safe.
func NodeFunc[In any](fn func(ctx context.Context, c NodeCall, in In) (NodeResult, error)) *Runner {
	if fn == nil {
		return nil
	}
	return &Runner{reflect.TypeFor[In](), func(ctx context.Context, c NodeCall, in reflect.Value) (NodeResult, error) {
		return fn(ctx, c, in.Interface().(In))
	}}
}

// NodeCall is the context of a call of a node's function.
type NodeCall struct {
	Account   string
	Reference int64  // the reference; 0: the run has no chat
	ChatID    string // chat on the reference; "": the run has no chat
	Run       string // id of the run
	Node      string // id of the node in its document
	// Key identifies the call: all attempts of one visit to the node have the same
	// key, and no other call has it.
	Key     string
	Attempt int // from 1
	// Authorize adds a credential of the account to a request. It may change the
	// headers and the query of the URL. Without credentials it returns an [*Error]
	// with the code [CodeHTTPAuth]. Never nil.
	Authorize func(ctx context.Context, credential string, r *http.Request) error
}

// NodeResult is the result of a node's function.
type NodeResult struct {
	// Output is the output of the node type, except error, through which the run
	// leaves the node. "": that of a disabled node, which is "out" for most types.
	Output string `json:"output,omitempty"`
	// Value is saved to the variable in the node's saveTo, and shown in the trace:
	// any JSON of at most 1 MiB.
	Value any `json:"value,omitempty"`
}

// NodeRequest is a [CallNode].
type NodeRequest struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"` // an object: the rendered configuration
}

// Limits of the input and the result of a node's function.
const (
	maxOwn       = 256 << 10
	maxOwnResult = 1 << 20
)

// own is the part of a node type that runs a function.
type own struct {
	name    string
	run     *Runner
	once    bool
	outputs []string // in order, including error
	pass    string
	plain   *shape // of In
	open    *shape // of In in a document: texts and numbers may be templates
	all     *shape // including the members of [ownConfig]
}

// ownName matches the names of custom node types. No built-in type will ever have
// such a name.
var ownName = regexp.MustCompile(`^x\.[a-z][a-z0-9_]{0,31}$`)

// ownErrors are the codes of errors that every function may return.
var ownErrors = []string{CodeNodeFailed, CodeNodeTimeout, CodeNodeUnavailable, CodeUnknown, CodeValueType}

// newOwn builds a node type that has a function.
func newOwn(nt NodeType) (*nodeType, error) {
	if nt.Config != nil {
		return nil, fmt.Errorf("flow: node type %q has both Config and Run", nt.Name)
	}
	if nt.Run.in.Kind() != reflect.Struct {
		return nil, fmt.Errorf("flow: the function of node type %q takes a %s, not a struct", nt.Name, nt.Run.in)
	}
	o := &own{name: nt.Name, run: nt.Run, once: !nt.Repeat, pass: nt.pass()}
	var err error
	if nt.Outputs, err = ownOutputs(nt); err == nil {
		err = o.describe()
	}
	if err != nil {
		return nil, fmt.Errorf("flow: node type %q: %w", nt.Name, err)
	}
	for _, output := range nt.Outputs {
		o.outputs = append(o.outputs, output.Name)
	}
	nt.Group, nt.Effect = cmp.Or(nt.Group, "data"), cmp.Or(nt.Effect, string(CallNode))
	nt.Errors = slices.Concat(nt.Errors, ownErrors)
	nt.Config = func() Config { return &ownConfig{own: o} }
	return &nodeType{NodeType: nt, shape: ownShape(), own: o}, nil
}

// ownOutputs returns the outputs of a node type with a function, which always
// include error.
func ownOutputs(nt NodeType) ([]Output, error) {
	outs := slices.Clone(nt.Outputs)
	if len(outs) == 0 {
		outs = []Output{{"out", "done"}}
	}
	seen := map[string]bool{}
	for _, o := range outs {
		if !values.Patterns["id"]().MatchString(o.Name) || seen[o.Name] {
			return nil, fmt.Errorf("its output %q is given twice, or does not match %s", o.Name, values.Patterns["id"]())
		}
		seen[o.Name] = true
	}
	if !seen[nt.pass()] || nt.pass() == "error" {
		return nil, fmt.Errorf("it has no output %q, by which it is left unless its function says otherwise: see Pass", nt.pass())
	}
	if !seen["error"] {
		outs = append(outs, Output{"error", "it failed"})
	}
	return outs, nil
}

// ownShape returns the shape of the members that all nodes with functions have.
var ownShape = sync.OnceValue(func() *shape {
	s, err := shapeOf(&ownConfig{})
	if err != nil {
		panic(err) // a bug in this package, which every test would find
	}
	return s
})

// describe derives the shapes from the tags of In.
func (o *own) describe() (err error) {
	if o.plain, err = shapeOf(reflect.New(o.run.in).Interface()); err != nil {
		return err
	}
	if err = o.plain.allowed(); err != nil {
		return err
	}
	common := ownShape()
	for _, name := range fieldNames(common) {
		if slices.Contains(fieldNames(o.plain), name) {
			return errors.New(name + " is a member of every node: call it otherwise")
		}
	}
	o.open = o.plain.opened(&rules{})
	o.all = &shape{form: formStruct, fields: slices.Concat(o.open.fields, common.fields)}
	return nil
}

// allowed refuses types that functions cannot get.
func (s *shape) allowed() error {
	switch s.form {
	case formText, formExpression, formData, formSchema:
		return errors.New("a function takes plain types: string instead of Text, any instead of Data and Expression")
	case formPointer, formList, formMap:
		return s.elem.allowed()
	}
	for i := range s.fields {
		f := &s.fields[i]
		err := f.shape.allowed()
		if f.writes {
			err = errors.New("a function writes no variables: saveTo names the one that takes its result")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// opened returns s with templates where they are allowed: in texts without enum or
// pattern, in numbers and in values of any type.
func (s *shape) opened(r *rules) *shape {
	switch s.form {
	case formString:
		if r.enum != nil || r.pattern != "" {
			return s
		}
		return &shape{form: formOpen, elem: s}
	case formInteger, formNumber, formAny:
		return &shape{form: formOpen, elem: s}
	case formPointer:
		return &shape{form: s.form, elem: s.elem.opened(r)}
	case formList, formMap:
		return &shape{form: s.form, elem: s.elem.opened(r.items())}
	case formStruct:
		out := &shape{form: s.form, fields: slices.Clone(s.fields)}
		for i := range out.fields {
			out.fields[i].shape = s.fields[i].shape.opened(&s.fields[i].rules)
		}
		return out
	}
	return s
}

// decode decodes the configuration of a node of the type. It stores the members of
// all nodes with functions in c. Of the other members it checks only the shape,
// since their templates are not rendered yet.
func (o *own) decode(d decoder, config *tree, c *ownConfig) {
	d.known(config, o.all)
	d.members(config, reflect.ValueOf(c).Elem(), ownShape())
	d.members(config, reflect.New(o.run.in).Elem(), o.open)
	rest := &tree{kind: kindObject}
	for _, m := range config.members {
		if o.open.field(m.name) != nil {
			rest.members = append(rest.members, m)
		}
	}
	c.given = Data{source: rest}
}

// field returns the member with a name, or nil.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if f := &s.fields[i]; f.name == name || f.alias == name && name != "" {
			return f
		}
	}
	return nil
}

// open decodes a member that may be a template.
func (d decoder) open(v *tree, to reflect.Value, s *shape, r *rules) {
	if v.kind != kindString || !strings.Contains(v.text, "{{") {
		d.value(v, to, s.elem, r)
		return
	}
	d.template(v.text, r)
}

// declaredAs maps forms to the declared type that they accept.
var declaredAs = map[form]string{formString: "string", formInteger: "integer", formNumber: "number", formAny: "any"}

// own compiles the templates in the configuration of a node with a function.
func (c *compiler) own(config *ownConfig) {
	config.given.root = c.data(config.given.source, 0)
	c.fits(config.given.root, config.own.open)
}

// fits reports templates whose values cannot have the type of their member.
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

// at returns the shape of a member or an item; nil: unknown.
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

// Refer checks the credentials in the configuration of a node.
func (c *ownConfig) Refer(k *Checker, env *Environment) {
	k.credentials(c.given.source, c.own.plain, &rules{}, env)
}

func (k *Checker) credentials(v *tree, s *shape, r *rules, env *Environment, at ...any) {
	switch s.form {
	case formString:
		if r.pattern == "credential" && v.kind == kindString {
			k.Refer("credential", v.text, env.Credentials, at...)
		}
	case formPointer:
		k.credentials(v, s.elem, r, env, at...)
	case formStruct:
		for _, m := range v.members {
			if f := s.field(m.name); f != nil {
				k.credentials(m.value, f.shape, &f.rules, env, values.Below(at, m.name)...)
			}
		}
	case formMap:
		for _, m := range v.members {
			k.credentials(m.value, s.elem, r.items(), env, values.Below(at, m.name)...)
		}
	case formList:
		for i, item := range v.items {
			k.credentials(item, s.elem, r.items(), env, values.Below(at, i)...)
		}
	}
}

// gone replaces a node type that the program no longer has. A run fails at a node
// of it.
type gone struct {
	SaveTo string `json:"saveTo" pattern:"variable" writes:"true"`
	name   string
}

// newGone returns a replacement for a missing node type.
func newGone(name string) *nodeType {
	return &nodeType{NodeType: NodeType{Name: name, Wait: "gone"}, shape: goneShape()}
}

var goneShape = sync.OnceValue(func() *shape {
	s, err := shapeOf(&gone{})
	if err != nil {
		panic(err) // a bug in this package, which every test would find
	}
	return s
})

// goneConfig keeps the name of the variable that the node writes. The variable then
// exists, and the rest of the document keeps its meaning.
func goneConfig(name string, config *tree) *gone {
	g := &gone{name: name}
	decoder{&report{}}.members(config, reflect.ValueOf(g).Elem(), goneShape())
	return g
}

func (*gone) Outputs() []string { return nil }
func (*gone) Check(*Checker)    {}

// Step fails: the program has no code for the node.
func (g *gone) Step(*Turn) (Exit, error) { return Exit{}, noType(g.name) }

// Resume fails, whatever the result of the function.
func (g *gone) Resume(*Turn, Input) (Exit, error) { return Exit{}, noType(g.name) }

func noType(name string) *Error {
	return &Error{Code: codeNoType, Message: "This program has no node type " + values.Shorten(name) + "."}
}
