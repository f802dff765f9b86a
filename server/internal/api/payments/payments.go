// Package payments takes what Stripe reports of subscriptions. Its route is no
// operation of the API: the signature covers the raw bytes.
package payments

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// paymentsPath is where Stripe posts.
const paymentsPath = "/payments"

// API takes notifications.
type API struct {
	Billing *billing.Service
	Problem func(context.Context, error) *httpapi.Problem
}

// Mount connects the route.
func (a *API) Mount(r *mux.Router) {
	r.HandleFunc(paymentsPath, a.receive).Methods(http.MethodPost)
}

// Describe adds the route to the document.
func Describe(doc *huma.OpenAPI) {
	doc.AddOperation(&huma.Operation{
		OperationID: "Billing_Receive", Method: http.MethodPost, Path: paymentsPath, Tags: []string{"Billing"},
		Summary: "Receive Stripe's events about a subscription", Security: []map[string][]string{},
		Description: "For events of type `customer.subscription.*` and `invoice.*`. Other events answer 200 and are ignored. " +
			"The subscription's metadata `account` is the id of the account, and the optional `plan` the name of the plan. " +
			"Answers 200 after the event is stored. Events may be sent more than once, and in any order.",
		Parameters: []*huma.Param{{
			Name: "Stripe-Signature", In: "header", Required: true, Description: "Stripe's signature with the endpoint's signing secret.",
			Schema: &huma.Schema{Type: huma.TypeString},
		}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The event is stored."}, "400": httpapi.RefusedResponse("The body is not an event."), "401": httpapi.RefusedResponse("The signature is not valid, or too old."),
			"408": httpapi.RefusedResponse("The body arrived too slowly."), "413": httpapi.RefusedResponse("The body is larger than 1 MiB."),
			"503": httpapi.RefusedResponse("The server has no --payments-secret, or the store cannot be written."),
		},
	})
}

// receive takes a notification. It answers 200 only once it is stored.
func (a *API) receive(w http.ResponseWriter, r *http.Request) {
	signature := r.Header.Get("Stripe-Signature")
	if err := a.Billing.Expects(signature); err != nil { // whose body is not worth reading
		httpapi.WriteProblem(w, a.problem(r.Context(), err))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, httpapi.DefaultMaxBody))
	if err != nil {
		httpapi.WriteProblem(w, httpapi.UnreadableBody(err))
		return
	}
	if _, err := a.Billing.Receive(r.Context(), body, signature); err != nil {
		httpapi.WriteProblem(w, a.problem(r.Context(), err))
		return
	}
	w.WriteHeader(http.StatusOK)
}

// problem says why a notification is not taken.
func (a *API) problem(ctx context.Context, err error) *httpapi.Problem {
	switch {
	case errors.Is(err, billing.ErrNoSecret):
		return httpapi.NewProblem(httpapi.CodeUnavailable, "this server accepts no payment notifications: start it with --payments-secret")
	case errors.Is(err, billing.ErrSignature):
		return httpapi.NewProblem(httpapi.CodeUnauthorized, "the signature is not valid for --payments-secret, or too old")
	case errors.Is(err, billing.ErrMalformed):
		return httpapi.Malformed("the body must be an event as Stripe sends it")
	}
	return a.Problem(ctx, err)
}
