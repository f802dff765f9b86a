package billing

import (
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// SubscriptionPayload is what integrators receive when an account's
// subscription changes.
type SubscriptionPayload struct {
	Reference        provider.ReferenceID `json:"reference" doc:"Id of the oldest reference that has this webhook." example:"1"`
	Ref              provider.ReferenceID `json:"ref" doc:"Same value as reference." example:"1"`
	Account          string               `json:"account" doc:"Id of the account."`
	Plan             string               `json:"plan" example:"pro"`
	Status           string               `json:"status" doc:"Stripe's status of the subscription: trialing, active, past_due, canceled, unpaid, paused or another." example:"active"`
	CurrentPeriodEnd payload.UnixTime     `json:"currentPeriodEnd" doc:"0 if unknown." example:"1774958400"`
	Timestamp        payload.UnixTime     `json:"timestamp" example:"1772366400"`
}
