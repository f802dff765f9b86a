package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// queueInbound queues, for the handler of the program, the messages of contacts that
// are announced now. Their chats are locked, so the jobs of a chat have the order of its
// events. Messages that only change others are left out, votes that were withdrawn, and
// those that cannot be read yet: these are announced again.
func queueInbound(ctx context.Context, u *Batch) error {
	if !u.Store.Handles {
		return nil
	}
	var events []payload.Event
	var keys []MessageKey
	for _, ev := range u.Events {
		if ev.Type != payload.EventMessage || ev.Actor != payload.ActorContact {
			continue
		}
		var p payload.MessagePayload
		if err := json.Unmarshal(ev.Payload, &p); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if p.Reaction != nil || p.Revoked != nil || p.Edited != nil || p.Undecryptable() || p.Poll.IsVote() && len(p.Poll.Selected) == 0 {
			continue
		}
		events = append(events, ev)
		keys = append(keys, MessageKey{ev.Reference, ev.MessageID})
	}
	if len(keys) == 0 {
		return nil
	}
	at, err := u.Locate(ctx, keys)
	if err != nil {
		return err
	}
	seqs := map[MessageKey]int64{}
	for _, l := range at {
		seqs[l.MessageKey] = l.Seq
	}
	var jobs []queue.JobArgs
	for i, ev := range events {
		seq, exists := seqs[keys[i]]
		if !exists {
			continue // it was deleted while its event waited
		}
		jobs = append(jobs, queue.JobArgs{
			Subscriber: Subscriber(ev.Reference), Key: ev.Key, Subject: strconv.FormatInt(seq, 10), Traceparent: ev.Traceparent,
		})
	}
	return u.Store.Inbound.PutTx(ctx, u.Tx, jobs...)
}
