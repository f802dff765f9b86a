package server

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

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

// incomingSchemas are the types that a simulated contact writes.
var incomingSchemas = map[string]reflect.Type{
	"text":     reflect.TypeFor[provider.Text](),
	"location": reflect.TypeFor[provider.Location](),
	"reaction": reflect.TypeFor[provider.Reaction](),
	"reply":    reflect.TypeFor[provider.Reply](),
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
	return variants(r, "Message", contentSchemas, nil)
}
