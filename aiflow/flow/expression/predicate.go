package expression

import (
	"strings"
)

// loop is a function with a predicate, such as filter(list, # > 1). visit is called
// for each element with the value of the predicate, until it returns false. result
// returns the value of the function.
type loop struct {
	name  string
	list  node
	body  node // nil: the element itself (sum, count)
	extra node // the order of sortBy or the initial value of reduce; may be nil
	slot  int
	at    int
	run   func(n *loop, m *machine, list []any) (any, error)
}

func (n *loop) eval(m *machine) (any, error) {
	v, err := n.list.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, fail(CodeType, n.at, "%s needs a list, not a %s", n.name, kindOf(v))
	}
	out, err := n.run(n, m, list)
	m.locals[n.slot] = local{}
	return out, err
}

// ask evaluates the predicate for element i.
func (n *loop) ask(m *machine, list []any, i int) (any, error) {
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	item, err := normal(list[i], n.at)
	if err != nil || n.body == nil {
		return item, err
	}
	here := &m.locals[n.slot]
	here.value, here.index = item, i
	return n.body.eval(m)
}

// holds evaluates a predicate that is a condition for element i.
func (n *loop) holds(m *machine, list []any, i int) (bool, error) {
	v, err := n.ask(m, list, i)
	if err != nil {
		return false, err
	}
	return truth(v, n.at)
}

// predicates are the functions with a predicate.
var predicates = map[string]struct {
	run    func(n *loop, m *machine, list []any) (any, error)
	bool   bool // the predicate is a condition
	result Kind
}{
	"all":           {runAll, true, Bool},
	"any":           {runAny, true, Bool},
	"none":          {runNone, true, Bool},
	"one":           {runOne, true, Bool},
	"count":         {runCount, true, Number},
	"filter":        {runFilter, true, List},
	"find":          {runFind, true, Any},
	"findIndex":     {runFindIndex, true, Number | Nothing},
	"findLast":      {runFindLast, true, Any},
	"findLastIndex": {runFindLastIndex, true, Number | Nothing},
	"map":           {runMap, false, List},
	"sum":           {runSum, false, Number},
	"groupBy":       {runGroupBy, false, Map},
	"sortBy":        {runSortBy, false, List},
	"reduce":        {runReduce, false, Any},
}

// search returns the index of the first element, from either end, for which the
// predicate has the wanted value, or −1.
func (n *loop) search(m *machine, list []any, want, backward bool) (int, error) {
	for k := range list {
		i := k
		if backward {
			i = len(list) - 1 - k
		}
		yes, err := n.holds(m, list, i)
		if err != nil {
			return -1, err
		}
		if yes == want {
			return i, nil
		}
	}
	return -1, nil
}

func runAll(n *loop, m *machine, list []any) (any, error) {
	i, err := n.search(m, list, false, false)
	return i < 0, err
}

func runAny(n *loop, m *machine, list []any) (any, error) {
	i, err := n.search(m, list, true, false)
	return i >= 0, err
}

func runNone(n *loop, m *machine, list []any) (any, error) {
	i, err := n.search(m, list, true, false)
	return i < 0, err
}

func runOne(n *loop, m *machine, list []any) (any, error) {
	count, err := n.count(m, list)
	return count == 1, err
}

func runCount(n *loop, m *machine, list []any) (any, error) {
	return n.count(m, list)
}

func (n *loop) count(m *machine, list []any) (int, error) {
	count := 0
	for i := range list {
		yes, err := n.holds(m, list, i)
		if err != nil {
			return 0, err
		}
		if yes {
			count++
		}
	}
	return count, nil
}

func runFind(n *loop, m *machine, list []any) (any, error) {
	return n.found(m, list, false)
}

func runFindLast(n *loop, m *machine, list []any) (any, error) {
	return n.found(m, list, true)
}

func (n *loop) found(m *machine, list []any, backward bool) (any, error) {
	i, err := n.search(m, list, true, backward)
	if i < 0 || err != nil {
		return nil, err
	}
	return normal(list[i], n.at)
}

func runFindIndex(n *loop, m *machine, list []any) (any, error) {
	return n.foundIndex(m, list, false)
}

func runFindLastIndex(n *loop, m *machine, list []any) (any, error) {
	return n.foundIndex(m, list, true)
}

func (n *loop) foundIndex(m *machine, list []any, backward bool) (any, error) {
	i, err := n.search(m, list, true, backward)
	if i < 0 || err != nil {
		return nil, err
	}
	return i, nil
}

func runFilter(n *loop, m *machine, list []any) (any, error) {
	out := []any{}
	for i, item := range list {
		yes, err := n.holds(m, list, i)
		if err != nil {
			return nil, err
		}
		if !yes {
			continue
		}
		if err := m.list(1, n.at); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func runMap(n *loop, m *machine, list []any) (any, error) {
	if err := m.list(len(list), n.at); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i := range list {
		var err error
		if out[i], err = n.ask(m, list, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runSum adds numbers. Nothing counts as zero.
func runSum(n *loop, m *machine, list []any) (any, error) {
	var total any = 0
	for i := range list {
		v, err := n.ask(m, list, i)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if total, err = arithmetic(m, "+", total, v, n.at); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// runGroupBy builds an object of lists, by the value of the predicate as text.
func runGroupBy(n *loop, m *machine, list []any) (any, error) {
	groups := map[string]any{}
	for i, item := range list {
		v, err := n.ask(m, list, i)
		if err != nil {
			return nil, err
		}
		key, err := m.text(v, n.at)
		if err != nil {
			return nil, err
		}
		group, ok := groups[key].([]any)
		if !ok {
			if err := m.grow(entryBytes, n.at); err != nil {
				return nil, err
			}
		}
		if err := m.list(1, n.at); err != nil {
			return nil, err
		}
		groups[key] = append(group, item)
	}
	return groups, nil
}

// runReduce carries #acc from element to element. It begins with the third argument
// or, without it, the first element.
func runReduce(n *loop, m *machine, list []any) (any, error) {
	var acc any
	var err error
	first := 0
	switch {
	case n.extra != nil:
		acc, err = n.extra.eval(m)
	case len(list) > 0:
		acc, err = normal(list[0], n.at)
		first = 1
	}
	for i := first; i < len(list) && err == nil; i++ {
		m.locals[n.slot].acc = acc
		acc, err = n.ask(m, list, i)
	}
	return acc, err
}

// pointer is #, #index or #acc within a predicate.
type pointer struct {
	slot int
	part string // "", "index" or "acc"
	at   int
}

func (n *pointer) eval(m *machine) (any, error) {
	if err := m.step(1, n.at); err != nil {
		return nil, err
	}
	here := m.locals[n.slot]
	switch n.part {
	case "index":
		return here.index, nil
	case "acc":
		return here.acc, nil
	}
	return here.value, nil
}

// text formats a value as a template does, within the budget.
func (m *machine) text(v any, at int) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	w := writer{m: m, at: at}
	err := w.text(v)
	return string(w.out), err
}

// joined joins the values, with a separator between them.
func (m *machine) joined(list []any, separator string, at int) (string, error) {
	var b strings.Builder
	for i, item := range list {
		if err := m.step(1, at); err != nil {
			return "", err
		}
		if i > 0 {
			if err := m.grow(len(separator), at); err != nil {
				return "", err
			}
			b.WriteString(separator)
		}
		item, err := normal(item, at)
		if err != nil {
			return "", err
		}
		s, err := m.text(item, at)
		if err != nil {
			return "", err
		}
		if err := m.grow(len(s), at); err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
