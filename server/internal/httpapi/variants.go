package httpapi

import (
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// SchemaRefs is where the document keeps its schemas.
const SchemaRefs = "#/components/schemas/"

// DescribedSchema is a schema that the document shows as one of several, and that
// huma does not check: its words for a value that fits none of them name no
// member. Who uses it checks the value.
func DescribedSchema(about string, oneOf ...*huma.Schema) *huma.Schema {
	return &huma.Schema{Description: about, Extensions: map[string]any{"oneOf": oneOf}}
}

// Variants are objects that are told apart by their `type`.
type Variants struct {
	Prefix   string                    // of the names of their schemas
	Names    []string                  // in the order in which they are shown
	Types    map[string]reflect.Type   // the members of each
	Common   map[string]*huma.Schema   // the members of all
	Required []string                  // those of them that must be there
	Examples map[string]map[string]any // members of each, to begin with
}

// Schema is [DescribedSchema], with the discriminator.
func (v Variants) Schema(r huma.Registry) *huma.Schema {
	var oneOf []*huma.Schema
	mapping := map[string]string{}
	for _, name := range v.Names {
		component := v.Prefix + strings.ToUpper(name[:1]) + name[1:]
		r.Map()[component] = v.variant(r, name)
		mapping[name] = SchemaRefs + component
		oneOf = append(oneOf, &huma.Schema{Ref: mapping[name]})
	}
	s := DescribedSchema("One of these types, as `type` says.", oneOf...)
	s.Extensions["discriminator"] = map[string]any{"propertyName": "type", "mapping": mapping}
	return s
}

func (v Variants) variant(r huma.Registry, name string) *huma.Schema {
	s := *huma.SchemaFromType(r, v.Types[name])
	s.Properties = maps.Clone(s.Properties)
	maps.Copy(s.Properties, v.Common)
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{name}}
	s.Required = append(append([]string{"type"}, v.Required...), s.Required...)
	example := map[string]any{"type": name}
	maps.Copy(example, v.Examples[name])
	for _, member := range v.Required {
		example[member] = v.Common[member].Examples[0]
	}
	s.Examples = []any{example}
	return &s
}
