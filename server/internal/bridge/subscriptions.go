package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/billing"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/webhook"
)

// Subscriptions tells audit logs and webhooks of the subscriptions of accounts.
type Subscriptions struct {
	Now       func() time.Time
	Recording middleware.Recording
	Webhooks  *webhook.Dispatcher
}

// ChangedTx records and publishes a change that a payment notification made.
func (s *Subscriptions) ChangedTx(ctx context.Context, tx database.Executor, sub billing.Subscription) error {
	by := audit.Actor{Account: sub.Account, Kind: audit.System}
	err := audit.RecordTx(audit.As(s.Recording.Context(ctx, httpapi.RequestOf(ctx), auth.Caller{}), by), tx, audit.Entry{
		Action: audit.AccountPlan, ObjectID: sub.Account, Details: map[string]any{"plan": sub.Plan, "status": sub.Status},
	})
	if err != nil {
		return err
	}
	return s.PublishTx(ctx, tx, sub)
}

// PublishTx tells an account's webhooks what its subscription is now: once to
// each distinct URL, in the name of the oldest reference that has it.
func (s *Subscriptions) PublishTx(ctx context.Context, tx database.Executor, sub billing.Subscription) error {
	eps, err := s.Webhooks.For(sub.Account).ListenersTx(ctx, tx, "subscription")
	if err != nil {
		return fmt.Errorf("publishing a subscription: %w", err)
	}
	eps = oldestByURL(eps)
	now, evs := s.Now(), make([]webhook.Event, len(eps))
	for i, ep := range eps {
		body, err := json.Marshal(subscriptionPayload(sub, referenceOf(ep), now))
		if err != nil {
			return fmt.Errorf("publishing a subscription: %w", err)
		}
		evs[i] = webhook.Event{
			Account: sub.Account, Scope: ep.Scope, Endpoint: ep.ID, Type: "subscription", Key: ep.Scope + ":subscription",
			At: now, Headers: map[string]string{"X-Trunkline-Reference": ep.Scope}, Body: body,
		}
	}
	if err := s.Webhooks.PublishTx(ctx, tx, evs...); err != nil {
		return fmt.Errorf("publishing a subscription: %w", err)
	}
	return nil
}

// oldestByURL keeps, of the endpoints with one URL, that of the oldest
// reference: their ids only grow.
func oldestByURL(eps []webhook.Endpoint) []webhook.Endpoint {
	slices.SortFunc(eps, func(a, b webhook.Endpoint) int { return cmp.Compare(referenceOf(a), referenceOf(b)) })
	seen := map[string]bool{}
	return slices.DeleteFunc(eps, func(ep webhook.Endpoint) bool {
		again := seen[ep.URL]
		seen[ep.URL] = true
		return again
	})
}

// referenceOf is the reference that an endpoint belongs to.
func referenceOf(ep webhook.Endpoint) provider.ReferenceID {
	n, _ := strconv.ParseInt(ep.Scope, 10, 64) // see view.WebhookScope
	return provider.ReferenceID(n)
}

func subscriptionPayload(sub billing.Subscription, id provider.ReferenceID, now time.Time) billing.SubscriptionPayload {
	end := sub.CurrentPeriodEnd
	if end.IsZero() {
		end = time.Unix(0, 0)
	}
	return billing.SubscriptionPayload{
		Reference: id, Ref: id, Account: sub.Account, Plan: sub.Plan, Status: sub.Status,
		CurrentPeriodEnd: messaging.UnixTime{Time: end}, Timestamp: messaging.UnixTime{Time: now},
	}
}
