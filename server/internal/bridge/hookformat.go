package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/compat"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/webhook"
)

// hookFormat writes events as the webhooks of another project.
type hookFormat struct {
	*compat.Format
	*HookFormats
}

// HookFormats looks up what events do not say and webhooks of other projects do.
type HookFormats struct {
	BaseURL   string
	Messaging *messaging.Service
	Providers []provider.Provider
}

// Formats returns the formats that an endpoint may ask for, apart from our own.
func (s *HookFormats) Formats() map[string]webhook.Format {
	out := map[string]webhook.Format{}
	for _, f := range compat.Formats() {
		out[f.Name] = hookFormat{f, s}
	}
	return out
}

// Write makes the request of an event.
func (f hookFormat) Write(ctx context.Context, d webhook.Draft) (webhook.Formatted, error) {
	ev := compat.Event{ID: d.ID, Type: d.Type, ChatID: d.ChatID, At: d.At, Payload: d.Body, URL: d.URL}
	if err := f.aboutReference(ctx, d, &ev); err != nil {
		return webhook.Formatted{}, err
	}
	if err := f.aboutActor(ctx, d, &ev); err != nil {
		return webhook.Formatted{}, err
	}
	body, err := f.Body(ev)
	if err != nil {
		return webhook.Formatted{}, err
	}
	return webhook.Formatted{Body: body, Headers: f.Headers(compat.Signed{ID: d.ID, Body: body, Key: d.Key, At: d.Now})}, nil
}

// aboutReference adds the reference as it is now. A deleted one is named by its id.
func (s *HookFormats) aboutReference(ctx context.Context, d webhook.Draft, ev *compat.Event) error {
	ev.Reference = compat.Reference{ID: d.Scope, Name: d.Scope, BaseURL: s.BaseURL}
	id, err := strconv.ParseInt(d.Scope, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the reference of a webhook: %w", err)
	}
	r, err := s.Messaging.For(d.Account).References().Get(ctx, provider.ReferenceID(id))
	switch {
	case errors.Is(err, messaging.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("reading the reference of a webhook: %w", err)
	}
	ev.Reference.Name = r.Name
	ev.Reference.Self, ev.Reference.Profile = s.selfOf(r.Type, r.Session.Account)
	if r.Type == cloud.Kind {
		ev.Reference.Number, _ = r.Settings["phoneNumberId"].(string)
		ev.Reference.Business, _ = r.Settings["businessAccountId"].(string)
	}
	ev.QR = r.Session.QR
	if r.Session.PairingCode != nil {
		ev.PairingCode = *r.Session.PairingCode
	}
	return nil
}

// selfOf returns the address and the name of the account that a reference
// speaks for. An account that is no address of its network keeps its id.
func (s *HookFormats) selfOf(kind provider.Kind, a *messaging.SessionAccount) (address, name string) {
	if a == nil {
		return "", ""
	}
	if kind == cloud.Kind { // its id is no phone number, and its name is one
		if phone := digits(a.Name); phone != "" {
			address = phone + "@s.whatsapp.net"
		}
		return address, a.VerifiedBizName
	}
	for _, p := range s.Providers {
		if p.Kind() != kind {
			continue
		}
		if found, err := p.Address(a.ID); err == nil {
			return found.ChatID, a.Name
		}
	}
	return a.ID, a.Name
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// aboutActor adds who wrote a message of the account's own, from its record.
func (s *HookFormats) aboutActor(ctx context.Context, d webhook.Draft, ev *compat.Event) error {
	var p struct {
		Reference provider.ReferenceID `json:"reference"`
		Mine      bool                 `json:"mine"`
		ID        string               `json:"id"`
	}
	if d.Type != string(messaging.EventMessage) || d.ChatID == "" {
		return nil
	}
	if err := json.Unmarshal(d.Body, &p); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	if !p.Mine {
		return nil
	}
	m, err := s.Messaging.For(d.Account).Message(ctx, p.Reference, d.ChatID, p.ID)
	switch {
	case errors.Is(err, messaging.ErrNotFound): // it was erased, or its time was over
		return nil
	case err != nil:
		return fmt.Errorf("reading who wrote a message: %w", err)
	}
	ev.Actor = m.Actor
	return nil
}
