package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Set sets a variable of the current document, or a path in it such as
// cart.items[0].price. It creates missing objects, but not lists.
func (t *Turn) Set(path string, v any) error {
	v, err := admit(v)
	if err != nil {
		return named(err, path)
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

// Change replaces the value at a path by the result of to. Both are admitted
// values.
func (t *Turn) Change(path string, to func(any) (any, error)) error {
	name, rest := values.CutPath(path)
	vars := t.Scope().Vars
	old := vars[name]
	v, err := changeAt(old, rest, to)
	if err != nil {
		return named(err, path)
	}
	if v == (Removed{}) {
		delete(vars, name)
		t.size = -1
		return nil
	}
	if kind := t.graph().variables[name].Type; kind != "" && kind != "any" {
		if v, err = conform(v, kind); err != nil {
			return named(err, path)
		}
	}
	vars[name] = v
	return t.grow(old, v)
}

// grow updates the total size of the variables.
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

// Removed is the result of a change that removes the value at a path.
type Removed struct{}

// changeAt returns a copy of v with a change at the path rest.
func changeAt(v any, rest string, to func(any) (any, error)) (any, error) {
	switch {
	case rest == "":
		return to(v)
	case rest[0] == '[':
		return changeItem(v, rest[1:], to)
	}
	name, rest := values.CutPath(rest[1:])
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, wrongType(name + " is not found: its value is not an object")
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
	return m, values.FewMembers(m)
}

func changeItem(v any, rest string, to func(any) (any, error)) (any, error) {
	index, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	list, ok := v.([]any)
	switch {
	case err != nil:
		return nil, wrongType("[" + index + "] is not a number")
	case !ok && v != nil:
		return nil, wrongType("[" + index + "] is not found: its value is not a list")
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
	case item == (Removed{}):
		if i < len(list) {
			list = slices.Delete(list, i, i+1)
		}
	case i == len(list):
		return values.Appended(list, item)
	default:
		list[i] = item
	}
	return list, nil
}

// Limits of values.
const (
	limitVariables = 256 << 10 // all variables of a run together
)

// admit returns a copy of v for a state: a JSON value whose whole numbers are int,
// within the limits of values. It may share parts with v, which a run never
// changes.
func admit(v any) (any, error) {
	v, err := values.Admit(v)
	return v, ofRun(err)
}

// conform converts v to a declared type.
func conform(v any, kind string) (any, error) {
	v, err := values.Conform(v, kind)
	return v, ofRun(err)
}

// encode encodes any value as JSON.
func encode(v any) (json.RawMessage, error) {
	raw, err := values.Encode(v)
	return raw, ofRun(err)
}

// ofRun converts an error about a value to an error of a run.
func ofRun(err error) error {
	if e, ok := errors.AsType[*values.Error](err); ok {
		return &Error{Code: e.Code, Message: e.Message}
	}
	return err
}

func wrongType(message string) *Error { return &Error{Code: CodeValueType, Message: message} }

func tooLarge(message string) *Error { return &Error{Code: codeValueSize, Message: message} }

// named prefixes an error with the name of its value.
func named(err error, name string) error {
	var e *Error
	if err = ofRun(err); errors.As(err, &e) {
		return &Error{Code: e.Code, Message: name + ": " + e.Message}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// admitInput is admit for input from outside. It shortens what is too large, so
// that no message can stop a run. nil stays nil.
func admitInput(what string, v map[string]any) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	out, err := admit(v)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == codeValueSize {
		out, err = admit(values.InputBounds.Truncate(v))
	}
	if err != nil {
		return nil, fmt.Errorf("flow: %s: %w", what, err)
	}
	return values.ObjectOf(out), nil
}

// Codes of values that cannot be stored.
const (
	CodeValueType = values.CodeType
	codeValueSize = values.CodeSize
)

// conformAll checks values against their declarations: required ones must be
// present, all must be declared, and each must have its type.
func conformAll(what string, given map[string]any, declared map[string]variable) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := declared[name]; !ok {
			return nil, wrongType(what + "." + name + ": is not declared")
		}
	}
	if len(declared) == 0 {
		return nil, nil
	}
	out := make(map[string]any, len(declared))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d := declared[name]
		v, ok := given[name]
		if !ok || v == nil {
			v = d.initial
		}
		if v == nil && d.Required {
			return nil, wrongType(what + "." + name + ": is required")
		}
		v, err := conform(v, d.Type)
		if err != nil {
			return nil, named(err, what+"."+name)
		}
		out[name] = v
	}
	return out, nil
}
