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

// Mount connects the route, and describes it in the document.
func (a *API) Mount(r *mux.Router, doc *huma.OpenAPI) {
	r.HandleFunc(paymentsPath, a.receive).Methods(http.MethodPost)
	doc.AddOperation(&huma.Operation{
		OperationID: "Billing_Receive", Method: http.MethodPost, Path: paymentsPath, Tags: []string{"Billing"},
		Summary: "Take what Stripe reports of a subscription", Security: []map[string][]string{},
		Description: "For an event of Stripe's, of type `customer.subscription.*` or `invoice.*`; others are answered 200 and forgotten. " +
			"The subscription's metadata `account` says whose it is, and `plan`, if it is there, what its plan is called. " +
			"200 only once it is stored. An event may come any number of times, and in any order.",
		Parameters: []*huma.Param{{
			Name: "Stripe-Signature", In: "header", Required: true, Description: "As Stripe makes it with the endpoint's signing secret.",
			Schema: &huma.Schema{Type: huma.TypeString},
		}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		}},
		Responses: map[string]*huma.Response{
			"200": {Description: "It is stored."}, "400": httpapi.RefusedResponse("The body is no event."), "401": httpapi.RefusedResponse("The signature does not verify, or is too old."),
			"408": httpapi.RefusedResponse("The body came too slowly."), "413": httpapi.RefusedResponse("The body is larger than 1 MiB."),
			"503": httpapi.RefusedResponse("This server has no --payments-secret; or the store cannot be written."),
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
		return httpapi.NewProblem(httpapi.CodeUnavailable, "this server takes no payment notifications: it has no --payments-secret")
	case errors.Is(err, billing.ErrSignature):
		return httpapi.NewProblem(httpapi.CodeUnauthorized, "the signature does not verify")
	case errors.Is(err, billing.ErrMalformed):
		return httpapi.Malformed("the body must be an event as Stripe sends it")
	}
	return a.Problem(ctx, err)
}
