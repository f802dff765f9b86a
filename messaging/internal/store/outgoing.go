package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/provider"
)

// Outgoing is a message from the account that a batch stores and queues for sending.
type Outgoing struct {
	Message     *Message
	Chat        *Chat
	Content     string           // as messaging_outbound stores it
	ReplyTo     string           // the network's id of the message that it answers, or ""
	Asks        provider.Content // the question that it asks in numbered text; nil: none
	Traceparent string
}

// SendSubject names the job that sends a message.
func SendSubject(seq int64) string { return "send:" + strconv.FormatInt(seq, 10) }

// WriteOutgoing stores the outgoing messages of the batch, which have a Seq from then
// on, and queues each under the key of its chat. [Batch.Flush] does it first of all.
func (u *Batch) WriteOutgoing(ctx context.Context) error {
	all := u.Outgoing
	if len(all) == 0 {
		return nil
	}
	u.Outgoing = nil
	messages := make([]*Message, len(all))
	for i, o := range all {
		messages[i] = o.Message
	}
	if err := u.Add(ctx, messages); err != nil {
		return err
	}
	rows := make([][]any, len(all))
	jobs := make([]queue.JobArgs, len(all))
	for i, o := range all {
		m, c := o.Message, o.Chat
		rows[i] = []any{m.Seq, m.Reference, m.OwnID, o.Content, o.ReplyTo, false, false, 0, 0, m.RequestID, m.ClientID}
		jobs[i] = queue.JobArgs{
			Subscriber: Subscriber(m.Reference), Key: ChatKey(m.Reference, c.ID), Subject: SendSubject(m.Seq), Traceparent: o.Traceparent,
		}
		if o.Asks != nil {
			u.Questions.Ask(c, m.Seq, o.Asks)
		}
		c.LastMessage = max(c.LastMessage, m.Seq)
		u.ActiveChats.Add(c)
	}
	err := u.Insert(ctx, `INSERT INTO messaging_outbound (message, reference, own_id, content, reply_to, announced, tried, started_us, give_up_us,
			request_id, client_id)`,
		[]string{"BIGINT", "BIGINT", "TEXT", "TEXT", "TEXT", "BOOLEAN", "BOOLEAN", "BIGINT", "BIGINT", "TEXT", "TEXT"}, rows, "")
	if err != nil {
		return fmt.Errorf("storing what is to be sent: %w", err)
	}
	return u.Store.Sends.PutTx(ctx, u.Tx, jobs...)
}

// Show has [Batch.Flush] show a chat on the stream, as it is then.
func (u *Batch) Show(l ReferenceInfo, c *Chat) {
	u.References[l.ID] = l
	u.shown.Add(c)
}

// showChats publishes the chats that are to be shown.
func (u *Batch) showChats(ctx context.Context) error {
	var last []int64
	for _, c := range u.shown.Items {
		if c.LastMessage != 0 && u.Messages[c.LastMessage] == nil {
			last = append(last, c.LastMessage)
		}
	}
	if err := u.Load(ctx, last); err != nil {
		return err
	}
	for _, c := range u.shown.Items {
		PublishChat(u, u.References[c.Reference], c)
	}
	return nil
}
