package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// batch is one transaction's work on chats and messages: rows are locked and
// loaded, changed in memory, and written back together by flush, with the
// events that follow. Everything is done for many rows at once, so a batch
// costs about as many statements as a single message.
//
// Chats are locked before anything is queued: what is queued for a chat is
// then in the order of the commits.
type batch struct {
	s   *Service
	tx  *sqlx.Tx
	now time.Time

	traceparent string    // traceparent of what is done at the moment
	networkAt   time.Time // when the network says that what is applied happened; zero: it does not say

	bounded bool // chats that are made count as the account's wish, see [WantContact]

	chats    map[int64]*chatRow
	gone     map[int64]bool // chats that are being deleted
	aliases  map[chatName]int64
	messages map[int64]*messageRow
	added    map[messageKey]*messageRow // that this batch made
	calls    map[callKey]*callRow
	own      map[int64][]*messageRow // by chat with a new watermark: the account's messages that are not read, in order
	nameless []person                // who wrote and has no name

	dirtyChats      ordered[*chatRow]
	choices         ordered[*chatRow] // whose open question has changed
	dirtyWatermarks ordered[*chatRow] // whose marks have changed
	activeChats     ordered[*chatRow] // of which only what messages change has changed
	dirtyMessages   ordered[*messageRow]
	rewritten       ordered[*messageRow] // of which the body or the place in the chat has changed
	newAliases      []chatName
	hidden          ordered[hiddenID]
	events          []Event
	stream          []streamRow

	chatWork
	fileWork
}

// referenceInfo is what the batches need to know of a reference.
type referenceInfo struct {
	ID      provider.ReferenceID
	Account string
	Kind    provider.Kind
	Window  time.Duration
	Names   bool // the network can be asked for those of contacts
}

func (s *Service) newBatch(tx *sqlx.Tx) *batch {
	return &batch{
		s: s, tx: tx, now: s.now(),
		chats: map[int64]*chatRow{}, gone: map[int64]bool{}, aliases: map[chatName]int64{}, messages: map[int64]*messageRow{},
		added: map[messageKey]*messageRow{}, calls: map[callKey]*callRow{}, own: map[int64][]*messageRow{},
	}
}

// ordered is a set that remembers the order of insertion.
type ordered[T comparable] struct {
	items []T
	has   map[T]bool
}

func (o *ordered[T]) add(v T) {
	if o.has == nil {
		o.has = map[T]bool{}
	}
	if !o.has[v] {
		o.has[v] = true
		o.items = append(o.items, v)
	}
}

// emit adds an event of a message to what the sinks and the stream get.
func (u *batch) emit(account string, t EventType, c *chatRow, m *messageRow) {
	head := m.head(c)
	record := m.record(payload.MustEncode(head))
	var raw json.RawMessage
	if t == EventMessage {
		raw = m.payload(head)
	} else {
		at := u.networkAt
		if at.IsZero() {
			at = u.now
		}
		p := m.statusPayload(head, at)
		raw = payload.MustEncode(p)
		record = payload.Join(record, payload.MustEncode(reached{p.At}))
	}
	u.events = append(u.events, Event{
		ID: newID(), Type: t, Account: account, Reference: m.Reference, Key: chatKey(m.Reference, c.ID),
		ChatID: c.ChatID, MessageID: m.ID, Actor: m.Actor, At: u.now, Payload: raw, Traceparent: u.traceparent,
	})
	u.publish(account, m.Reference, string(t), record)
}

// reached is what an entry of the stream about a status has beyond the record.
type reached struct {
	At UnixTime `json:"at"`
}

// publish adds an entry to the stream.
func (u *batch) publish(account string, ref provider.ReferenceID, kind string, data any) {
	raw, encoded := data.(json.RawMessage)
	if !encoded {
		raw = payload.MustEncode(data)
	}
	u.stream = append(u.stream, streamRow{Account: account, Reference: ref, Kind: kind, Data: string(raw)})
}

// flush writes what changed.
func (u *batch) flush(ctx context.Context) error {
	for _, write := range []func(context.Context) error{
		u.writeAliases, u.writeHidden, u.writeChats, u.writeChoices, u.writeWatermarks, u.writeActivity, u.writeMessages, u.writeRewritten, u.writeOutbound, u.writeCalls,
		u.writeExpected, u.writeDeferred, u.writeDeferring, u.writeStream, u.publishChats,
	} {
		if err := write(ctx); err != nil {
			return err
		}
	}
	if len(u.events) == 0 {
		return nil
	}
	for _, k := range u.s.opts.Sinks {
		if err := k.EventsTx(ctx, u.tx, u.events); err != nil {
			return fmt.Errorf("telling %T: %w", k, err)
		}
	}
	return nil
}

// forUpdate is the clause that locks chats, in one order everywhere.
func (u *batch) forUpdate() string {
	if u.s.db.Dialect == database.Postgres {
		return ` ORDER BY c.id FOR UPDATE OF c`
	}
	return ""
}

// newID is a UUIDv7 in text.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// chatKey orders whatever belongs to one chat.
func chatKey(ref provider.ReferenceID, chat int64) string { return fmt.Sprintf("%d:%d", ref, chat) }
