package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/text"
)

// effect has the chat service do its share of an effect of a turn.
func (w *work) effect(ctx context.Context, run Run, e flow.Effect) error {
	if id := inChat(e); id != "" && run.Chat.Key == "" {
		return &refusal{id, &flow.Error{Code: flow.CodeNoChat, Message: "The run has no chat."}}
	}
	switch e := e.(type) {
	case flow.Send:
		host, is := w.chats.(MessageService)
		if !is {
			return unable(e.ID, "sends no messages")
		}
		id, err := host.SendTx(ctx, w.tx, run, e)
		if err != nil {
			return refused(e.ID, err)
		}
		w.messages = append(w.messages, id)
		return nil
	case flow.ContactChange:
		if host, is := w.chats.(ContactService); is {
			return refused(e.ID, host.ContactTx(ctx, w.tx, run, e))
		}
		return unable(e.ID, "does not store contacts")
	case flow.DataEvent:
		if host, is := w.chats.(EventService); is {
			return refused(e.ID, host.EventTx(ctx, w.tx, run, e))
		}
		return unable(e.ID, "has no webhooks")
	case flow.Handoff:
		if host, is := w.chats.(HandoffService); is {
			return refused(e.ID, host.HandoffTx(ctx, w.tx, run, e))
		}
		return unable(e.ID, "has no people who can take over chats")
	case flow.EndHandoff:
		if host, is := w.chats.(HandoffService); is {
			return refused(e.ID, host.EndHandoffTx(ctx, w.tx, run, e))
		}
		return nil
	case flow.Ask:
		if host, is := w.chats.(ConsentService); is {
			return refused(e.ID, host.AskTx(ctx, w.tx, run, e))
		}
		return nil
	case flow.Call, flow.SetTimer, flow.CancelTimer:
		return nil // they are noted with the run
	case flow.Jump:
		return nil // the ending of the run says it too
	}
	return fmt.Errorf("runtime: an effect of the unknown type %T", e)
}

// inChat is the id of an effect that needs a chat, and "" of any other.
func inChat(e flow.Effect) string {
	switch e := e.(type) {
	case flow.Send:
		return e.ID
	case flow.ContactChange:
		return e.ID
	case flow.Handoff:
		return e.ID
	}
	return ""
}

// unable is an effect that the chat service has no method for.
func unable(id, why string) error {
	return &refusal{id, &flow.Error{Code: flow.CodeUnsupported, Message: "This program " + why + "."}}
}

// noteEffect writes down an effect that is not the chat service's.
func (w *work) noteEffect(ctx context.Context, e flow.Effect) error {
	switch e := e.(type) {
	case flow.Call:
		return w.call(ctx, e)
	case flow.SetTimer:
		return w.setTimer(ctx, e)
	case flow.CancelTimer:
		return w.cancelTimer(ctx, e)
	}
	return nil
}

// refused tells what the chat service refuses for good from what may be tried again.
func refused(id string, err error) error {
	var no *flow.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &no):
		return &refusal{id, no}
	}
	return fmt.Errorf("doing effect %s: %w", id, err)
}

// call writes a call into the journal, and has it made.
func (w *work) call(ctx context.Context, c flow.Call) error {
	request, err := json.Marshal(c.Request)
	if err != nil {
		return fmt.Errorf("writing a call: %w", err)
	}
	var ids []int64
	err = w.tx.SelectContext(ctx, &ids, `INSERT INTO flow_effect (run, effect, node, kind, once, idempotency_key, attempt, timeout_us, request,
		started_us, done_us, result, error) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`,
		w.row.Seq, c.ID, c.Node, c.Kind, c.Once, w.row.ID+"."+c.Key, c.Attempt, c.Timeout.Microseconds(), string(request), 0, 0, "", "")
	if err != nil {
		return fmt.Errorf("noting a call: %w", err)
	}
	id := ids[0]
	key := strconv.FormatInt(id, 10)
	return w.h.calls.PutTx(ctx, w.tx, queue.JobArgs{Subscriber: callConsumer(w.row.Account, c, id), Key: key, Subject: key})
}

// callShards spread the calls to one place over as many subscribers: each begins
// with a few at once.
const callShards = 8

// callConsumer names whom a call keeps waiting when it is slow: others of the
// account to the same place.
func callConsumer(account string, c flow.Call, id int64) string {
	place := string(c.Kind)
	switch req := c.Request.(type) {
	case flow.HTTPRequest:
		if u, err := url.Parse(req.URL); err == nil {
			place += "/" + u.Host
		}
	case flow.ModelRequest:
		place += "/" + req.Model
	case flow.ToolRequest:
		place += "/" + req.Server
	case flow.NodeRequest:
		place += "/" + req.Type
	}
	place = text.Sanitize(text.Truncate(place, maxPlace))
	return account + "/" + place + "#" + strconv.FormatInt(id%callShards, 10)
}

// maxPlace is the most bytes of a name of a place: indexes have limits.
const maxPlace = 200

func (w *work) setTimer(ctx context.Context, t flow.SetTimer) error {
	return w.h.timers.setTx(ctx, w.tx, w.row.Seq, t)
}

func (w *work) cancelTimer(ctx context.Context, t flow.CancelTimer) error {
	if _, err := w.tx.ExecContext(ctx, `DELETE FROM flow_timer WHERE run = $1 AND timer = $2`, w.row.Seq, t.ID); err != nil {
		return fmt.Errorf("taking a timer back: %w", err)
	}
	return nil
}
