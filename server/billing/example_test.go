package billing_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A signed notification changes the subscription of an account. Repeating it
// changes nothing.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is written any more
	subscriptions, err := billing.New(ctx, db, &billing.Options{Secret: "whsec_of_the_endpoint"})
	if err != nil {
		log.Fatal(err)
	}

	body := fmt.Appendf(nil, `{"id": "evt_1", "object": "event", "type": "customer.subscription.updated", "created": %d, "data": {"object": {
		"id": "sub_1", "object": "subscription", "customer": "cus_1", "status": "active", "metadata": {"account": "ana"},
		"items": {"data": [{"current_period_end": 1893456000, "price": {"id": "price_1", "lookup_key": "pro"}}]}
	}}}`, time.Now().Unix())
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: "whsec_of_the_endpoint"}) // as Stripe does it
	for range 2 {
		outcome, err := subscriptions.Receive(ctx, signed.Payload, signed.Header)
		fmt.Println(outcome, err)
	}
	ana, err := subscriptions.Subscription(ctx, "ana")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ana.Status, ana.Plan)
	_, err = subscriptions.Receive(ctx, body, "t=1,v1=00")
	fmt.Println(err)
	// Output:
	// applied <nil>
	// repeated <nil>
	// active pro
	// billing: the signature does not verify
}
