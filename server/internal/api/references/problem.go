package references

import (
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Problem translates the errors of package messaging.
func Problem(err error) *httpapi.Problem {
	r, ok := messaging.Refused(err)
	if !ok {
		return nil
	}
	p := httpapi.NewProblem(r.Code, r.Message)
	if r.Field != "" {
		place := "body."
		if r.Field == "Idempotency-Key" {
			place = "header."
		}
		p.Errors = append(p.Errors, httpapi.FieldError{Location: place + r.Field, Message: r.Why})
	}
	if r.After > 0 {
		p.RetryAfter(r.After)
	}
	return p
}
