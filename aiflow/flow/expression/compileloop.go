package expression

import (
	"github.com/expr-lang/expr/ast"
)

func (c *compiler) let(n *ast.VariableDeclaratorNode) (node, Type, error) {
	value, t, err := c.compile(n.Value)
	if err != nil {
		return nil, Type{}, err
	}
	if _, ok := c.scope.lookup(n.Name); ok {
		return nil, Type{}, fail(CodeSyntax, c.at(n), "uses the name %q again, which already has a meaning", n.Name)
	}
	out := &let{slot: c.slot(), value: value}
	c.lets = append(c.lets, letVariable{n.Name, out.slot, t})
	out.body, t, err = c.compile(n.Expr)
	c.lets = c.lets[:len(c.lets)-1]
	return out, t, err
}

// loop compiles a function with a predicate.
func (c *compiler) loop(n *ast.BuiltinNode) (node, Type, error) {
	at := c.at(n)
	p, ok := predicates[n.Name]
	if !ok || len(n.Arguments) == 0 {
		return nil, Type{}, c.unknownFunction(n.Name, at)
	}
	source, t, err := c.compile(n.Arguments[0])
	if err != nil {
		return nil, Type{}, err
	}
	if err := need(t, List|Nothing, at, "calls "+n.Name+" with"); err != nil {
		return nil, Type{}, err
	}
	out := &loop{name: n.Name, list: source, slot: c.slot(), at: at, run: p.run}
	bodyType := element(t)
	if len(n.Arguments) > 1 {
		c.loops = append(c.loops, loopVariable{out.slot, element(t)})
		out.body, bodyType, err = c.predicate(n.Arguments[1])
		c.loops = c.loops[:len(c.loops)-1]
		if err != nil {
			return nil, Type{}, err
		}
	}
	if p.bool {
		if err := need(bodyType, Bool|Nothing, at, "has as the condition of "+n.Name); err != nil {
			return nil, Type{}, err
		}
	}
	if len(n.Arguments) > 2 {
		if out.extra, _, err = c.compile(n.Arguments[2]); err != nil {
			return nil, Type{}, err
		}
	}
	return out, loopType(n.Name, p.result, t, bodyType), nil
}

func (c *compiler) predicate(n ast.Node) (node, Type, error) {
	if p, ok := n.(*ast.PredicateNode); ok {
		n = p.Node
	}
	return c.compile(n)
}

// loopType returns the type of a loop over a list of type t.
func loopType(name string, result Kind, t, body Type) Type {
	switch name {
	case "filter", "sortBy":
		return Type{Kind: List, Items: t.Items}
	case "map":
		return Type{Kind: List, Items: &body}
	case "find", "findLast":
		item := t.items()
		item.Kind = item.kind() | Nothing
		return item
	}
	return Type{Kind: result}
}
