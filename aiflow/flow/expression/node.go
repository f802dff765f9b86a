package expression

import (
	"strconv"
	"unicode/utf8"
)

// node is a part of a compiled expression. eval charges a step for each node that
// is not a constant, and returns a normal value.
type node interface {
	eval(m *machine) (any, error)
}

type constant struct{ value any }

func (n *constant) eval(*machine) (any, error) { return n.value, nil }

// root is a name of the scope.
type root struct {
	name string
	at   int
}

func (n *root) eval(m *machine) (any, error) {
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	return normal(m.env[n.name], n.at)
}

// variable is a variable declared by `let`.
type variable struct{ slot, at int }

func (n *variable) eval(m *machine) (any, error) {
	return m.locals[n.slot].value, m.step(1, n.at)
}

type let struct {
	slot  int
	value node
	body  node
}

func (n *let) eval(m *machine) (any, error) {
	v, err := n.value.eval(m)
	if err != nil {
		return nil, err
	}
	m.locals[n.slot].value = v
	return n.body.eval(m)
}

// member is a member of an object with a constant name: a.b.
type member struct {
	of   node
	name string
	at   int
}

func (n *member) eval(m *machine) (any, error) {
	of, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case map[string]any:
		return normal(of[n.name], n.at)
	case nil:
		return nil, nil
	}
	return nil, fail(CodeType, n.at, "reads the member %q of a %s", n.name, kindOf(of))
}

// index is a member or an element with a computed key: a[b].
type index struct {
	of, key node
	at      int
}

func (n *index) eval(m *machine) (any, error) {
	of, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	key, err := n.key.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	if of == nil || key == nil {
		return nil, nil
	}
	switch of := of.(type) {
	case map[string]any:
		return n.entry(of, key)
	case []any:
		return n.element(of, key)
	case string:
		return n.character(m, of, key)
	}
	return nil, fail(CodeType, n.at, "takes an element of a %s", kindOf(of))
}

func (n *index) entry(of map[string]any, key any) (any, error) {
	switch key := key.(type) {
	case string:
		return normal(of[key], n.at)
	case int:
		return normal(of[strconv.Itoa(key)], n.at)
	}
	return nil, fail(CodeType, n.at, "reads a member of an object by a %s", kindOf(key))
}

func (n *index) element(of []any, key any) (any, error) {
	i, ok := whole(key)
	if !ok {
		return nil, fail(CodeType, n.at, "reads an element of a list by an index that is not a whole number")
	}
	if i < 0 {
		i += len(of)
	}
	if i < 0 || i >= len(of) {
		return nil, nil
	}
	return normal(of[i], n.at)
}

func (n *index) character(m *machine, of string, key any) (any, error) {
	i, ok := whole(key)
	if !ok {
		return nil, fail(CodeType, n.at, "reads a character of a text by an index that is not a whole number")
	}
	length, err := m.length(of, n.at)
	if err != nil {
		return nil, err
	}
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return nil, nil
	}
	from := offset(of, i)
	return of[from : offset(of[from:], 1)+from], nil
}

// length counts the characters of a text.
func (m *machine) length(s string, at int) (int, error) {
	if err := m.scan(len(s), at); err != nil {
		return 0, err
	}
	return utf8.RuneCountInString(s), nil
}

// offset returns the byte offset of the character with index n, or the length of s
// if there is none.
func offset(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// slice is a part of a list or a text: a[from:to]. Bounds that are out of range are
// clamped.
type slice struct {
	of, from, to node // from and to may be nil
	at           int
}

func (n *slice) eval(m *machine) (any, error) {
	of, err := n.of.eval(m)
	if err != nil || of == nil {
		return nil, err
	}
	length := 0
	switch of := of.(type) {
	case []any:
		length = len(of)
	case string:
		if length, err = m.length(of, n.at); err != nil {
			return nil, err
		}
	default:
		return nil, fail(CodeType, n.at, "takes a part of a %s", kindOf(of))
	}
	from, err := n.bound(m, n.from, 0, length)
	if err != nil {
		return nil, err
	}
	to, err := n.bound(m, n.to, length, length)
	if err != nil {
		return nil, err
	}
	from = min(from, to)
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	if list, ok := of.([]any); ok {
		return list[from:to:to], nil
	}
	s, _ := of.(string)
	start := offset(s, from)
	return s[start : start+offset(s[start:], to-from)], nil
}

func (n *slice) bound(m *machine, bound node, missing, length int) (int, error) {
	if bound == nil {
		return missing, nil
	}
	v, err := bound.eval(m)
	if err != nil {
		return 0, err
	}
	if v == nil {
		return missing, nil
	}
	i, ok := whole(v)
	if !ok {
		return 0, fail(CodeType, n.at, "takes a part whose bound is not a whole number")
	}
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length), nil
}

// conditional is `if ? then : otherwise`. A nil then means the value of the
// condition itself (a ?: b).
type conditional struct {
	cond, then, otherwise node
	at                    int
}

func (n *conditional) eval(m *machine) (any, error) {
	v, err := n.cond.eval(m)
	if err != nil {
		return nil, err
	}
	yes, err := truth(v, n.at)
	if err != nil {
		return nil, err
	}
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	switch {
	case !yes:
		return n.otherwise.eval(m)
	case n.then == nil:
		return v, nil
	}
	return n.then.eval(m)
}

// list is [a, b, c].
type list struct {
	items []node
	at    int
}

func (n *list) eval(m *machine) (any, error) {
	if err := m.list(len(n.items), n.at); err != nil {
		return nil, err
	}
	out := make([]any, len(n.items))
	for i, item := range n.items {
		var err error
		if out[i], err = item.eval(m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// object is {a: b}. Of equal keys the last wins.
type object struct {
	pairs []pair
	at    int
}

type pair struct{ key, value node }

func (n *object) eval(m *machine) (any, error) {
	if err := m.grow(len(n.pairs)*entryBytes, n.at); err != nil {
		return nil, err
	}
	if err := m.step(1+len(n.pairs), n.at); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(n.pairs))
	for _, p := range n.pairs {
		key, err := p.key.eval(m)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fail(CodeType, n.at, "has a %s as the name of a member", kindOf(key)).hint("write string(…)")
		}
		if out[name], err = p.value.eval(m); err != nil {
			return nil, err
		}
	}
	return out, nil
}
