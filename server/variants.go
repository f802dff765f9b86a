package server

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// schemaRefs is where the document keeps its schemas.
const schemaRefs = "#/components/schemas/"

// described is a schema that the document shows as one of several, and that
// huma does not check: its words for a value that fits none of them name no
// member. Who uses it checks the value.
func described(about string, oneOf ...*huma.Schema) *huma.Schema {
	return &huma.Schema{Description: about, Extensions: map[string]any{"oneOf": oneOf}}
}

// variants is [described] for objects that are told apart by their `type`:
// each of types, with its members and those of all.
func variants(r huma.Registry, prefix string, types map[string]reflect.Type, all map[string]*huma.Schema, required ...string) *huma.Schema {
	var oneOf []*huma.Schema
	mapping := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		ref := variant(r, prefix+strings.ToUpper(name[:1])+name[1:], name, types[name], all, required)
		oneOf = append(oneOf, ref)
		mapping[name] = ref.Ref
	}
	s := described("One of the types by its `type`.", oneOf...)
	s.Extensions["discriminator"] = map[string]any{"propertyName": "type", "mapping": mapping}
	return s
}

// variant adds the schema of one type to the document.
func variant(r huma.Registry, component, name string, t reflect.Type, all map[string]*huma.Schema, required []string) *huma.Schema {
	base := huma.SchemaFromType(r, t)
	s := *base
	s.Properties = maps.Clone(base.Properties)
	maps.Copy(s.Properties, all)
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}}
	s.Required = append(append([]string{"type"}, required...), base.Required...)
	r.Map()[component] = &s
	return &huma.Schema{Ref: schemaRefs + component}
}
