// Package webhook delivers events to HTTP endpoints: at least once, in order
// per key and endpoint, signed, retried, and logged. An event with a key goes
// in, inside the caller's transaction; a signed POST comes out.
//
// It knows nothing of what the events say. Their types are the caller's, such as
// order.created. Their owner is a scope, any string of the caller's; endpoints are
// registered for a scope and get its events, all or those of the types that they ask
// for: order.created, order.* or *.
//
//	ctx := context.Background()
//	db := sqlx.MustConnect("sqlite", "file:shop.db?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
//	hooks, err := webhook.New(ctx, db, &webhook.Options{
//		Secrets: []string{os.Getenv("APP_SECRET")},
//		Allow:   []string{"127.0.0.1"},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	endpoint := webhook.Settings{Scope: "shop", URL: os.Getenv("RECEIVER"), Secret: os.Getenv("WEBHOOK_SECRET")}
//	if _, _, err := hooks.For(webhook.OneAccount).Put(ctx, endpoint); err != nil {
//		log.Fatal(err)
//	}
//	order := webhook.Event{Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Body: []byte(`{"order":17}`)}
//	if err := hooks.Publish(ctx, order); err != nil {
//		log.Fatal(err)
//	}
//	log.Fatal(hooks.Run(ctx)) // delivers, and tries again until it is taken
//
// An event that belongs to something which is being written goes into the same
// transaction, and is neither lost nor told too early:
//
//	err = hooks.PublishTx(ctx, tx, webhook.Event{
//		Account: webhook.OneAccount, Scope: "shop", Type: "order.created", Key: "customer 7", Body: body,
//	})
//
// # What a receiver gets
//
// A POST with the exact bytes of [Event.Body], the endpoint's own headers,
// Webhook-Event (the type), Webhook-Sequence (counts the events of a key at this
// endpoint, from 1; [Options.HeaderPrefix] renames both) and the three headers of
// Standard Webhooks, which [Verify] checks: webhook-id (the same in every attempt), webhook-timestamp,
// webhook-signature. A 2xx takes the event. 410 disables the endpoint. All
// else is repeated as [Policy] says; redirects are not followed.
//
// # Failures
//
// Two kinds are kept apart. An endpoint that is down (no connection, timeout,
// 429, 5xx, for several events in a row) is paused as a whole and probed:
// nothing passes, nothing is given up, and order is kept. One event that is
// refused while others pass is retried for days; what is behind it in its key
// waits for a while, then passes. No endpoint holds back another.
//
// # Safety
//
// Endpoints on private networks are refused when a connection is opened, so
// that a name which changes its address makes no difference; [Options.Allow]
// names exceptions. Header values and signing secrets are sealed at rest and
// never shown again.
package webhook
