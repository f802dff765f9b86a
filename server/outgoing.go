package server

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// contentSchemas are the types of messages, for the document. The values are
// checked by messaging.DecodeContent and DecodeIncoming, whose errors name the
// member.
var contentSchemas = map[string]reflect.Type{
	"text":     reflect.TypeFor[provider.Text](),
	"template": reflect.TypeFor[provider.Template](),
	"buttons":  reflect.TypeFor[provider.Buttons](),
	"list":     reflect.TypeFor[provider.List](),
	"location": reflect.TypeFor[provider.Location](),
	"reaction": reflect.TypeFor[provider.Reaction](),
	"reply":    reflect.TypeFor[provider.Reply](),
}

// contentExamples are members of each, to begin with.
var contentExamples = map[string]map[string]any{
	"text":     {"text": "Hello"},
	"template": {"template": map[string]any{"name": "welcome", "language": map[string]any{"code": "en_US"}}},
	"buttons":  {"text": "Shall we?", "buttons": []any{map[string]any{"id": "yes", "title": "Yes"}, map[string]any{"id": "no", "title": "No"}}},
	"list": {"text": "Which one?", "button": "Choose", "sections": []any{
		map[string]any{"title": "All", "rows": []any{map[string]any{"id": "1", "title": "The first", "description": "and the best"}}},
	}},
	"location": {"latitude": 38.7223, "longitude": -9.1393, "name": "Lisbon"},
	"reaction": {"messageId": "wamid.HBgL", "emoji": "👍"},
	"reply":    {"id": "yes", "title": "Yes"},
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
	return variants{prefix: "Message", names: messaging.ContentTypes(), types: contentSchemas}.schema(r)
}
