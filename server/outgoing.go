package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// contentSchemas are the types of a message to send, for the document. The
// values are checked by messaging.DecodeContent, whose errors name the member.
var contentSchemas = map[string]reflect.Type{
	"text":     reflect.TypeFor[provider.Text](),
	"template": reflect.TypeFor[provider.Template](),
	"buttons":  reflect.TypeFor[provider.Buttons](),
	"list":     reflect.TypeFor[provider.List](),
	"location": reflect.TypeFor[provider.Location](),
	"reaction": reflect.TypeFor[provider.Reaction](),
}

// outgoing is the `message` of a send: one of the types by its `type`.
type outgoing json.RawMessage

// UnmarshalJSON keeps the bytes for messaging.DecodeContent.
func (o *outgoing) UnmarshalJSON(b []byte) error {
	*o = append((*o)[:0], b...)
	return nil
}

// Schema describes the types with their discriminator.
func (outgoing) Schema(r huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, Description: "A message of one of the types.", Required: []string{"type"}, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{"type": {Type: huma.TypeString, Enum: enum(messaging.ContentTypes())}},
	}
	for _, name := range slices.Sorted(maps.Keys(contentSchemas)) {
		s.Description += " " + name + ": " + r.Schema(contentSchemas[name], true, name).Ref + "."
	}
	s.PrecomputeMessages()
	return s
}

func enum(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}
