package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	testText  = "This is a test event. No contact wrote it."
	testPhone = "15555550100" // one of the numbers that are reserved for examples
)

// testHook sends a made-up message.
func (a *API) testHook(ctx context.Context, c httpapi.Call, in *endpointPath) (attempt, error) {
	ep, err := a.Webhooks.For(c.Account).Endpoint(ctx, in.EndpointID)
	if err != nil {
		return attempt{}, err
	}
	ev, err := a.testEvent(ctx, c, ep.Scope)
	if err != nil {
		return attempt{}, err
	}
	sent, err := a.Webhooks.For(c.Account).Test(ctx, ep.ID, ev)
	return attemptOf(sent), err
}

func (a *API) testEvent(ctx context.Context, c httpapi.Call, scope string) (webhook.Event, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return webhook.Event{}, fmt.Errorf("making an id: %w", err)
	}
	ref, err := strconv.ParseInt(scope, 10, 64)
	if err != nil {
		return webhook.Event{}, fmt.Errorf("reading the reference of a webhook: %w", err)
	}
	reference := provider.ReferenceID(ref)
	chatID, err := a.testChat(ctx, c, reference)
	if err != nil {
		return webhook.Event{}, err
	}
	now := a.Now()
	body, err := json.Marshal(messaging.MessagePayload{
		Head: messaging.Head{
			Reference: reference, Ref: reference, RemoteJID: testPhone + "::single", ChatID: chatID, ID: "test-" + id.String(),
			PushName: "Test", MessageTimestamp: messaging.UnixTime{Time: now}, Status: "DELIVERED",
		},
		Body: messaging.Body{Type: messaging.TypeText, Text: testText},
	})
	return webhook.Event{
		ID: id.String(), Type: "message", At: now, MessageID: "test-" + id.String(), Body: body,
		Headers: map[string]string{"X-Trunkline-Reference": scope},
	}, err
}

// testChat is the id that the chat of a test event would have; "" on a network
// that does not know people by their phone numbers.
func (a *API) testChat(ctx context.Context, c httpapi.Call, ref provider.ReferenceID) (string, error) {
	ids, err := a.Messaging.For(c.Account).ChatIDs(ctx, ref, testPhone)
	if _, ok := errors.AsType[*messaging.Invalid](err); ok {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("naming the chat of a test event: %w", err)
	}
	return ids[len(ids)-1], nil
}
