package mcp

import (
	"errors"
	"reflect"
	"slices"
)

// nowhere is a bit that no id of a reference has.
const nowhere = 1 << 62

// reference returns the index of the field of the argument that names a reference;
// nil if name is empty.
func (s *shape) reference(name string) ([]int, error) {
	if name == "" {
		return nil, nil
	}
	f := s.byName[name]
	if f == nil || !f.required || f.shape.kind != kindInteger || f.shape.typ.Kind() != reflect.Int64 {
		return nil, errors.New("must be a required argument of type int64")
	}
	return f.index, nil
}

// allowed reports whether a caller may call the function, and on which references
// only; nil: on all.
func (f *function) allowed(c Caller) (allowed bool, only []int64) {
	if c.may(f.tool.Permission) {
		return true, nil
	}
	if c.On != nil {
		only = c.On(f.tool.Permission)
	}
	return len(only) > 0 && (f.listing || f.about != nil), only
}

// narrow replaces a reference that is not in only by one that does not exist.
func (f *function) narrow(in any, only []int64) {
	if only == nil || f.about == nil {
		return
	}
	v := reflect.ValueOf(in).Elem().FieldByIndex(f.about)
	if !slices.Contains(only, v.Int()) {
		v.SetInt(v.Int() | nowhere)
	}
}
