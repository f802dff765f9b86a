package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Batch is one transaction's work on chats and messages: rows are locked and
// loaded, changed in memory, and written back together by flush, with the
// events that follow. Everything is done for many rows at once, so a batch
// costs about as many statements as a single message.
//
// Chats are locked before anything is queued: what is queued for a chat is
// then in the order of the commits.
type Batch struct {
	Store *Store
	Tx    *database.Tx
	Now   time.Time

	Traceparent string    // traceparent of what is done at the moment
	NetworkAt   time.Time // when the network says that what is applied happened; zero: it does not say

	Bounded bool // chats that are made count as the account's wish, see [WantContact]

	Chats map[int64]*Chat
	// References are those of the chats that [Batch.LoadLocked] has locked.
	References map[provider.ReferenceID]ReferenceInfo
	// Rows are the references that the batch has read as a whole.
	Rows     map[provider.ReferenceID]*Reference
	gone     map[int64]bool // chats that are being deleted
	Aliases  map[ChatName]int64
	Messages map[int64]*Message
	Added    map[MessageKey]*Message // that this batch made
	Calls    map[CallKey]*Call
	Own      map[int64][]*Message // by chat with a new watermark: the account's messages that are not read, in order
	Unnamed  []Person             // who wrote and has no name

	Outgoing      []Outgoing
	DirtyChats    Ordered[*Chat]
	Questions     Questions
	Watermarks    WatermarkChanges
	ActiveChats   Ordered[*Chat] // of which only what messages change has changed
	DirtyMessages Ordered[*Message]
	Rewritten     Ordered[*Message] // of which the body or the place in the chat has changed
	unindexed     Ordered[*Message] // that a search does not find yet
	newAliases    []ChatName
	Hidden        Ordered[HiddenID]
	Events        []payload.Event
	stream        []StreamRow
	shown         Ordered[*Chat] // see [Batch.Show]

	chatWork
	fileWork
}

// ReferenceInfo is what the batches need to know of a reference.
type ReferenceInfo struct {
	ID      provider.ReferenceID
	Account string
	Kind    provider.Kind
	Window  time.Duration
	Names   bool // the network can be asked for those of contacts
}

// Store is the database of a service, and what its transactions need.
type Store struct {
	DB         *database.DB
	Kinds      map[provider.Kind]provider.Provider
	Now        func() time.Time
	Sends      *queue.Queue
	Files      *queue.Queue // to be fetched
	Inbound    *queue.Queue // messages for the handler of the program
	KeepsFiles bool
	Handles    bool // the program has such a handler
	// AdmitChats refuses chats with new contacts that go over the quota of an
	// account.
	AdmitChats func(ctx context.Context, tx *database.Tx, account string, n int) error
	// PublishEvents and publishChats give the sinks what follows from a
	// transaction.
	PublishEvents func(ctx context.Context, tx *database.Tx, events []payload.Event) error
	PublishChats  func(ctx context.Context, tx *database.Tx, updates []payload.ChatUpdate) error

	// ChatView is what users see of a chat, whose last message is loaded.
	ChatView func(b *Batch, c *Chat) any
}

// Begin returns the batch of a transaction.
func (s *Store) Begin(tx *database.Tx) *Batch {
	return &Batch{
		Store: s, Tx: tx, Now: s.Now(),
		Chats: map[int64]*Chat{}, References: map[provider.ReferenceID]ReferenceInfo{}, Rows: map[provider.ReferenceID]*Reference{}, gone: map[int64]bool{}, Aliases: map[ChatName]int64{}, Messages: map[int64]*Message{},
		Added: map[MessageKey]*Message{}, Calls: map[CallKey]*Call{}, Own: map[int64][]*Message{},
	}
}

// Ordered is a set that remembers the order of insertion.
type Ordered[T comparable] struct {
	Items []T
	seen  map[T]bool
}

func (o *Ordered[T]) Add(v T) {
	if o.seen == nil {
		o.seen = map[T]bool{}
	}
	if !o.seen[v] {
		o.seen[v] = true
		o.Items = append(o.Items, v)
	}
}

// Emit adds an event of a message to what the sinks and the stream get.
func (u *Batch) Emit(account string, t payload.EventType, c *Chat, m *Message) {
	head := m.Head(c)
	record := m.Record(payload.MustEncode(head))
	var raw json.RawMessage
	if t == payload.EventMessage {
		raw = m.Payload(head)
	} else {
		at := u.NetworkAt
		if at.IsZero() {
			at = u.Now
		}
		p := m.statusPayload(head, at)
		raw = payload.MustEncode(p)
		record = payload.Join(record, payload.MustEncode(reached{p.At}))
	}
	u.Events = append(u.Events, payload.Event{
		ID: NewID(), Type: t, Account: account, Reference: m.Reference, Key: ChatKey(m.Reference, c.ID),
		ChatID: c.ChatID, MessageID: m.ID, Actor: m.Actor, At: u.Now, Payload: raw, Traceparent: u.Traceparent,
	})
	u.Publish(account, m.Reference, string(t), record)
}

// reached is what an entry of the stream about a status has beyond the record.
type reached struct {
	At payload.UnixTime `json:"at"`
}

// Publish adds an entry to the stream.
func (u *Batch) Publish(account string, ref provider.ReferenceID, kind string, data any) {
	raw, encoded := data.(json.RawMessage)
	if !encoded {
		raw = payload.MustEncode(data)
	}
	u.stream = append(u.stream, StreamRow{Account: account, Reference: ref, Kind: kind, Data: string(raw)})
}

// Flush writes what changed.
func (u *Batch) Flush(ctx context.Context) error {
	questions := func(ctx context.Context) error { return u.Questions.write(ctx, u) }
	watermarks := func(ctx context.Context) error { return u.Watermarks.write(ctx, u) }
	for _, write := range []func(context.Context) error{
		u.WriteOutgoing, u.showChats, u.writeAliases, u.writeHidden, u.writeChats, questions, watermarks, u.writeRewritten, u.writeCalls,
		u.writeExpected, u.writeDeferred, u.writeDeferring, u.writeOften, u.publishChats,
	} {
		if err := write(ctx); err != nil {
			return err
		}
	}
	if len(u.Events) == 0 {
		return nil
	}
	if err := queueInbound(ctx, u); err != nil {
		return fmt.Errorf("queueing messages to be handled: %w", err)
	}
	return u.Store.PublishEvents(ctx, u.Tx, u.Events)
}

// writeOften writes what most batches change, with one statement on PostgreSQL.
func (u *Batch) writeOften(ctx context.Context) error {
	found, lost, err := searchRows(ctx, u)
	if err != nil {
		return err
	}
	if err := u.Store.DB.ExecTogether(ctx, u.Tx, u.activity(), u.messages(), u.outbound(), u.changes(), found, lost); err != nil {
		return fmt.Errorf("updating chats and messages: %w", moved(err))
	}
	return nil
}

// forUpdate is the clause that locks chats, in one order everywhere.
func (u *Batch) forUpdate() string {
	if u.Store.DB.Dialect == database.Postgres {
		return ` ORDER BY c.id FOR UPDATE OF c`
	}
	return ""
}

// NewID is a UUIDv7 in text.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// ChatKey orders whatever belongs to one chat.
func ChatKey(ref provider.ReferenceID, chat int64) string { return fmt.Sprintf("%d:%d", ref, chat) }

// ParseChatKey returns what [ChatKey] was made of.
func ParseChatKey(key string) (ref provider.ReferenceID, chat int64, valid bool) {
	before, after, _ := strings.Cut(key, ":")
	r, err := strconv.ParseInt(before, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	chat, err = strconv.ParseInt(after, 10, 64)
	return provider.ReferenceID(r), chat, err == nil
}

// NetworkTime is when the network said something: now, when it does not say so.
func NetworkTime(b *Batch, at time.Time) int64 {
	if at.IsZero() {
		at = b.Now
	}
	return database.Micros(at)
}
