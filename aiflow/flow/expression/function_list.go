package expression

import "slices"

var listFunctions = []declared{
	{"len(value: text|list|object): number", "The number of characters, elements or members; 0 for nil.", length},
	{"first(list: list): any", "The first element; nil if the list is empty.", first},
	{"last(list: list): any", "The last element; nil if the list is empty.", last},
	{"join(list: list, separator?: text): text", "The elements as one text, with the separator between them.", join},
	{"concat(...lists: list): list", "One list with the elements of all lists.", concat},
	{"reverse(list: list): list", "The list in reverse order.", reverse},
	{"unique(list: list): list", "The list without repeated elements.", unique},
	{"sort(list: list, order?: text): list", "The sorted list, in the order \"asc\" or \"desc\". Equal elements keep their order.", sorted},
	{"keys(object: object): list", "The names of the object's members, sorted.", keys},
	{"values(object: object): list", "The values of the object's members, sorted by name.", values},
	{"get(value: any, path: text, default?: any): any", "The value at a path such as \"address.lines.0\"; the default if there is none.", get},
	{"merge(...objects: object): object", "One object with the members of all objects. Later ones replace earlier ones.", merge},
}

// length returns the size of a value. Nothing arrives here as an empty list.
func length(m *machine, at int, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return m.length(v, at)
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	}
	return 0, nil
}

func first(_ *machine, at int, args []any) (any, error) {
	if list := listArg(args, 0); len(list) > 0 {
		return normal(list[0], at)
	}
	return nil, nil
}

func last(_ *machine, at int, args []any) (any, error) {
	if list := listArg(args, 0); len(list) > 0 {
		return normal(list[len(list)-1], at)
	}
	return nil, nil
}

func join(m *machine, at int, args []any) (any, error) {
	return m.joined(listArg(args, 0), textArg(args, 1, ""), at)
}

func concat(m *machine, at int, args []any) (any, error) {
	n := 0
	for i := range args {
		n += len(listArg(args, i))
	}
	if err := m.list(n, at); err != nil {
		return nil, err
	}
	out := make([]any, 0, n)
	for i := range args {
		out = append(out, listArg(args, i)...)
	}
	return out, nil
}

func reverse(m *machine, at int, args []any) (any, error) {
	list := listArg(args, 0)
	if err := m.list(len(list), at); err != nil {
		return nil, err
	}
	out := slices.Clone(list)
	slices.Reverse(out)
	return out, nil
}

// unique compares each element with those kept. The comparisons charge their cost.
func unique(m *machine, at int, args []any) (any, error) {
	out := []any{}
	for _, item := range listArg(args, 0) {
		seen, err := m.includes(out, item, at)
		if err != nil {
			return nil, err
		}
		if seen {
			continue
		}
		if err := m.list(1, at); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func sorted(m *machine, at int, args []any) (any, error) {
	descending := false
	if len(args) > 1 {
		var err error
		if descending, err = isDescending(args[1], at); err != nil {
			return nil, err
		}
	}
	list := listArg(args, 0)
	if err := m.list(len(list), at); err != nil {
		return nil, err
	}
	keys := make([]any, len(list))
	for i, item := range list {
		var err error
		if keys[i], err = normal(item, at); err != nil {
			return nil, err
		}
	}
	return m.sorted(list, keys, descending, at)
}

func keys(m *machine, at int, args []any) (any, error) {
	object, _ := args[0].(map[string]any)
	names, err := m.sortedKeys(object, at)
	if err != nil {
		return nil, err
	}
	if err := m.list(len(names), at); err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out, nil
}

func values(m *machine, at int, args []any) (any, error) {
	object, _ := args[0].(map[string]any)
	names, err := m.sortedKeys(object, at)
	if err != nil {
		return nil, err
	}
	if err := m.list(len(names), at); err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = object[name]
	}
	return out, nil
}

// get follows a path of names and positions. If there is nothing at the path it
// returns the default.
func get(m *machine, at int, args []any) (any, error) {
	path, ok := args[1].(string)
	if !ok {
		return nil, nil
	}
	v := args[0]
	for path != "" && v != nil {
		var name string
		name, path = cutPath(path)
		if err := m.scan(len(name), at); err != nil {
			return nil, err
		}
		var err error
		if v, err = normal(step(v, name), at); err != nil {
			return nil, err
		}
	}
	if v == nil && len(args) > 2 {
		return args[2], nil
	}
	return v, nil
}

func cutPath(path string) (name, rest string) {
	for i := range len(path) {
		if path[i] == '.' {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func step(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		i, ok := parseNumber(name).(int)
		if ok && i < 0 {
			i += len(v)
		}
		if ok && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func merge(m *machine, at int, args []any) (any, error) {
	n := 0
	for _, arg := range args {
		object, _ := arg.(map[string]any)
		n += len(object)
	}
	if err := m.list(n, at); err != nil { // avoids an overflow below
		return nil, err
	}
	if err := m.grow(n*entryBytes, at); err != nil {
		return nil, err
	}
	out := make(map[string]any, n)
	for _, arg := range args {
		object, _ := arg.(map[string]any)
		for name, value := range object { // the later object wins; the order within one does not matter
			out[name] = value
		}
	}
	return out, nil
}
