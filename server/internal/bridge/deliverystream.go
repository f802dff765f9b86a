package bridge

import (
	"context"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// attempted is an attempt as the stream shows it.
type attempted struct {
	Reference  provider.ReferenceID `json:"reference"`
	EndpointID string               `json:"endpointId"`
	DeliveryID string               `json:"deliveryId"`
	Event      string               `json:"event"`
	ChatID     *string              `json:"chatId"`
	MessageID  *string              `json:"messageId"`
	State      string               `json:"state"`
	StatusCode *int                 `json:"statusCode"`
	Attempt    int                  `json:"attempt"` // from 1
	At         messaging.UnixTime   `json:"at"`
}

// DeliveryStream publishes attempts to deliver webhooks on the stream of their
// account, in the transaction that records them.
type DeliveryStream struct{ Messaging *messaging.Service }

// AttemptsTx writes one row for each.
func (t *DeliveryStream) AttemptsTx(ctx context.Context, tx webhook.Tx, as []webhook.Attempted) error {
	news := make([]messaging.Change, len(as))
	for i, a := range as {
		ref, err := strconv.ParseInt(a.Scope, 10, 64)
		if err != nil {
			return fmt.Errorf("reading the reference of a webhook: %w", err)
		}
		d := a.Delivery
		last := d.Attempts[len(d.Attempts)-1]
		news[i] = messaging.Change{
			Account: a.Account, Reference: provider.ReferenceID(ref), Kind: "delivery", Data: attempted{
				Reference: provider.ReferenceID(ref), EndpointID: d.EndpointID, DeliveryID: d.ID, Event: d.Event,
				ChatID: view.OrNull(d.ChatID), MessageID: view.OrNull(d.MessageID), State: d.State, StatusCode: view.StatusOrNull(last),
				Attempt: a.Number, At: messaging.UnixTime{Time: last.At},
			},
		}
	}
	return t.Messaging.PublishTx(ctx, tx, news...)
}
