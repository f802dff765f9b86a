package expression

import (
	"math"
	"strings"
)

// and, or and not treat nothing as false.
type and struct {
	left, right node
	at          int
}

func (n *and) eval(m *machine) (any, error) { return shortcut(m, n.left, n.right, false, n.at) }

type or struct {
	left, right node
	at          int
}

func (n *or) eval(m *machine) (any, error) { return shortcut(m, n.left, n.right, true, n.at) }

// shortcut evaluates right only if left does not decide.
func shortcut(m *machine, left, right node, decides bool, at int) (any, error) {
	if err := m.step(1, at); err != nil {
		return nil, err
	}
	v, err := condition(m, left, at)
	if err != nil || v == decides {
		return v, err
	}
	return condition(m, right, at)
}

func condition(m *machine, n node, at int) (bool, error) {
	v, err := n.eval(m)
	if err != nil {
		return false, err
	}
	return truth(v, at)
}

type not struct {
	of node
	at int
}

func (n *not) eval(m *machine) (any, error) {
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	v, err := condition(m, n.of, n.at)
	return !v, err
}

// coalesce is a ?? b.
type coalesce struct {
	left, right node
	at          int
}

func (n *coalesce) eval(m *machine) (any, error) {
	v, err := n.left.eval(m)
	if err != nil || v != nil {
		return v, err
	}
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	return n.right.eval(m)
}

type negate struct {
	of node
	at int
}

func (n *negate) eval(m *machine) (any, error) {
	v, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	return arithmetic(m, "-", 0, v, n.at)
}

// binary is an operator on two values.
type binary struct {
	operator    string
	left, right node
	apply       func(m *machine, operator string, a, b any, at int) (any, error)
	at          int
}

func (n *binary) eval(m *machine) (any, error) {
	a, err := n.left.eval(m)
	if err != nil {
		return nil, err
	}
	b, err := n.right.eval(m)
	if err != nil {
		return nil, err
	}
	return n.apply(m, n.operator, a, b, n.at)
}

// chain is a < b <= c. It evaluates each operand once.
type chain struct {
	operands  []node
	operators []string
	at        int
}

func (n *chain) eval(m *machine) (any, error) {
	left, err := n.operands[0].eval(m)
	if err != nil {
		return nil, err
	}
	for i, operator := range n.operators {
		right, err := n.operands[i+1].eval(m)
		if err != nil {
			return nil, err
		}
		v, err := ordering(m, operator, left, right, n.at)
		if err != nil || v == false {
			return v, err
		}
		left = right
	}
	return true, nil
}

// equality implements == and !=. Values of different kinds are not equal.
func equality(m *machine, operator string, a, b any, at int) (any, error) {
	same, err := m.equal(a, b, 1, at)
	return same == (operator == "=="), err
}

// ordering implements <, <=, > and >= for numbers, texts and dates.
func ordering(m *machine, operator string, a, b any, at int) (any, error) {
	if err := m.step(1, at); err != nil {
		return nil, err
	}
	if a == nil || b == nil {
		return false, nil
	}
	if s, ok := a.(string); ok {
		if err := m.scan(len(s), at); err != nil {
			return nil, err
		}
	}
	order, ok := compare(a, b)
	if !ok || kindOf(a) == Bool {
		return nil, unordered(a, b, at)
	}
	switch operator {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	default:
		return order >= 0, nil
	}
}

func unordered(a, b any, at int) *Error {
	err := fail(CodeType, at, "compares a %s with a %s", kindOf(a), kindOf(b))
	if kinds := kindOf(a) | kindOf(b); kinds == Text|Number {
		return err.hint("write number(…) around the text")
	}
	return err
}

// within implements `in`: an element of a list, a member of an object.
func within(m *machine, _ string, a, b any, at int) (any, error) {
	switch b := b.(type) {
	case nil:
		return false, m.step(1, at)
	case []any:
		return m.includes(b, a, at)
	case map[string]any:
		name, ok := a.(string)
		if !ok {
			return false, m.step(1, at)
		}
		_, ok = b[name]
		return ok, m.step(1, at)
	}
	return nil, fail(CodeType, at, "searches in a %s", kindOf(b)).hint("to find a part of a text, write text contains part")
}

func (m *machine) includes(list []any, v any, at int) (bool, error) {
	for _, item := range list {
		same, err := m.equalElements(item, v, 1, at)
		if same || err != nil {
			return same, err
		}
	}
	return false, m.step(1, at)
}

// textual implements contains, startsWith and endsWith. contains also searches
// lists.
func textual(m *machine, operator string, a, b any, at int) (any, error) {
	if list, ok := a.([]any); ok && operator == "contains" {
		return m.includes(list, b, at)
	}
	if a == nil || b == nil {
		return false, m.step(1, at)
	}
	s, ok := a.(string)
	part, ok2 := b.(string)
	if !ok || !ok2 {
		return nil, fail(CodeType, at, "uses %s on a %s and a %s", operator, kindOf(a), kindOf(b)).hint("write string(…)")
	}
	if err := m.scan(len(s)+len(part), at); err != nil {
		return nil, err
	}
	switch operator {
	case "contains":
		return strings.Contains(s, part), nil
	case "startsWith":
		return strings.HasPrefix(s, part), nil
	default:
		return strings.HasSuffix(s, part), nil
	}
}

// span implements a..b: the whole numbers from a to b.
func span(m *machine, _ string, a, b any, at int) (any, error) {
	from, ok := whole(a)
	to, ok2 := whole(b)
	if !ok || !ok2 {
		return nil, fail(CodeType, at, "makes a range of numbers that are not whole")
	}
	if to < from {
		return []any{}, m.step(1, at)
	}
	n := to - from + 1
	if n <= 0 { // more than an int can hold
		n = math.MaxInt
	}
	if err := m.list(n, at); err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		out[i] = from + i
	}
	return out, nil
}
