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
	v, err := Admit(v)
	if err != nil {
		return At(err, path)
	}
	return t.Change(path, func(any) (any, error) { return v, nil })
}

// Save is Set for a node's saveTo, which may be empty.
func (t *Turn) Save(name string, v any) error {
	if name == "" {
		return nil
	}
	return t.Set(name, v)
}

// Change replaces what is at a path by what to makes of it. Both are
// admitted values.
func (t *Turn) Change(path string, to func(any) (any, error)) error {
	name, rest := CutPath(path)
	vars := t.Scope().Vars
	old := vars[name]
	v, err := changeAt(old, rest, to)
	if err != nil {
		return At(err, path)
	}
	if v == (Removed{}) {
		delete(vars, name)
		t.size = -1
		return nil
	}
	if kind := t.graph().variables[name].Type; kind != "" && kind != "any" {
		if v, err = Conform(v, kind); err != nil {
			return At(err, path)
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

// Removed takes a place away.
type Removed struct{}

// CutPath splits off the first part of a path.
func CutPath(path string) (first, rest string) {
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
	name, rest := CutPath(rest[1:])
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, WrongType(name + " is looked for in something that is no object")
	}
	item, err := changeAt(m[name], rest, to)
	if err != nil {
		return nil, err
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	if item == (Removed{}) {
		delete(m, name)
		return m, nil
	}
	m[name] = item
	return m, FewMembers(m)
}

// FewMembers returns an error for an object with too many members.
func FewMembers(m map[string]any) error {
	if len(m) > values.MaxList {
		return TooLarge("an object has at most 1,000 members")
	}
	return nil
}

func changeItem(v any, rest string, to func(any) (any, error)) (any, error) {
	index, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	list, ok := v.([]any)
	switch {
	case err != nil:
		return nil, WrongType("[" + index + "] is no number")
	case !ok && v != nil:
		return nil, WrongType("[" + index + "] is looked for in something that is no list")
	case i < 0 || i > len(list):
		return nil, WrongType("the list has no item " + index)
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
	case item == (Removed{}):
		if i < len(list) {
			list = slices.Delete(list, i, i+1)
		}
	case i == len(list):
		return Appended(list, item)
	default:
		list[i] = item
	}
	return list, nil
}

// Appended is list with one item more, in memory of its own.
func Appended(list []any, item any) (any, error) {
	if len(list) >= values.MaxList {
		return nil, TooLarge("a list has at most 1,000 items")
	}
	out := make([]any, len(list)+1)
	copy(out, list)
	out[len(list)] = item
	return out, nil
}
