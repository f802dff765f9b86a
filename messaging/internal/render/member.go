package render

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// unknownMember is the path of the first member of raw, by name, that values
// of type t do not have: ".template.namespace"; "" when there is none.
func unknownMember(raw json.RawMessage, t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return unknownMember(raw, t.Elem())
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return ""
	case t.Kind() == reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items) // else it has no members
		for i, item := range items {
			if at := unknownMember(item, t.Elem()); at != "" {
				return Indexed("", i) + at
			}
		}
	case t.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // else it has no members
		for _, name := range slices.Sorted(maps.Keys(members)) {
			f, known := memberOf(t, name)
			if !known {
				return "." + name
			}
			if at := unknownMember(members[name], f.Type); at != "" {
				return "." + name + at
			}
		}
	}
	return ""
}

// memberOf is the field that a member of a JSON object is decoded into.
func memberOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag != "" && tag != "-" && strings.EqualFold(tag, name) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
