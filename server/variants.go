package server

import (
	"maps"
	"reflect"
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

// variants are objects that are told apart by their `type`.
type variants struct {
	prefix   string                  // of the names of their schemas
	names    []string                // in the order in which they are shown
	types    map[string]reflect.Type // the members of each
	common   map[string]*huma.Schema // the members of all
	required []string                // those of them that must be there
}

// schema is [described], with the discriminator.
func (v variants) schema(r huma.Registry) *huma.Schema {
	var oneOf []*huma.Schema
	mapping := map[string]string{}
	for _, name := range v.names {
		component := v.prefix + strings.ToUpper(name[:1]) + name[1:]
		r.Map()[component] = v.variant(r, name)
		mapping[name] = schemaRefs + component
		oneOf = append(oneOf, &huma.Schema{Ref: mapping[name]})
	}
	s := described("One of the types by its `type`.", oneOf...)
	s.Extensions["discriminator"] = map[string]any{"propertyName": "type", "mapping": mapping}
	return s
}

func (v variants) variant(r huma.Registry, name string) *huma.Schema {
	s := *huma.SchemaFromType(r, v.types[name])
	s.Properties = maps.Clone(s.Properties)
	maps.Copy(s.Properties, v.common)
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}}
	s.Required = append(append([]string{"type"}, v.required...), s.Required...)
	example := map[string]any{"type": name}
	maps.Copy(example, contentExamples[name])
	for _, member := range v.required {
		example[member] = v.common[member].Examples[0]
	}
	s.Examples = []any{example}
	return &s
}
