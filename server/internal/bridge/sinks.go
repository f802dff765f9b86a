package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// Sinks passes on to webhooks, bots and flows what happens in messaging.
type Sinks struct {
	BaseURL    string
	Bots       *botengine.Service
	DB         *database.DB
	Extractors *store.Service
	Flows      *aiflow.Service
	Messaging  *messaging.Service
	Now        func() time.Time
	Runs       *runtime.Runtime
	Webhooks   *webhook.Dispatcher
}

func (s *Sinks) hooks() hooks { return hooks{s.Webhooks, s.Now} }

// EventsTx publishes events, and queues the messages of contacts that are to be
// answered.
func (s *Sinks) EventsTx(ctx context.Context, tx messaging.Tx, evs []messaging.Event) error {
	to, err := s.audienceTx(ctx, tx, evs)
	if err != nil {
		return err
	}
	if err := s.hooks().eventsTx(ctx, tx, evs, to); err != nil {
		return err
	}
	var taken []messaging.Event
	for _, ev := range evs {
		if to.takes(ev) {
			taken = append(taken, ev)
		}
	}
	return s.queue(ctx, tx, taken, to)
}

// ChatsTx tells webhooks and runs that chats are one now, and runs that a
// person has taken over a chat or given it back.
func (s *Sinks) ChatsTx(ctx context.Context, tx messaging.Tx, news []messaging.ChatUpdate) error {
	if err := s.hooks().mergedTx(ctx, tx, news); err != nil {
		return err
	}
	for _, n := range news {
		chat := runtime.Chat{Reference: int64(n.Reference), Key: n.Key, ID: n.ChatID}
		if len(n.Merged) > 0 {
			if err := s.Runs.MergedTx(ctx, tx, chat, n.Merged); err != nil {
				return err
			}
		}
		if n.Handoff.IsZero() && !n.WasTaken {
			continue
		}
		if err := s.Runs.HandoffTx(ctx, tx, chat, n.Handoff.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

// Erase erases what webhooks were told of a contact, and its runs.
func (s *Sinks) Erase(ctx context.Context, e messaging.Erased) error {
	err := s.Webhooks.For(e.Account).Erase(ctx, webhook.Erasure{
		Scope: view.WebhookScope(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
	if err != nil {
		return err
	}
	return s.Runs.For(e.Account).Erase(ctx, runtime.Erasure{
		Reference: int64(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
}

// fromContact reports whether an event is a message of a contact.
func fromContact(ev messaging.Event) bool {
	return ev.Type == messaging.EventMessage && ev.Actor == messaging.ActorContact
}

// saysSomething reports whether a message may be answered: it does not react to
// another, change it or take it back.
func saysSomething(p messaging.MessagePayload) bool {
	return p.Reaction == nil && p.Revoked == nil && p.Edited == nil
}

// queue queues messages for bots and flows, without those that only change others.
// What extractors read they read first.
func (s *Sinks) queue(ctx context.Context, tx database.Executor, evs []messaging.Event, to *audience) error {
	if len(evs) == 0 {
		return nil
	}
	about, err := s.Messaging.InboundMessagesTx(ctx, tx, evs)
	if err != nil {
		return err
	}
	var ins []runtime.Incoming
	for _, ev := range evs {
		known, exists := about[ev.ID]
		if !exists {
			continue // it was deleted while its event waited
		}
		var p messaging.MessagePayload
		if err := json.Unmarshal(ev.Payload, &p); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if saysSomething(p) {
			ins = append(ins, s.incoming(ev, p, known, to.read(ev)))
		}
	}
	return s.Runs.IncomingTx(ctx, tx, ins...)
}

// incoming is a message of a contact as runs see it.
func (s *Sinks) incoming(ev messaging.Event, p messaging.MessagePayload, about messaging.InboundMessage, read bool) runtime.Incoming {
	in := runtime.Incoming{
		Chat:    view.RunChat(ev.Account, ev.Reference, ev.Key, ev.ChatID),
		Message: FlowMessage(s.BaseURL, p), Prepare: read, Traceparent: ev.Traceparent,
		Inbound: flow.Inbound{Channel: string(about.Kind), Group: p.Participant != nil, First: about.First, Text: said(p)},
	}
	if p.Reply != nil {
		in.Inbound.Button = p.Reply.ID
	}
	if len(p.Referral) > 0 {
		payload := referralPayload(p.Referral)
		in.Inbound.Referral = &payload
	}
	return in
}

// referralPayload returns the payload of the link or the advertisement by which a
// contact came. The two networks name it differently.
func referralPayload(raw json.RawMessage) string {
	var r struct {
		Ref      string `json:"ref"`
		SourceID string `json:"source_id"`
	}
	_ = json.Unmarshal(raw, &r) // a referral of another form has no payload
	if r.Ref != "" {
		return r.Ref
	}
	return r.SourceID
}
