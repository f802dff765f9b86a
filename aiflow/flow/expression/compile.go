package expression

import (
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Compile compiles an expression. Names must be in scope, functions must exist, and
// declared types must match. Every error is an [*Error].
func Compile(src string, scope *Scope) (p *Program, err error) {
	defer func() {
		if recover() != nil {
			p, err = nil, fail(CodeInternal, 0, "could not be compiled")
		}
	}()
	tree, err := parse(src)
	if err != nil {
		return nil, err
	}
	c := &compiler{src: src, scope: scope}
	body, t, err := c.compile(tree)
	if err != nil {
		return nil, err
	}
	t.Kind = t.kind()
	return &Program{body: body, kind: t, locals: c.slots, dates: c.dates}, nil
}

// parse checks the limits and returns the syntax tree.
func parse(src string) (ast.Node, error) {
	if len(src) > MaxChars && utf8.RuneCountInString(src) > MaxChars {
		return nil, fail(CodeTooLong, 0, "is longer than %d characters", MaxChars)
	}
	if !utf8.ValidString(src) {
		return nil, fail(CodeSyntax, validPrefix(src), "is not UTF-8")
	}
	if strings.TrimSpace(src) == "" {
		return nil, fail(CodeSyntax, 0, "is empty")
	}
	tree, err := parser.ParseWithConfig(src, grammar())
	if err != nil {
		return nil, syntaxError(src, err)
	}
	return tree.Node, nil
}

// grammar returns the configuration of the parser. Builtins of expr without a
// predicate are plain calls, which the compiler looks up itself. The parser
// modifies the configuration, so each parse needs its own.
func grammar() *conf.Config { return &conf.Config{MaxNodes: MaxNodes, Disabled: disabled()} }

var disabled = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool, len(builtin.Names))
	for _, name := range builtin.Names {
		all[name] = true
	}
	return all
})

func validPrefix(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return 0
}

func syntaxError(src string, err error) *Error {
	var e *file.Error
	if !errors.As(err, &e) {
		return fail(CodeSyntax, 0, "is not valid: %v", err)
	}
	at := offset(src, e.From)
	if strings.Contains(e.Message, "maximum allowed nodes") {
		return fail(CodeTooManyNodes, at, "has more than %d parts", MaxNodes).hint("split it into several variables")
	}
	found := fail(CodeSyntax, at, "is not valid: %s", e.Message)
	if strings.Contains(e.Message, `Operator("=")`) {
		return found.hint("write == to compare; an expression cannot assign")
	}
	return found
}

// compiler turns a syntax tree into nodes and derives their types.
type compiler struct {
	src   string
	scope *Scope
	slots int
	dates bool // the result may contain a date

	lets  []letVariable // those in scope, innermost last
	loops []loopVariable
}

type letVariable struct {
	name string
	slot int
	kind Type
}

type loopVariable struct {
	slot int
	item Type
}

// at returns the byte offset of a node; the parser counts characters.
func (c *compiler) at(n ast.Node) int { return offset(c.src, n.Location().From) }

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

func (c *compiler) compile(n ast.Node) (node, Type, error) {
	switch n := n.(type) {
	case *ast.NilNode:
		return &constant{nil}, Type{Kind: Nothing}, nil
	case *ast.BoolNode:
		return &constant{n.Value}, Type{Kind: Bool}, nil
	case *ast.IntegerNode:
		return &constant{n.Value}, Type{Kind: Number}, nil
	case *ast.FloatNode:
		return &constant{n.Value}, Type{Kind: Number}, nil
	case *ast.StringNode:
		if !utf8.ValidString(n.Value) {
			return nil, Type{}, fail(CodeSyntax, c.at(n), "has a text that is not UTF-8")
		}
		return &constant{n.Value}, Type{Kind: Text}, nil
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.ChainNode: // a?.b: members of nothing are nothing anyway
		return c.compile(n.Node)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.CallNode:
		return c.call(n)
	}
	return c.compound(n)
}

func (c *compiler) compound(n ast.Node) (node, Type, error) {
	switch n := n.(type) {
	case *ast.BuiltinNode:
		return c.loop(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.ArrayNode:
		return c.list(n)
	case *ast.MapNode:
		return c.object(n)
	case *ast.SequenceNode:
		return nil, Type{}, fail(CodeSyntax, c.at(n.Nodes[1]), "has several expressions").hint("write one expression, or let x = …; …")
	case *ast.BytesNode:
		return nil, Type{}, fail(CodeSyntax, c.at(n), "has bytes, which are not a type of value").hint(`write "…" without b`)
	}
	return nil, Type{}, fail(CodeSyntax, 0, "has syntax that is not supported")
}

func (c *compiler) identifier(n *ast.IdentifierNode) (node, Type, error) {
	at := c.at(n)
	for i := len(c.lets) - 1; i >= 0; i-- {
		if v := c.lets[i]; v.name == n.Value {
			return &variable{v.slot, at}, v.kind, nil
		}
	}
	t, ok := c.scope.lookup(n.Value)
	if !ok {
		return nil, Type{}, c.unknownName(n.Value, at)
	}
	c.dates = c.dates || t.kind() == Date
	return &root{n.Value, at}, t, nil
}

func (c *compiler) unknownName(name string, at int) *Error {
	err := fail(CodeUnknownName, at, "uses %q, which does not exist", name)
	if _, ok := functions()[name]; ok {
		return err.hint("%s is a function: write %s(…)", name, name)
	}
	if vars, ok := c.scope.lookup("vars"); ok {
		if _, ok := vars.Fields[name]; ok {
			return err.hint("write vars.%s", name)
		}
	}
	if name == "null" {
		return err.hint("write nil")
	}
	return suggest(err, name, c.scope.sorted())
}

func (c *compiler) pointer(n *ast.PointerNode) (node, Type, error) {
	at := c.at(n)
	here := c.loops[len(c.loops)-1]
	t := here.item
	switch n.Name {
	case "":
	case "index":
		t = Type{Kind: Number}
	case "acc":
		t = Type{}
	default:
		return nil, Type{}, fail(CodeUnknownName, at, "uses #%s, which does not exist", n.Name).hint("use #, #index or, in reduce, #acc")
	}
	return &pointer{here.slot, n.Name, at}, t, nil
}

func (c *compiler) member(n *ast.MemberNode) (node, Type, error) {
	of, t, err := c.compile(n.Node)
	if err != nil {
		return nil, Type{}, err
	}
	if name, ok := n.Property.(*ast.StringNode); ok && !c.computed(n) {
		return c.named(of, t, name.Value, c.at(n))
	}
	key, keyType, err := c.compile(n.Property)
	if err != nil {
		return nil, Type{}, err
	}
	at := c.at(n)
	if k, ok := key.(*constant); ok && t.kind()&^Nothing == Map {
		if name, ok := k.value.(string); ok {
			return c.named(of, t, name, at)
		}
	}
	if err := need(t, List|Map|Text|Nothing, at, "takes an element of"); err != nil {
		return nil, Type{}, err
	}
	if err := need(keyType, Number|Text|Nothing, at, "takes an element by"); err != nil {
		return nil, Type{}, err
	}
	return &index{of, key, at}, element(t), nil
}

// computed distinguishes a["b"] from a.b, which the parser represents alike.
func (c *compiler) computed(n *ast.MemberNode) bool {
	at := c.at(n)
	return at < len(c.src) && c.src[at] == '['
}

func element(t Type) Type {
	switch t.kind() &^ Nothing {
	case List:
		return t.items()
	case Text:
		return Type{Kind: Text}
	}
	return Type{}
}

// named returns a node for a member with a constant name.
func (c *compiler) named(of node, t Type, name string, at int) (node, Type, error) {
	if !t.may(Map | Nothing) {
		err := fail(CodeType, at, "reads the member %q of a %s", name, t.kind())
		if name == "length" || name == "size" {
			return nil, Type{}, err.hint("write len(…)")
		}
		return nil, Type{}, err
	}
	n := &member{of, name, at}
	if t.Fields == nil || t.kind()&^Nothing != Map {
		return n, Type{}, nil
	}
	field, ok := t.Fields[name]
	if !ok {
		err := fail(CodeUnknownMember, at, "uses the member %q, which is not declared", name)
		return nil, Type{}, suggest(err, name, sortedTypes(t.Fields))
	}
	c.dates = c.dates || field.kind() == Date
	return n, field, nil
}

func (c *compiler) slice(n *ast.SliceNode) (node, Type, error) {
	at := c.at(n)
	of, t, err := c.compile(n.Node)
	if err != nil {
		return nil, Type{}, err
	}
	if err := need(t, List|Text|Nothing, at, "takes a part of"); err != nil {
		return nil, Type{}, err
	}
	out := &slice{of: of, at: at}
	if out.from, err = c.bound(n.From, at); err != nil {
		return nil, Type{}, err
	}
	if out.to, err = c.bound(n.To, at); err != nil {
		return nil, Type{}, err
	}
	return out, t, nil
}

func (c *compiler) bound(n ast.Node, at int) (node, error) {
	if n == nil {
		return nil, nil
	}
	bound, t, err := c.compile(n)
	if err != nil {
		return nil, err
	}
	return bound, need(t, Number|Nothing, at, "takes a part up to")
}

func (c *compiler) list(n *ast.ArrayNode) (node, Type, error) {
	out := &list{items: make([]node, len(n.Nodes)), at: c.at(n)}
	for i, item := range n.Nodes {
		var err error
		if out.items[i], _, err = c.compile(item); err != nil {
			return nil, Type{}, err
		}
	}
	return out, Type{Kind: List}, nil
}

func (c *compiler) object(n *ast.MapNode) (node, Type, error) {
	out := &object{pairs: make([]pair, len(n.Pairs)), at: c.at(n)}
	for i, p := range n.Pairs {
		p, ok := p.(*ast.PairNode)
		if !ok {
			return nil, Type{}, fail(CodeSyntax, out.at, "has an object that cannot be read")
		}
		var err error
		if out.pairs[i].key, _, err = c.compile(p.Key); err != nil {
			return nil, Type{}, err
		}
		if out.pairs[i].value, _, err = c.compile(p.Value); err != nil {
			return nil, Type{}, err
		}
	}
	return out, Type{Kind: Map}, nil
}
