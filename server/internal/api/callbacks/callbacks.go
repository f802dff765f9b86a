// Package callbacks takes what networks post. Its routes are no operations of
// the API: signatures cover the raw bytes.
package callbacks

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/server/internal/forged"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// callbackPath is where networks post for all references.
const callbackPath = "/webhooks/provider"

// callbackLimit is the most bytes of a callback; networks send up to 3 MB.
const callbackLimit = 4 << 20

// API takes callbacks.
type API struct {
	Forged    *forged.Limiter // limits callbacks without a valid signature
	Messaging *messaging.Service
	Now       func() time.Time
	Problem   func(context.Context, error) *httpapi.Problem
}

// Mount connects the routes.
func (a *API) Mount(r *mux.Router) {
	r.HandleFunc(callbackPath, a.handshake).Methods(http.MethodGet)
	r.HandleFunc(callbackPath, a.receive).Methods(http.MethodPost)
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
			"503": httpapi.RefusedResponse("Several accounts have a reference for the same number or page and none has proved its access yet; the store cannot be written; or too many large bodies from unknown addresses wait to be checked."),
		},
	})
}

// handshake answers a network that asks whether this address is ours.
func (a *API) handshake(w http.ResponseWriter, r *http.Request) {
	var failed error
	challenge, ok := graph.Challenge(r.URL.Query(), func(token string) bool {
		known, err := a.Messaging.Handshake(r.Context(), token)
		failed = err
		return known
	})
	switch {
	case failed != nil:
		httpapi.WriteProblem(w, a.Problem(r.Context(), failed))
	case !ok:
		httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeForbidden, "no reference has this verify token: enter the same in the settings of the reference and in the dashboard of the app"))
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, challenge)
	}
}

// receive takes what a network reports. It answers 200 only once all of
// it is stored.
func (a *API) receive(w http.ResponseWriter, r *http.Request) {
	from, announced := httpapi.RequestOf(r.Context()).Client, r.ContentLength
	if announced < 0 || announced > callbackLimit {
		announced = callbackLimit
	}
	if wait, ok := a.Forged.Take(from, announced, a.Now()); !ok {
		w.Header().Set("Connection", "close") // the body is not read
		httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeRateLimited, "too many callbacks from this address had a signature that matches no reference; try again later").RetryAfter(wait))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, callbackLimit))
	if err != nil {
		httpapi.WriteProblem(w, httpapi.UnreadableBody(err))
		return
	}
	err = a.process(r, from, body)
	switch {
	case errors.Is(err, messaging.ErrNotCallback), errors.Is(err, messaging.ErrUnverified), errors.Is(err, forged.ErrBusy), r.Context().Err() != nil:
	case !a.Messaging.Addressed(body):
		a.Forged.Foreign(from, a.Now())
	default:
		a.Forged.Good(from, announced, a.Now())
	}
	switch {
	case err == nil:
		w.WriteHeader(http.StatusOK)
	case errors.Is(err, messaging.ErrNotCallback):
		httpapi.WriteProblem(w, httpapi.Malformed("the body must be a JSON object as the network sends it"))
	case errors.Is(err, forged.ErrBusy):
		httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeUnavailable, "too many large callbacks from unknown addresses wait to be checked: try again later").RetryAfter(time.Second))
	default:
		httpapi.WriteProblem(w, a.Problem(r.Context(), err))
	}
}

// process gives a body to messaging when it is its turn.
func (a *API) process(r *http.Request, from netip.Addr, body []byte) error {
	done, err := a.Forged.Wait(r.Context(), from, int64(len(body)), a.Now())
	if err != nil {
		return err
	}
	signed := false
	defer func() { done(signed) }()
	err = a.Messaging.Callback(database.ForCallback(r.Context()), r.Header, body)
	signed = err == nil
	return err
}
