package flow

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Set changes a variable of the graph that runs, or a place in it:
// cart.items[0].price. Objects on the way are made, lists are not.
func (t *Turn) Set(path string, v any) error {
	v, err := admit(v)
	if err != nil {
		return at(err, path)
	}
	return t.change(path, func(any) (any, error) { return v, nil })
}

// save is Set for a node's saveTo, which may be empty.
func (t *Turn) save(name string, v any) error {
	if name == "" {
		return nil
	}
	return t.Set(name, v)
}

// change replaces what is at a path by what to makes of it. Both are
// admitted values.
func (t *Turn) change(path string, to func(any) (any, error)) error {
	name, rest := cutPath(path)
	vars := t.scope().Vars
	old := vars[name]
	v, err := changeAt(old, rest, to)
	if err != nil {
		return at(err, path)
	}
	if v == (removed{}) {
		delete(vars, name)
		t.size = -1
		return nil
	}
	if kind := t.graph().variables[name].Type; kind != "" && kind != "any" {
		if v, err = conform(v, kind); err != nil {
			return at(err, path)
		}
	}
	vars[name] = v
	return t.grow(old, v)
}

// grow keeps count of the size of all variables.
func (t *Turn) grow(old, v any) error {
	if t.size < 0 {
		t.size = 0
		for _, f := range t.State.Frames {
			for _, v := range f.Vars {
				t.size += values.Size(v)
			}
		}
	} else {
		before, after := values.Size(old), values.Size(v)
		t.size += after - before
		t.work += before + after
	}
	if t.size > limitVariables {
		return &Error{Code: codeValueSize, Message: "all variables together have at most 256 KiB"}
	}
	return nil
}

// removed takes a place away.
type removed struct{}

// cutPath splits off the first part of a path.
func cutPath(path string) (first, rest string) {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// changeAt returns v with the place at rest changed. v itself stays as it is.
func changeAt(v any, rest string, to func(any) (any, error)) (any, error) {
	switch {
	case rest == "":
		return to(v)
	case rest[0] == '[':
		return changeItem(v, rest[1:], to)
	}
	name, rest := cutPath(rest[1:])
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, wrongType(name + " is looked for in something that is no object")
	}
	item, err := changeAt(m[name], rest, to)
	if err != nil {
		return nil, err
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	if item == (removed{}) {
		delete(m, name)
		return m, nil
	}
	m[name] = item
	return m, fewMembers(m)
}

func fewMembers(m map[string]any) error {
	if len(m) > values.MaxList {
		return tooLarge("an object has at most 1,000 members")
	}
	return nil
}

func changeItem(v any, rest string, to func(any) (any, error)) (any, error) {
	index, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	list, ok := v.([]any)
	switch {
	case err != nil:
		return nil, wrongType("[" + index + "] is no number")
	case !ok && v != nil:
		return nil, wrongType("[" + index + "] is looked for in something that is no list")
	case i < 0 || i > len(list):
		return nil, wrongType("the list has no item " + index)
	}
	var old any
	if i < len(list) {
		old = list[i]
	}
	item, err := changeAt(old, rest, to)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	switch {
	case item == (removed{}):
		if i < len(list) {
			list = slices.Delete(list, i, i+1)
		}
	case i == len(list):
		return appended(list, item)
	default:
		list[i] = item
	}
	return list, nil
}

// appended is list with one item more, in memory of its own.
func appended(list []any, item any) (any, error) {
	if len(list) >= values.MaxList {
		return nil, tooLarge("a list has at most 1,000 items")
	}
	out := make([]any, len(list)+1)
	copy(out, list)
	out[len(list)] = item
	return out, nil
}
