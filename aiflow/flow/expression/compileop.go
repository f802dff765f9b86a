package expression

import (
	"github.com/expr-lang/expr/ast"
)

func (c *compiler) unary(n *ast.UnaryNode) (node, Type, error) {
	at := c.at(n)
	of, t, err := c.compile(n.Node)
	if err != nil {
		return nil, Type{}, err
	}
	switch n.Operator {
	case "!", "not":
		return &not{of, at}, Type{Kind: Bool}, need(t, Bool|Nothing, at, "negates")
	case "-":
		if k, ok := of.(*constant); ok && kindOf(k.value) == Number {
			v, err := arithmetic(&machine{steps: 1}, "-", 0, k.value, at)
			return &constant{v}, t, err
		}
		return &negate{of, at}, Type{Kind: Number}, need(t, Number, at, "uses - on")
	default: // +
		return &binary{"+", &constant{0}, of, arithmetic, at}, Type{Kind: Number}, need(t, Number, at, "uses + on")
	}
}

// need checks that a value may be of one of the kinds.
func need(t Type, kinds Kind, at int, what string) error {
	if t.may(kinds) {
		return nil
	}
	return fail(CodeType, at, "%s a %s", what, t.kind())
}

func (c *compiler) binary(n *ast.BinaryNode) (node, Type, error) {
	at := c.at(n)
	if operands, operators := unchain(n); operands != nil {
		return c.chain(operands, operators, at)
	}
	left, a, err := c.compile(n.Left)
	if err != nil {
		return nil, Type{}, err
	}
	right, b, err := c.compile(n.Right)
	if err != nil {
		return nil, Type{}, err
	}
	switch n.Operator {
	case "and", "&&":
		return &and{left, right, at}, Type{Kind: Bool}, needBoth(a, b, Bool|Nothing, at, "joins with and")
	case "or", "||":
		return &or{left, right, at}, Type{Kind: Bool}, needBoth(a, b, Bool|Nothing, at, "joins with or")
	case "??":
		return &coalesce{left, right, at}, either(a, b), nil
	case "matches":
		re, err := c.regex(right, c.at(n.Right))
		if err != nil {
			return nil, Type{}, err
		}
		return &binary{"matches", left, re, matches, at}, Type{Kind: Bool}, need(a, Text|Nothing, at, "matches")
	}
	return c.plainBinary(n.Operator, left, right, a, b, at)
}

// plainBinary compiles an operator that always evaluates both operands.
func (c *compiler) plainBinary(operator string, left, right node, a, b Type, at int) (node, Type, error) {
	out := &binary{operator: operator, left: left, right: right, at: at}
	switch operator {
	case "==", "!=":
		out.apply = equality
		return out, Type{Kind: Bool}, nil
	case "<", "<=", ">", ">=":
		out.apply = ordering
		return out, Type{Kind: Bool}, comparable(a, b, at)
	case "in":
		out.apply = within
		return out, Type{Kind: Bool}, need(b, List|Map|Nothing, at, "searches in")
	case "contains", "startsWith", "endsWith":
		out.apply = textual
		return out, Type{Kind: Bool}, texts(operator, a, b, at)
	case "..":
		out.apply = span
		return out, Type{Kind: List, Items: &Type{Kind: Number}}, needBoth(a, b, Number, at, "makes a range of")
	case "+":
		out.apply = add
		return c.sum(out, a, b)
	case "-", "*", "/", "%", "**", "^":
		out.apply = arithmetic
		return out, Type{Kind: Number}, needBoth(a, b, Number, at, "uses "+operator+" on")
	}
	return nil, Type{}, fail(CodeSyntax, at, "uses the operator %s, which is not supported", operator)
}

func (c *compiler) sum(out *binary, a, b Type) (node, Type, error) {
	kinds := a.kind() & b.kind() & (Number | Text)
	if kinds == 0 {
		err := fail(CodeType, out.at, "adds a %s and a %s", a.kind(), b.kind())
		if a.may(Text) || b.may(Text) {
			return nil, Type{}, err.hint("write string(…) to join texts, or number(…) to add numbers")
		}
		if a.may(List) && b.may(List) {
			return nil, Type{}, err.hint("write concat(…) to join lists")
		}
		return nil, Type{}, err
	}
	return out, Type{Kind: kinds}, nil
}

func needBoth(a, b Type, kinds Kind, at int, what string) error {
	if err := need(a, kinds, at, what); err != nil {
		return err
	}
	return need(b, kinds, at, what)
}

// texts checks the operands of contains, startsWith and endsWith.
func texts(operator string, a, b Type, at int) error {
	kinds := Text | Nothing
	if operator == "contains" {
		kinds |= List
	}
	if err := need(a, kinds, at, "uses "+operator+" on"); err != nil {
		return err
	}
	if a.may(List) && operator == "contains" {
		return nil
	}
	return need(b, Text|Nothing, at, "uses "+operator+" with")
}

// comparable checks the operands of <, <=, > and >=.
func comparable(a, b Type, at int) error {
	if a.may(Nothing) || b.may(Nothing) ||
		a.may(Number) && b.may(Number) || a.may(Text|Date) && b.may(Text|Date) {
		return nil
	}
	return fail(CodeType, at, "compares a %s with a %s", a.kind(), b.kind())
}

// either returns the type of a value that has one of two types.
func either(a, b Type) Type {
	if a.kind()&^Nothing == b.kind()&^Nothing && a.Fields == nil && b.Fields == nil && a.Items == b.Items {
		return Type{Kind: a.kind() | b.kind(), Items: a.Items}
	}
	return Type{Kind: a.kind() | b.kind()}
}

func (c *compiler) conditional(n *ast.ConditionalNode) (node, Type, error) {
	out := &conditional{at: c.at(n.Cond)}
	cond, t, err := c.compile(n.Cond)
	if err != nil {
		return nil, Type{}, err
	}
	out.cond = cond
	if err := need(t, Bool|Nothing, out.at, "uses as a condition"); err != nil {
		return nil, Type{}, err
	}
	if n.Exp1 != n.Cond { // a ?: b has one node twice; compiling it twice would double the work at each level
		if out.then, t, err = c.compile(n.Exp1); err != nil {
			return nil, Type{}, err
		}
	}
	otherwise, other, err := c.compile(n.Exp2)
	if err != nil {
		return nil, Type{}, err
	}
	out.otherwise = otherwise
	return out, either(t, other), nil
}

// unchain splits a < b < c. The parser represents it as a < b && b < c with one
// node for both b. Compiling that node twice would double the work at each level of
// nesting. unchain returns nil for any other expression.
func unchain(n *ast.BinaryNode) (operands []ast.Node, operators []string) {
	if n.Operator != "&&" {
		return nil, nil
	}
	last, ok := n.Right.(*ast.BinaryNode)
	if !ok {
		return nil, nil
	}
	before, ok := n.Left.(*ast.BinaryNode)
	if !ok {
		return nil, nil
	}
	operands, operators = unchain(before)
	if operands == nil {
		operands, operators = []ast.Node{before.Left, before.Right}, []string{before.Operator}
	}
	if operands[len(operands)-1] != last.Left {
		return nil, nil
	}
	return append(operands, last.Right), append(operators, last.Operator)
}

func (c *compiler) chain(operands []ast.Node, operators []string, at int) (node, Type, error) {
	out := &chain{operators: operators, at: at}
	before := Type{}
	for i, operand := range operands {
		n, t, err := c.compile(operand)
		if err != nil {
			return nil, Type{}, err
		}
		if i > 0 {
			if err := comparable(before, t, at); err != nil {
				return nil, Type{}, err
			}
		}
		out.operands = append(out.operands, n)
		before = t
	}
	return out, Type{Kind: Bool}, nil
}
