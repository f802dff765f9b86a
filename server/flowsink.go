package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// toFlows has the messages of contacts answered by bots and flows.
type toFlows struct{ s *Server }

// arrival is a message that a bot may answer.
type arrival struct {
	ev      messaging.Event
	payload messaging.MessagePayload
}

// EventsTx queues the messages of contacts in whose chats something listens.
func (t toFlows) EventsTx(ctx context.Context, tx *sqlx.Tx, evs []messaging.Event) error {
	var found []arrival
	for _, ev := range evs {
		if ev.Type != messaging.EventMessage || ev.Actor != messaging.ActorContact {
			continue
		}
		a := arrival{ev: ev}
		if err := json.Unmarshal(ev.Payload, &a.payload); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if a.payload.Reaction == nil && a.payload.Revoked == nil && a.payload.Edited == nil {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return nil
	}
	listens, err := t.listeners(ctx, tx, found)
	if err != nil {
		return err
	}
	for _, a := range found {
		if !listens(a.ev) {
			continue
		}
		if err := t.queue(ctx, tx, a); err != nil {
			return err
		}
	}
	return nil
}

// listeners finds out on which lines and in which chats something listens.
func (t toFlows) listeners(ctx context.Context, tx *sqlx.Tx, found []arrival) (func(messaging.Event) bool, error) {
	var refs []int64
	var keys []string
	for _, a := range found {
		refs, keys = append(refs, int64(a.ev.Reference)), append(keys, a.ev.Key)
	}
	lines, err := t.s.Bots.ListeningTx(ctx, tx, refs)
	if err != nil {
		return nil, err
	}
	chats, err := t.s.Flows.ActiveTx(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	return func(ev messaging.Event) bool { return lines[int64(ev.Reference)] || chats[ev.Key] }, nil
}

func (t toFlows) queue(ctx context.Context, tx *sqlx.Tx, a arrival) error {
	acc := t.s.Messaging.For(a.ev.Account)
	about, err := acc.ArrivalTx(ctx, tx, a.ev.Reference, a.ev.MessageID)
	if err != nil {
		return err
	}
	p := a.payload
	in := runtime.Incoming{
		Chat:    chatOf(a.ev.Account, a.ev.Reference, a.ev.Key, a.ev.ChatID),
		Message: t.s.flowMessage(p),
		Arrival: flow.Arrival{Channel: string(about.Kind), Group: p.Participant != nil, First: about.First, Text: said(p)},
	}
	if p.Reply != nil {
		in.Arrival.Button = p.Reply.ID
	}
	if len(p.Referral) > 0 {
		payload := referralPayload(p.Referral)
		in.Arrival.Referral = &payload
	}
	return t.s.Flows.IncomingTx(ctx, tx, in)
}

func chatOf(account string, ref provider.ReferenceID, key, id string) runtime.Chat {
	return runtime.Chat{Account: account, Reference: int64(ref), Key: key, ID: id}
}

// said is the text of a message, or what stands below its file.
func said(p messaging.MessagePayload) string {
	if p.Text != "" {
		return p.Text
	}
	return p.Caption
}

// flowMessage is a message as flows see it.
func (s *Server) flowMessage(p messaging.MessagePayload) map[string]any {
	m := map[string]any{"id": p.ID, "type": p.Type, "text": said(p)}
	switch {
	case p.Location != nil:
		m["type"], m["location"] = "location", plain(p.Location)
	case p.Contacts != nil:
		m["type"], m["contacts"] = "contacts", plain(p.Contacts)
	case p.Type != messaging.TypeText && p.Type != "":
		m["media"] = map[string]any{
			"type": p.Type, "url": s.fileAddress(p.FileURL), "mimetype": p.MimeType, "fileName": p.FileName,
			"fileLength": p.FileLength, "seconds": p.Seconds, "sticker": p.Sticker,
		}
	}
	if p.Reply != nil {
		m["reply"] = map[string]any{"id": p.Reply.ID, "title": p.Reply.Title}
	}
	return m
}

// fileAddress is where a file is got; "" when there is none.
func (s *Server) fileAddress(path string) string {
	if path == "" {
		return ""
	}
	return s.cfg.BaseURL + "/" + path
}

// plain is a value as its JSON has it.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// referralPayload is what a link or an advertisement carries for us, in the
// words of both networks.
func referralPayload(raw json.RawMessage) string {
	var r struct {
		Ref      string `json:"ref"`
		SourceID string `json:"source_id"`
	}
	_ = json.Unmarshal(raw, &r) // whatever it is, it has no payload then
	if r.Ref != "" {
		return r.Ref
	}
	return r.SourceID
}

// ChatsTx tells runs that a person has come, or is done, and that chats are
// one now.
func (t toFlows) ChatsTx(ctx context.Context, tx *sqlx.Tx, news []messaging.ChatNews) error {
	for _, n := range news {
		chat := runtime.Chat{Reference: int64(n.Reference), Key: n.Key, ID: n.ChatID}
		if len(n.Merged) > 0 {
			if err := t.s.Flows.MergedTx(ctx, tx, chat, n.Merged); err != nil {
				return err
			}
		}
		if n.Handoff.IsZero() && !n.WasTaken {
			continue
		}
		if err := t.s.Flows.HandoffTx(ctx, tx, chat, n.Handoff.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

// EraseTx erases the runs of a contact.
func (t toFlows) EraseTx(ctx context.Context, tx *sqlx.Tx, e messaging.Erased) error {
	return t.s.Flows.For(e.Account).EraseTx(ctx, tx, runtime.Erasure{Reference: int64(e.Reference), ChatIDs: e.ChatIDs})
}

// Committed wakes who takes turns.
func (t toFlows) Committed() { t.s.Flows.Committed() }
