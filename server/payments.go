package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// paymentsPath is where Stripe posts.
const paymentsPath = "/payments"

// openBilling connects what is paid to the accounts that it is paid for.
func (s *Server) openBilling(ctx context.Context) (err error) {
	received := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "trunkline_payments_total", Help: "Payment notifications that were taken, by what became of them; dead: they belong to no account.",
	}, []string{"outcome"})
	received.WithLabelValues(string(billing.Dead)) // a rate needs the zero before the first
	s.Metrics.MustRegister(received)
	s.Billing, err = billing.New(ctx, s.cfg.DB, &billing.Options{
		Secret: string(s.cfg.PaymentsSecret), Known: s.Auth.LockAccountTx,
		Changed: func(ctx context.Context, tx *sqlx.Tx, sub billing.Subscription) error {
			req := httpapi.RequestOf(ctx)
			by := audit.Actor{Account: sub.Account, Kind: audit.System}
			err := audit.RecordTx(audit.As(s.recording().Context(ctx, req, auth.Caller{}), by), tx, audit.Entry{
				Action: audit.AccountPlan, ObjectID: sub.Account, Details: map[string]any{"plan": sub.Plan, "status": sub.Status},
			})
			if err != nil {
				return err
			}
			return s.PublishSubscriptionTx(ctx, tx, sub)
		},
		Committed: func() { s.Webhooks.Committed() },
		Received:  func(o billing.Outcome) { received.WithLabelValues(string(o)).Inc() },
		Logger:    s.cfg.Logger, Now: s.cfg.Now,
	})
	return err
}

// paymentRoutes connects Stripe's notifications. Like the provider callback
// they are no operation of the API: the signature covers the raw bytes.
func (s *Server) paymentRoutes(r *mux.Router) {
	r.HandleFunc(paymentsPath, s.payment).Methods(http.MethodPost)
	s.api.OpenAPI().AddOperation(&huma.Operation{
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

// payment takes a notification. It answers 200 only once it is stored.
func (s *Server) payment(w http.ResponseWriter, r *http.Request) {
	signature := r.Header.Get("Stripe-Signature")
	if err := s.Billing.Expects(signature); err != nil { // whose body is not worth reading
		httpapi.WriteProblem(w, s.paymentProblem(r.Context(), err))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, httpapi.DefaultMaxBody))
	if err != nil {
		httpapi.WriteProblem(w, httpapi.UnreadableBody(err))
		return
	}
	if _, err := s.Billing.Receive(r.Context(), body, signature); err != nil {
		httpapi.WriteProblem(w, s.paymentProblem(r.Context(), err))
		return
	}
	w.WriteHeader(http.StatusOK)
}

// paymentProblem says why a notification is not taken.
func (s *Server) paymentProblem(ctx context.Context, err error) *Problem {
	switch {
	case errors.Is(err, billing.ErrNoSecret):
		return httpapi.NewProblem(httpapi.CodeUnavailable, "this server takes no payment notifications: it has no --payments-secret")
	case errors.Is(err, billing.ErrSignature):
		return httpapi.NewProblem(httpapi.CodeUnauthorized, "the signature does not verify")
	case errors.Is(err, billing.ErrMalformed):
		return httpapi.Malformed("the body must be an event as Stripe sends it")
	}
	return s.problems.Of(ctx, err)
}
