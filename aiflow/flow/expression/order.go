package expression

import (
	"slices"
)

func runSortBy(n *loop, m *machine, list []any) (any, error) {
	keys, err := runMap(n, m, list)
	if err != nil {
		return nil, err
	}
	descending := false
	if n.extra != nil {
		order, err := n.extra.eval(m)
		if err != nil {
			return nil, err
		}
		if descending, err = isDescending(order, n.at); err != nil {
			return nil, err
		}
	}
	by, _ := keys.([]any)
	return m.sorted(list, by, descending, n.at)
}

func isDescending(order any, at int) (bool, error) {
	switch order {
	case "asc", nil:
		return false, nil
	case "desc":
		return true, nil
	}
	return false, fail(CodeArguments, at, `has an order other than "asc" and "desc"`)
}

// sorted returns list sorted by its keys. The sort is stable. Nothing comes first;
// all other keys must be comparable.
func (m *machine) sorted(list, keys []any, descending bool, at int) (any, error) {
	if err := m.list(2*len(list), at); err != nil {
		return nil, err
	}
	if err := m.step(sortSteps(len(list)), at); err != nil {
		return nil, err
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	var failed error
	slices.SortStableFunc(order, func(i, j int) int {
		c, err := m.sortOrder(keys[i], keys[j], at)
		if err != nil && failed == nil {
			failed = err
		}
		if descending {
			return -c
		}
		return c
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(list))
	for i, from := range order {
		out[i] = list[from]
	}
	return out, nil
}

// sortOrder compares two keys. Long texts cost further steps. When no steps are
// left all keys count as equal, so that the sort ends soon.
func (m *machine) sortOrder(a, b any, at int) (int, error) {
	if a == nil || b == nil {
		return sign(a == nil && b != nil, a != nil && b == nil), nil
	}
	if s, ok := a.(string); ok && len(s) >= scanChunk {
		if err := m.scan(len(s), at); err != nil {
			return 0, err
		}
	}
	if a, ok := a.(bool); ok {
		if b, ok := b.(bool); ok {
			return sign(!a && b, a && !b), nil
		}
	}
	c, ok := compare(a, b)
	if !ok {
		return 0, unordered(a, b, at)
	}
	return c, nil
}
