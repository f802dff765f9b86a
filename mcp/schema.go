package mcp

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// schema is the part of JSON Schema that this package uses.
type schema struct {
	Type                 string             `json:"type,omitempty"`
	Description          string             `json:"description,omitempty"`
	Format               string             `json:"format,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Minimum              json.Number        `json:"minimum,omitempty"`
	Maximum              json.Number        `json:"maximum,omitempty"`
	MinLength            int                `json:"minLength,omitempty"`
	MaxLength            int                `json:"maxLength,omitempty"`
	MinItems             int                `json:"minItems,omitempty"`
	MaxItems             int                `json:"maxItems,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           map[string]*schema `json:"properties,omitzero"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"`
	Default              json.RawMessage    `json:"default,omitempty"`
}

// published returns the schema of all arguments, or of a result. Both are objects.
func (s *shape) published() json.RawMessage {
	if s.given != nil {
		return s.given
	}
	doc := s.schema()
	doc.Type = string(kindObject)
	out, _ := json.Marshal(doc) // encoding texts and numbers cannot fail
	return out
}

// givenShape returns the shape of arguments with a [Function.Schema]. Only
// descriptors use its fields.
func givenShape(given json.RawMessage) (*shape, error) {
	var doc struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(given, &doc); err != nil || jsonscan.Kind(given) != '{' {
		return nil, errors.New("Function.Schema is not a JSON Schema of an object")
	}
	out := &shape{kind: kindAny, typ: rawMessage, own: true, given: given}
	for _, name := range slices.Sorted(maps.Keys(doc.Properties)) {
		var about struct{ Type, Description string }
		_ = json.Unmarshal(doc.Properties[name], &about) // any other form of a type counts as any
		out.fields = append(out.fields, &field{
			name: name, required: slices.Contains(doc.Required, name), shape: &shape{kind: kind(about.Type), doc: about.Description, given: doc.Properties[name]},
		})
	}
	return out, nil
}

func (s *shape) schema() *schema {
	if s.void { // it may be null, which no type says
		return &schema{Description: s.doc}
	}
	return s.bare()
}

// bare returns the schema without nullability.
func (s *shape) bare() *schema {
	if s.given != nil {
		return &schema{Type: string(s.kind), Description: s.doc}
	}
	out := &schema{
		Type: string(s.kind), Description: s.doc, Enum: s.enum, Default: s.fallback,
		Minimum: number(s.minimum), Maximum: number(s.maximum),
	}
	switch s.kind {
	case kindString:
		out.MinLength, out.MaxLength = s.minLen, s.maxLen
		if s.typ == timeType {
			out.Format = "date-time"
		}
	case kindArray:
		out.MinItems, out.MaxItems = s.minLen, s.maxLen
		out.Items = s.elem.schema()
	case kindMap:
		out.Type = string(kindObject)
		if s.elem.kind != kindAny || s.elem.void {
			out.AdditionalProperties = s.elem.schema()
		}
	case kindObject:
		s.objectSchema(out)
	case kindInteger:
		if k := s.typ.Kind(); out.Minimum == "" && k >= reflect.Uint && k <= reflect.Uint64 {
			out.Minimum = "0"
		}
	case kindAny, kindNumber, kindBoolean:
	}
	return out
}

func (s *shape) objectSchema(out *schema) {
	out.Properties = map[string]*schema{}
	for _, f := range s.fields {
		out.Properties[f.name] = f.shape.schema()
		if f.required {
			out.Required = append(out.Required, f.name)
		}
	}
	if s.reading {
		out.AdditionalProperties = false
	}
}

func number(n *float64) json.Number {
	if n == nil {
		return ""
	}
	return json.Number(strconv.FormatFloat(*n, 'f', -1, 64))
}
