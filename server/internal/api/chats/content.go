package chats

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// outgoing is the `message` of a send: one of the types by its `type`.
type outgoing json.RawMessage

// UnmarshalJSON keeps the bytes for messaging.DecodeContent.
func (o *outgoing) UnmarshalJSON(b []byte) error {
	*o = append((*o)[:0], b...)
	return nil
}

// Schema describes the types with their discriminator.
func (outgoing) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Variants{
		Prefix: "Message", Names: messaging.ContentTypes(), Types: view.ContentSchemas, Examples: view.ContentExamples,
		Common: map[string]*huma.Schema{
			"tag": {Type: huma.TypeString, MaxLength: new(64), Description: "Messenger's tag that allows a message outside of the window. Other networks ignore it."},
		},
	}.Schema(r)
}
