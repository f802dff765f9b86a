// Package callbacks takes what networks post. Its routes are no operations of
// the API: signatures cover the raw bytes.
package callbacks

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// callbackPath is where networks post for all references.
const callbackPath = "/webhooks/provider"

// API takes callbacks.
type API struct {
	Messaging *messaging.Service
	Now       func() time.Time
	Problem   func(context.Context, error) *httpapi.Problem
}

// Mount connects the routes.
func (a *API) Mount(r *mux.Router) {
	h := messaging.CallbackHandler(a.Messaging, &messaging.CallbackOptions{Client: client, Refuse: a.refuse, Now: a.Now})
	r.Handle(callbackPath, h).Methods(http.MethodGet, http.MethodPost)
}

// client is the address that a request comes from, as the middleware has found it.
func client(r *http.Request) netip.Addr { return httpapi.RequestOf(r.Context()).Client }

// refuse answers with a problem.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, why messaging.CallbackRefusal) {
	switch {
	case errors.Is(why.Err, messaging.ErrNotCallback):
		httpapi.WriteProblem(w, httpapi.Malformed("the body must be a JSON object as the network sends it"))
	case why.Status == http.StatusBadRequest, why.Status == http.StatusRequestTimeout, why.Status == http.StatusRequestEntityTooLarge:
		httpapi.WriteProblem(w, httpapi.UnreadableBody(why.Err))
	default:
		p := a.Problem(r.Context(), why.Err)
		if why.After > 0 {
			p = p.RetryAfter(why.After)
		}
		httpapi.WriteProblem(w, p)
	}
}

// Describe adds the routes to the document.
func Describe(doc *huma.OpenAPI) {
	text := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Required: true, Description: about, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	doc.AddOperation(&huma.Operation{
		OperationID: "Messaging_Handshake", Method: http.MethodGet, Path: callbackPath, Tags: []string{"Messaging"},
		Summary: "Answer a network's verification handshake", Security: []map[string][]string{},
		Parameters: []*huma.Param{
			text("hub.mode", "subscribe"), text("hub.verify_token", "The verifyToken of a reference."), text("hub.challenge", "Returned in the response."),
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "The challenge.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"403": httpapi.RefusedResponse("No reference has this token."),
			"503": httpapi.RefusedResponse("The store cannot be read for now."),
		},
	})
	doc.AddOperation(&huma.Operation{
		OperationID: "Messaging_Callback", Method: http.MethodPost, Path: callbackPath, Tags: []string{"Messaging"},
		Summary: "Receive the events of a network", Security: []map[string][]string{},
		Description: "Answers 200 after all events of the body are stored. A body may be sent more than once.",
		Parameters: []*huma.Param{{
			Name: "X-Hub-Signature-256", In: "header", Required: true, Description: "sha256= and the hex HMAC of the raw body under the appSecret.",
			Schema: &huma.Schema{Type: huma.TypeString},
		}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		}},
		Responses: map[string]*huma.Response{
			"200": {Description: "Everything is stored."}, "400": httpapi.RefusedResponse("The body is not a JSON object."),
			"401": httpapi.RefusedResponse("The signature does not match any reference that the body is for."), "413": httpapi.RefusedResponse("The body is larger than 4 MiB."),
			"429": httpapi.RefusedResponse("Too many callbacks from this address had a signature that matches no reference."),
			"503": httpapi.RefusedResponse("Several accounts have a reference for the same number or page and none has proved its access yet; the store cannot be written; or too many bodies from unknown addresses wait to be checked."),
		},
	})
}
