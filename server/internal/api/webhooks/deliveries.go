package webhooks

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// attempt is one try to deliver an event.
type attempt struct {
	At         messaging.UnixTime `json:"at"`
	StatusCode *int               `json:"statusCode" doc:"HTTP status of the response; null if there was none."`
	DurationMS int64              `json:"durationMs"`
	Error      *string            `json:"error" doc:"null after a 2xx response."`
	Response   string             `json:"response" doc:"The first KiB of the response body."`
}

// Delivery is an event on its way to a webhook.
type Delivery struct {
	ID            string              `json:"id"`
	EndpointID    string              `json:"endpointId"`
	Event         string              `json:"event" enum:"message,status,data,calls,subscription,session"`
	ChatID        *string             `json:"chatId"`
	MessageID     *string             `json:"messageId"`
	Sequence      int64               `json:"sequence" doc:"Number of the event within its chat and webhook; 0 for a test event."`
	State         string              `json:"state" enum:"pending,delivered,failed,dead"`
	Attempts      []attempt           `json:"attempts" nullable:"false" doc:"The last 50 attempts, oldest first."`
	NextAttemptAt *messaging.UnixTime `json:"nextAttemptAt" doc:"null if no attempt is planned, or one is in progress."`
	CreatedAt     messaging.UnixTime  `json:"createdAt"`
}

// registerDeliveries adds the operations on deliveries.
func (a *API) registerDeliveries(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Deliveries", On: httpapi.At("query.reference", "query.endpoint"), Method: http.MethodGet, Path: "/references/deliveries",
		Summary: "List pending and past webhook deliveries of a reference",
		About: "Pending deliveries are first, by the time of their event, then finished ones, by the time at which they finished; " +
			"newest first in both. The log of a removed webhook is kept until its retention ends.",
		Errors: []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.listDeliveries)
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Replay", On: httpapi.Listing("body.endpoint"), Method: http.MethodPost, Path: "/references/deliveries/replay",
		Summary: "Deliver again: given deliveries, or all of a webhook in a time span",
		About: "Give either `ids` or `endpoint`. Replayed deliveries have their old `webhook-id` and `X-Trunkline-Sequence`, and do not delay newer ones. " +
			"Deliveries that are pending or no longer stored are not counted.",
		Errors: []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.replay)
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Test", On: httpapi.At("path.endpointId"), Method: http.MethodPost, Path: "/references/hookconf/{endpointId}/test",
		Summary: "Send a test event to a webhook and show its response",
		About: "The event is a `message` with the text \"" + testText + "\", signed as usual, with `X-Trunkline-Sequence: 0`. " +
			"It is sent regardless of the webhook's state and events, is in the log, and is not retried.",
		Errors: []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.testHook)
}

type deliveryFilter struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Endpoint  string               `query:"endpoint" maxLength:"64" doc:"Only deliveries to this endpointId."`
	State     string               `query:"state" enum:"pending,delivered,failed,dead"`
	ChatID    string               `query:"chatId" maxLength:"512" doc:"Any id of the chat, current or former." example:"ana@sandbox"`
	MessageID string               `query:"messageId" maxLength:"512" doc:"Any of the message's ids."`
	Event     string               `query:"event" maxLength:"20" doc:"Kind of event: message, status, data, calls, subscription or session."`
	Limit     int                  `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor    string               `query:"cursor" maxLength:"400" doc:"The next of the previous page."`
}

func (a *API) listDeliveries(ctx context.Context, c httpapi.Call, in *deliveryFilter) (view.Page[Delivery], error) {
	var none view.Page[Delivery]
	f := webhook.DeliveryFilter{
		Scope: view.WebhookScope(in.Reference), Endpoint: in.Endpoint, State: in.State, Event: in.Event, Limit: in.Limit, Cursor: in.Cursor,
	}
	acc := a.Messaging.For(c.Account)
	_, err := acc.References().Get(ctx, in.Reference)
	if err == nil && in.ChatID != "" {
		f.ChatIDs, err = acc.ChatIDs(ctx, in.Reference, in.ChatID)
	}
	if err == nil && in.MessageID != "" {
		f.MessageIDs, err = acc.MessageIDs(ctx, in.Reference, in.MessageID)
	}
	if err != nil {
		return none, httpapi.InQuery(err)
	}
	p, err := a.Webhooks.For(c.Account).Deliveries(ctx, f)
	if err == nil && len(p.Items) == 0 && in.Endpoint != "" { // is there such a one at all?
		_, err = a.Webhooks.For(c.Account).Endpoint(ctx, in.Endpoint)
	}
	if err != nil {
		return none, httpapi.InQuery(err)
	}
	return view.PageOf(p, DeliveryOf), nil
}

// DeliveryOf returns a delivery as its owner sees it.
func DeliveryOf(d webhook.Delivery) Delivery {
	out := Delivery{
		ID: d.ID, EndpointID: d.EndpointID, Event: d.Event, ChatID: view.OrNull(d.ChatID), MessageID: view.OrNull(d.MessageID),
		Sequence: d.Sequence, State: d.State, Attempts: make([]attempt, len(d.Attempts)), CreatedAt: messaging.UnixTime{Time: d.CreatedAt},
	}
	for i, a := range d.Attempts {
		out.Attempts[i] = attemptOf(a)
	}
	if !d.NextAttemptAt.IsZero() {
		out.NextAttemptAt = &messaging.UnixTime{Time: d.NextAttemptAt}
	}
	return out
}

func attemptOf(a webhook.Attempt) attempt {
	return attempt{
		At: messaging.UnixTime{Time: a.At}, StatusCode: view.StatusOrNull(a), DurationMS: a.Duration.Milliseconds(),
		Error: view.OrNull(a.Error), Response: a.Response,
	}
}

type replayInput struct {
	Body struct {
		IDs      []string `json:"ids,omitempty" maxItems:"200" doc:"Ids of deliveries, of any reference of the account."`
		Endpoint string   `json:"endpoint,omitempty" maxLength:"64" doc:"An endpointId. Give it instead of ids."`
		Since    *int64   `json:"since,omitempty" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only deliveries whose last attempt was at this time or later. Default: no limit."`
		Until    *int64   `json:"until,omitempty" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only deliveries whose last attempt was at this time or earlier. Default: now."`
		State    string   `json:"state,omitempty" enum:"failed,dead,delivered" doc:"Only deliveries in this state. Default: failed and dead."`
	}
}

type replayResult struct {
	Queued int `json:"queued" doc:"Number of deliveries that are sent again."`
}

func (a *API) replay(ctx context.Context, c httpapi.Call, in *replayInput) (replayResult, error) {
	b := in.Body
	if err := in.check(); err != nil {
		return replayResult{}, err
	}
	n, err := a.Webhooks.For(c.Account).Replay(ctx, webhook.Replay{
		IDs: b.IDs, Scopes: scopesOf(c), Endpoint: b.Endpoint, Since: second(b.Since), Until: secondsEnd(b.Until), State: b.State,
	})
	if len(b.IDs) > 0 && errors.Is(err, webhook.ErrNotFound) {
		err = httpapi.NewProblem(httpapi.CodeNotFound, "there is no such delivery, or none of them has been attempted yet")
	}
	return replayResult{n}, err
}

// check sees to it that one of the two forms is there, and only that.
func (in *replayInput) check() error {
	b := in.Body
	if len(b.IDs) == 0 {
		if b.Endpoint == "" {
			return httpapi.Invalid("body.endpoint", "is required without ids")
		}
		return nil
	}
	for _, m := range []struct {
		name  string
		given bool
	}{{"endpoint", b.Endpoint != ""}, {"since", b.Since != nil}, {"until", b.Until != nil}, {"state", b.State != ""}} {
		if m.given {
			return httpapi.Invalid("body."+m.name, "cannot be given together with ids")
		}
	}
	return nil
}

// second is the beginning of a UNIX second.
func second(s *int64) time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Unix(*s, 0)
}

// secondsEnd is the last instant of a UNIX second, as far as they are stored.
func secondsEnd(s *int64) time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Unix(*s, int64(time.Second-time.Microsecond))
}

// scopesOf are the scopes of webhooks that the caller reaches; nil: all.
func scopesOf(c httpapi.Call) []string {
	if c.Only == nil {
		return nil
	}
	out := make([]string, len(c.Only))
	for i, reference := range c.Only {
		out[i] = view.WebhookScope(provider.ReferenceID(reference))
	}
	return out
}
