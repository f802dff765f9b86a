package openapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// messageRecord and messagePayload are in the document for the types of
// package messaging whose members depend on their `type`.
type (
	messageRecord  struct{}
	messagePayload struct{}
)

// Schemas tells the registry how values are written that their Go types do
// not show.
func Schemas(r huma.Registry) {
	for real, shown := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[messaging.UnixTime]():       reflect.TypeFor[int64](),
		reflect.TypeFor[json.Number]():              reflect.TypeFor[float64](),
		reflect.TypeFor[messaging.Message]():        reflect.TypeFor[messageRecord](),
		reflect.TypeFor[messaging.MessagePayload](): reflect.TypeFor[messagePayload](),
	} {
		r.RegisterTypeAlias(real, shown)
	}
}

// Schema is one of the five.
func (messageRecord) Schema(r huma.Registry) *huma.Schema {
	return oneOfTypes(r, "A message in the API: one of these types, as `type` says.",
		func(kind string) any { return messaging.Message{Body: messaging.Body{Type: kind}} })
}

// Schema is one of the five.
func (messagePayload) Schema(r huma.Registry) *huma.Schema {
	return oneOfTypes(r, "A message in a webhook: one of these types, as `type` says.",
		func(kind string) any { return messaging.MessagePayload{Body: messaging.Body{Type: kind}} })
}

// oneOfTypes refers to a component that describes a struct with a
// messaging.Body: one variant for each type. zero returns an empty one.
func oneOfTypes(r huma.Registry, about string, zero func(kind string) any) *huma.Schema {
	t := reflect.TypeOf(zero(""))
	name := httpapi.SchemaName(t, "")
	ref := &huma.Schema{Ref: httpapi.SchemaRefs + name}
	if r.Map()[name] != nil {
		return ref
	}
	whole := huma.SchemaFromType(r, t)
	httpapi.MarkMembers(whole, t)
	out := &huma.Schema{Description: about, Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	for _, kind := range whole.Properties["type"].Enum {
		kind := kind.(string)
		variant := name + strings.ToUpper(kind[:1]) + kind[1:]
		r.Map()[variant] = ofType(whole, kind, members(zero(kind)))
		out.OneOf = append(out.OneOf, &huma.Schema{Ref: httpapi.SchemaRefs + variant})
		out.Discriminator.Mapping[kind] = httpapi.SchemaRefs + variant
	}
	r.Map()[name] = out
	return ref
}

// ofType is whole without the members that its type lacks. always are those
// that it has, with an empty value of each.
func ofType(whole *huma.Schema, kind string, always map[string]json.RawMessage) *huma.Schema {
	s := *whole
	s.Properties = maps.Clone(whole.Properties)
	s.Required = nil
	for _, name := range whole.Required {
		value, ok := always[name]
		if !ok {
			delete(s.Properties, name)
			continue
		}
		s.Required = append(s.Required, name)
		if p := s.Properties[name]; p.Type == huma.TypeInteger && value[0] == '"' {
			s.Properties[name] = &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]+$", Description: p.Description, Examples: []any{"48213"}}
		}
	}
	s.Properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{kind}}
	return &s
}

// members are those of a value's JSON.
func members(v any) map[string]json.RawMessage {
	raw, err := json.Marshal(v)
	out := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic("openapi: describing " + reflect.TypeOf(v).String() + ": " + err.Error())
	}
	return out
}
