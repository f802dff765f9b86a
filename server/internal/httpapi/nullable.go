package httpapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// MarkNullable says of every pointer that is always written that it may be
// null, which huma says of plain types only. It is called once for a registry, when
// that is complete.
func MarkNullable(r huma.Registry) {
	for name, schema := range r.Map() {
		t := r.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		MarkMembers(schema, t)
	}
	if p := r.Map()["FlowProblem"]; p != nil { // which writes itself
		p.Properties["hint"] = nullable(p.Properties["hint"])
	}
}

// MarkMembers is MarkNullable for one struct.
func MarkMembers(schema *huma.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		key, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := schema.Properties[key]
		if p == nil || f.Type.Kind() != reflect.Pointer || strings.Contains(opts, "omitempty") {
			continue
		}
		schema.Properties[key] = nullable(p)
	}
}

func nullable(s *huma.Schema) *huma.Schema {
	if s.Ref == "" {
		if s.Nullable = s.Type != ""; len(s.Enum) > 0 {
			s.Enum = append(slices.Clone(s.Enum), nil)
		}
		return s
	}
	return &huma.Schema{OneOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}, Description: s.Description}
}
