package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/payload"
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

// LockKeys locks the chats that keys name, and reads their references. Chats that have
// become one with others, or are being deleted, are left out.
func (u *Batch) LockKeys(ctx context.Context, keys []string) error {
	var ids []int64
	for _, key := range keys {
		if _, id, valid := ParseChatKey(key); valid && u.Chats[id] == nil {
			ids = append(ids, id)
		}
	}
	type locked struct {
		Chat
		Of Reference `db:"of"`
	}
	rows, err := SelectAmong[*locked](ctx, u, selectChatsByID, `c.id`, NumberTypes, numberRows(ids), u.forUpdate())
	if err != nil {
		return fmt.Errorf("locking chats: %w", err)
	}
	for _, r := range rows {
		c := &r.Chat
		if c.Deleted() || r.Of.Deleted() {
			continue
		}
		u.Chats[c.ID], u.Rows[c.Reference] = c, &r.Of
		u.rememberBefore(c)
	}
	return nil
}

var selectChatsByID = `SELECT ` + ChatColumns + `, ` + Nested(ReferenceColumns, "r", "of") + `
	FROM messaging_chat c JOIN messaging_reference r ON r.id = c.reference WHERE`

// ByKey returns the chat of an account that [Batch.LockKeys] has locked by a key, or
// nil.
func (u *Batch) ByKey(account, key string) *Chat {
	ref, id, valid := ParseChatKey(key)
	c, row := u.Chats[id], u.Rows[ref]
	if !valid || c == nil || row == nil || c.Reference != ref || row.Account != account {
		return nil
	}
	return c
}

// Locked returns the chat with a chat id that [Batch.LockKeys] has locked, or nil.
func (u *Batch) Locked(ref provider.ReferenceID, chatID string) *Chat {
	if u.Rows[ref] == nil {
		return nil
	}
	for _, c := range u.Chats {
		if c.Reference == ref && c.ChatID == chatID {
			return c
		}
	}
	return nil
}

// Row returns a reference of an account and its provider. The batch reads it once.
func (u *Batch) Row(ctx context.Context, account string, id provider.ReferenceID) (*Reference, provider.Provider, error) {
	row := u.Rows[id]
	if row == nil {
		var err error
		if row, err = ReferenceOf(ctx, u.Tx, account, id); err != nil {
			return nil, nil, err
		}
		u.Rows[id] = row
	}
	if row.Account != account {
		return nil, nil, payload.ErrNotFound
	}
	p, err := u.Store.Provider(row.Kind)
	return row, p, err
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
