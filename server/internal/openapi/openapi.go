// Package openapi completes the OpenAPI document of the server with what the
// operations do not say by themselves: the events that webhooks receive, how
// values of other packages are written, examples, units, and what a repeated
// request does. Package httpapi makes the document; it knows no service.
package openapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/internal/api/contacts"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Complete adds events, units, repetition and examples to a document that has
// all operations.
func Complete(d *huma.OpenAPI) {
	d.Webhooks = outgoingEvents(d.Components.Schemas)
	d.Paths["/references/registerWebHook"].Post.Callbacks = map[string]map[string]*huma.PathItem{"event": callback(d.Components.Schemas)}
	showUnits(d)
	showRepeats(d)
	showExamples(d)
}

// Describe adds what huma cannot see: answers that are written by hand, and
// operations that answer with one of two statuses.
func Describe(doc *huma.OpenAPI) {
	stream := doc.Paths["/chats/stream"].Get.Responses["200"]
	stream.Description = "The stream. It continues until the client or the server closes it."
	stream.Content = map[string]*huma.MediaType{"text/event-stream": {
		Schema:  &huma.Schema{Type: huma.TypeString},
		Example: "event: message\nid: MS4yLjM\ndata: {\"reference\":1,\"chatId\":\"ana@sandbox\",\"text\":\"Hello\"}\n\n",
	}}
	reset := doc.Paths["/user/reset"].Post.Responses
	reset["202"].Description = "If the e-mail has a user, a link was sent."
	reset["200"] = &huma.Response{Description: "The password was set.", Content: reset["202"].Content}
	export := doc.Paths["/chats/export"].Get.Responses["200"]
	export.Description = "The stored data."
	export.Content = map[string]*huma.MediaType{"application/json": {
		Schema: doc.Components.Schemas.Schema(reflect.TypeFor[contacts.Exported](), true, ""),
	}}
	register := doc.Paths["/references/registerWebHook"].Post.Responses
	register["200"] = &huma.Response{Description: "Updated, without a secret; or subscribed at the network.", Content: register["201"].Content}
	register["201"] = &huma.Response{Description: "Created, with the signing secret.", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: httpapi.SchemaRefs + "Endpoint"}},
	}}
}
