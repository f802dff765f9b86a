package server

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/internal/api/contacts"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// describeAll adds to the document what only the services know.
func describeAll(d *huma.OpenAPI) {
	d.Webhooks = outgoingEvents(d.Components.Schemas)
	showUnits(d)
	showRepeats(d)
	showExamples(d)
}

// describe adds to the document what huma cannot see: an answer that is
// written by hand, and a second status.
func describe(doc *huma.OpenAPI) {
	stream := doc.Paths["/chats/stream"].Get.Responses["200"]
	stream.Description = "The stream. It lasts until one of both sides ends it."
	stream.Content = map[string]*huma.MediaType{"text/event-stream": {
		Schema:  &huma.Schema{Type: huma.TypeString},
		Example: "event: message\nid: MS4yLjM\ndata: {\"reference\":1,\"chatId\":\"ana@sandbox\",\"text\":\"Hello\"}\n\n",
	}}
	reset := doc.Paths["/user/reset"].Post.Responses
	reset["202"].Description = "A link was asked for."
	reset["200"] = &huma.Response{Description: "The password was set.", Content: reset["202"].Content}
	export := doc.Paths["/chats/export"].Get.Responses["200"]
	export.Description = "What is held."
	export.Content = map[string]*huma.MediaType{"application/json": {
		Schema: doc.Components.Schemas.Schema(reflect.TypeFor[contacts.Exported](), true, ""),
	}}
	register := doc.Paths["/references/registerWebHook"].Post.Responses
	register["200"] = &huma.Response{Description: "Updated, without a secret; or subscribed at the provider.", Content: register["201"].Content}
	register["201"] = &huma.Response{Description: "Created; with the signing secret.", Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: httpapi.SchemaRefs + "Endpoint"}},
	}}
}
