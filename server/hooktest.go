package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	testText  = "This is a test event. Nobody wrote it."
	testPhone = "15555550100" // one of the numbers that belong to nobody
)

// testPayload is the payload of a text message, with nothing but what every
// text has.
type testPayload struct {
	Reference        provider.ReferenceID `json:"reference"`
	Ref              provider.ReferenceID `json:"ref"`
	RemoteJID        string               `json:"remoteJid"`
	Mine             bool                 `json:"mine"`
	ID               string               `json:"id"`
	PushName         string               `json:"pushName"`
	VerifiedBizName  string               `json:"verifiedBizName"`
	MessageTimestamp messaging.UnixTime   `json:"messageTimestamp"`
	Type             string               `json:"type"`
	Status           string               `json:"status"`
	Text             string               `json:"text"`
}

// testHook sends a message that nobody wrote.
func (s *Server) testHook(ctx context.Context, c call, in *endpointPath) (attempt, error) {
	ep, err := s.hooks(c).Endpoint(ctx, in.EndpointID)
	if err != nil {
		return attempt{}, err
	}
	ev, err := s.testEvent(ep.Scope)
	if err != nil {
		return attempt{}, err
	}
	a, err := s.hooks(c).Test(ctx, ep.ID, ev)
	return attemptOf(a), err
}

func (s *Server) testEvent(scope string) (webhook.Event, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return webhook.Event{}, fmt.Errorf("making an id: %w", err)
	}
	ref, err := strconv.ParseInt(scope, 10, 64)
	if err != nil {
		return webhook.Event{}, fmt.Errorf("reading the reference of a webhook: %w", err)
	}
	now := s.cfg.Now()
	body, err := json.Marshal(testPayload{
		Reference: provider.ReferenceID(ref), Ref: provider.ReferenceID(ref), RemoteJID: testPhone + "::single", ID: "test-" + id.String(),
		PushName: "Test", MessageTimestamp: messaging.UnixTime{Time: now}, Type: "text", Status: "DELIVERED", Text: testText,
	})
	return webhook.Event{
		ID: id.String(), Type: "message", At: now, MessageID: "test-" + id.String(), Body: body,
		Headers: map[string]string{"X-Trunkline-Reference": scope},
	}, err
}
