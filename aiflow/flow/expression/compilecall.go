package expression

import (
	"github.com/expr-lang/expr/ast"
)

// call compiles a call of a function of this package.
func (c *compiler) call(n *ast.CallNode) (node, Type, error) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, Type{}, fail(CodeUnknownFunction, c.at(n), "calls a method, but values have no methods").hint("write function(value)")
	}
	at := c.at(n)
	f, ok := functions()[callee.Value]
	if !ok {
		return nil, Type{}, c.unknownFunction(callee.Value, at)
	}
	if len(n.Arguments) < f.required || len(n.Arguments) > f.limit() {
		return nil, Type{}, fail(CodeArguments, at, "passes %d arguments to %s", len(n.Arguments), f.Name).hint("the signature is %s", f.Signature)
	}
	out := &call{f: f, args: make([]node, len(n.Arguments)), at: at}
	for i, arg := range n.Arguments {
		v, t, err := c.compile(arg)
		if err != nil {
			return nil, Type{}, err
		}
		p := f.param(i)
		if !t.may(p.kind | Nothing) {
			return nil, Type{}, fail(CodeType, c.at(arg), "passes a %s to %s as %s", t.kind(), f.Name, p.name).hint("the signature is %s", f.Signature)
		}
		if p.regex {
			if v, err = c.regex(v, c.at(arg)); err != nil {
				return nil, Type{}, err
			}
		}
		out.args[i] = v
	}
	c.dates = c.dates || f.result&Date != 0
	return out, Type{Kind: f.result}, nil
}

func (c *compiler) unknownFunction(name string, at int) *Error {
	err := fail(CodeUnknownFunction, at, "calls %q, which does not exist", name)
	if _, ok := c.scope.lookup(name); ok {
		return err.hint("%s is a value: write it without brackets", name)
	}
	names := sortedFunctions()
	for p := range predicates {
		names = append(names, p)
	}
	return suggest(err, name, names)
}

// regex turns a literal into a constant with the compiled pattern.
func (c *compiler) regex(n node, at int) (node, error) {
	literal, ok := n.(*constant)
	source, isText := "", false
	if ok {
		source, isText = literal.value.(string)
	}
	if !isText {
		return nil, fail(CodeRegex, at, "has a regular expression that is not a constant").hint("write it as a text in quotes")
	}
	p, err := compilePattern(source)
	if err != nil {
		return nil, fail(CodeRegex, at, "has a regular expression that is not valid: %v", err)
	}
	return &constant{p}, nil
}
