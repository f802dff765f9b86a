package mcp

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// kind is the JSON type of a value.
type kind string

const (
	kindAny     kind = ""
	kindObject  kind = "object" // of named fields
	kindMap     kind = "map"
	kindArray   kind = "array"
	kindString  kind = "string"
	kindInteger kind = "integer"
	kindNumber  kind = "number"
	kindBoolean kind = "boolean"
)

// shape is the JSON form of a Go type, with the rules of its field's tags.
// [Register] builds it once.
type shape struct {
	kind    kind
	typ     reflect.Type // without pointers
	text    bool         // a string that the type unmarshals itself
	own     bool         // JSON that the type marshals or unmarshals itself
	void    bool         // a pointer in a result: it may be null
	reading bool         // part of arguments

	doc              string
	enum             []string
	minimum, maximum *float64
	minLen, maxLen   int // 0: no limit
	fallback         json.RawMessage

	fields []*field // of an object
	byName map[string]*field
	elem   *shape          // of an array or a map
	lists  bool            // contains slices or maps, which must not be null
	given  json.RawMessage // [Function.Schema]
}

// field is a member of an object.
type field struct {
	name     string
	index    []int
	required bool
	private  bool
	shape    *shape
}

var (
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textWriter = reflect.TypeFor[encoding.TextMarshaler]()
	jsonWriter = reflect.TypeFor[json.Marshaler]()
	rawMessage = reflect.TypeFor[json.RawMessage]()
	jsonNumber = reflect.TypeFor[json.Number]()
	timeType   = reflect.TypeFor[time.Time]()
)

// shaper builds the shapes of arguments or of a result.
type shaper struct {
	reading bool // arguments, not a result
	open    []reflect.Type
}

func inputShape(t reflect.Type, schema json.RawMessage) (*shape, error) {
	if schema != nil {
		if t != rawMessage {
			return nil, fmt.Errorf("with Function.Schema they are a json.RawMessage, not %s", t)
		}
		return givenShape(schema)
	}
	s := &shaper{reading: true}
	out, err := s.shape(t)
	if err == nil && out.kind != kindObject {
		err = fmt.Errorf("they are the fields of a struct, not %s", t)
	}
	return out, err
}

func outputShape(t reflect.Type) (*shape, error) {
	s := &shaper{}
	out, err := s.shape(t)
	if err == nil && out.kind != kindObject && out.kind != kindMap && t != rawMessage {
		err = fmt.Errorf("it is a struct or a map, not %s", t)
	}
	return out, err
}

func (s *shaper) shape(t reflect.Type) (*shape, error) {
	void := false
	for t.Kind() == reflect.Pointer {
		t, void = t.Elem(), !s.reading
	}
	out := &shape{typ: t, void: void, reading: s.reading}
	if s.own(out) {
		return out, nil
	}
	switch t.Kind() {
	case reflect.String:
		out.kind = kindString
	case reflect.Bool:
		out.kind = kindBoolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		out.kind = kindInteger
	case reflect.Float32, reflect.Float64:
		out.kind = kindNumber
	case reflect.Interface:
		if t.NumMethod() > 0 && s.reading {
			return nil, fmt.Errorf("%s cannot be read from JSON", t)
		}
	case reflect.Slice, reflect.Map, reflect.Struct:
		return out, s.composed(out)
	default:
		return nil, fmt.Errorf("%s has no form in JSON", t)
	}
	return out, nil
}

// own fills in a type that has its own JSON methods.
func (s *shaper) own(out *shape) bool {
	t, text, own := out.typ, textWriter, jsonWriter
	if s.reading {
		text, own = textReader, jsonReader
	}
	has := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case t == rawMessage:
		out.own = true
	case t == jsonNumber:
		out.kind, out.own = kindNumber, true
	case t == timeType, has(text) && !has(own):
		out.kind, out.text = kindString, true
	case has(own):
		out.own = true
	default:
		return false
	}
	return true
}

func (s *shaper) composed(out *shape) error {
	t := out.typ
	for _, up := range s.open {
		if up == t {
			if s.reading {
				return fmt.Errorf("%s contains itself", t)
			}
			return nil // any JSON from here down
		}
	}
	s.open = append(s.open, t)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	if t.Kind() == reflect.Struct {
		out.kind, out.byName = kindObject, map[string]*field{}
		return s.members(out, t, nil)
	}
	out.kind, out.lists = kindArray, true
	if t.Kind() == reflect.Map {
		out.kind = kindMap
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("the keys of %s are not texts", t)
		}
	} else if t.Elem().Kind() == reflect.Uint8 {
		return fmt.Errorf("%s is written as base64: use a string", t)
	}
	var err error
	out.elem, err = s.shape(t.Elem())
	return err
}

// members adds the fields of a struct, and of structs embedded in it.
func (s *shaper) members(out *shape, t reflect.Type, index []int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(index[:len(index):len(index)], i)
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			if err := s.members(out, f.Type, at); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		m, err := s.member(f, name, options)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if out.byName[name] != nil {
			return fmt.Errorf("field %s: there are two of the name %q", f.Name, name)
		}
		m.index = at
		out.fields, out.byName[name] = append(out.fields, m), m
		out.lists = out.lists || m.shape.lists
	}
	return nil
}

func (s *shaper) member(f reflect.StructField, name, options string) (*field, error) {
	sub, err := s.shape(f.Type)
	if err != nil {
		return nil, err
	}
	m := &field{name: name, shape: sub, required: true}
	for o := range strings.SplitSeq(options, ",") {
		switch o {
		case "omitempty", "omitzero":
			m.required, sub.void = false, false
		case "string":
			return nil, errors.New(`the option "string" of its json tag is not understood`)
		}
	}
	if s.reading && f.Type.Kind() == reflect.Pointer {
		m.required = false
	}
	if err := sub.rules(f.Tag); err != nil {
		return nil, err
	}
	m.required = m.required && sub.fallback == nil
	m.private = f.Tag.Get("private") == "true"
	return m, nil
}
