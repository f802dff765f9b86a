// Package place finds values in the input of an operation by their location, as
// problems name it: "path.botId", "query.reference", "body.scope.bot".
package place

import (
	"fmt"
	"reflect"
	"strings"
)

// Place is where values of an input type are.
type Place struct {
	steps []int // fields, one below the other
}

// Find returns the place of a location in a struct with the tags of huma. A
// location below an array is that of a member of each element:
// "body.chats.reference".
func Find(input reflect.Type, location string) (Place, error) {
	in, rest, _ := strings.Cut(location, ".")
	var p Place
	t := input
	if in == "body" {
		f, ok := t.FieldByName("Body")
		if !ok || rest == "" {
			return p, missing(input, location)
		}
		p.steps, t = append(p.steps, f.Index...), f.Type
		in = "json"
	}
	for rest != "" {
		name, below, _ := strings.Cut(rest, ".")
		t = element(t)
		f, ok := member(t, in, name)
		if !ok || in != "json" && below != "" {
			return p, missing(input, location)
		}
		p.steps, t, rest = append(p.steps, f...), t.FieldByIndex(f).Type, below
	}
	if k := element(t).Kind(); len(p.steps) == 0 || k != reflect.Int64 && k != reflect.String {
		return p, missing(input, location)
	}
	return p, nil
}

func missing(input reflect.Type, location string) error {
	return fmt.Errorf("%s has no id at %s", input, location)
}

// element is the type of what pointers lead to and arrays hold.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// member finds the field that a tag names, among those of embedded structs,
// too.
func member(t reflect.Type, tag, name string) ([]int, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for _, f := range reflect.VisibleFields(t) {
		if called, _, _ := strings.Cut(f.Tag.Get(tag), ","); called == name && f.IsExported() {
			return f.Index, true
		}
	}
	return nil, false
}

// Each calls f with every value there. v is a pointer to an input of the type
// that [Find] was given; f may set what it gets.
func (p Place) Each(v any, f func(reflect.Value)) { each(reflect.ValueOf(v), p.steps, f) }

func each(v reflect.Value, steps []int, f func(reflect.Value)) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), steps, f)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), steps, f)
		}
	case len(steps) == 0:
		f(v)
	default:
		each(v.Field(steps[0]), steps[1:], f)
	}
}
