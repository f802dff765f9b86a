package messaging

import (
	"cmp"
	"context"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Batch is what one transaction does in chats. What it sends and changes is written by
// Flush, with one statement for each table, so ten messages in ten chats cost as much
// as one. Until then nothing else of this package may be done in the transaction.
type Batch struct {
	s *Service
	u *store.Batch
}

// BatchTx begins a batch within a transaction.
func (s *Service) BatchTx(on Tx) (*Batch, error) {
	tx, err := s.db.Join(on)
	if err != nil {
		return nil, err
	}
	return &Batch{s, s.store.Begin(tx)}, nil
}

// Lock locks the chats whose events have the given keys, until the end of the
// transaction. It locks them in the order in which all do, so a batch calls it once,
// before anything else. Keys of chats that have become one with others are ignored.
func (b *Batch) Lock(ctx context.Context, keys ...string) error {
	return store.LockKeys(ctx, b.u, keys)
}

// Chat returns a chat that Lock has locked, without its last message. Any other chat is
// [ErrNotFound].
func (b *Batch) Chat(account, key string) (Chat, error) {
	c := store.LockedByKey(b.u, account, key)
	if c == nil {
		return Chat{}, ErrNotFound
	}
	return view(c, nil), nil
}

// ChatNamed locks and returns the chat that a chat id names, without its last message. A
// chat that does not exist is [ErrNotFound].
func (b *Batch) ChatNamed(ctx context.Context, account string, ref provider.ReferenceID, chatID string) (Chat, error) {
	c, err := b.find(ctx, account, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	return view(c, nil), nil
}

// Send stores a message as [Account.SendTx] does.
func (b *Batch) Send(ctx context.Context, account string, req SendRequest) (Message, error) {
	return b.s.writer.SendIn(ctx, b.u, account, outbox.Request(req))
}

// UpdateChat changes a chat as [Account.UpdateChatTx] does. It returns the chat without
// its last message.
func (b *Batch) UpdateChat(ctx context.Context, account string, ref provider.ReferenceID, chatID string, change ChatChange) (Chat, error) {
	c, err := b.update(ctx, account, ref, chatID, change)
	if err != nil {
		return Chat{}, err
	}
	return view(c, nil), nil
}

func (b *Batch) update(ctx context.Context, account string, ref provider.ReferenceID, chatID string, change ChatChange) (*store.Chat, error) {
	c := store.LockedByID(b.u, ref, chatID)
	who, err := b.person(ctx, account, ref, chatID, c)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if err := b.u.Open(ctx, []store.Person{who}, nil); err != nil {
			return nil, err
		}
		c = b.u.ChatOf(who)
	}
	return c, changeIn(b.u, who.Reference, c, change)
}

// find locks a chat that exists.
func (b *Batch) find(ctx context.Context, account string, ref provider.ReferenceID, chatID string) (*store.Chat, error) {
	c := store.LockedByID(b.u, ref, chatID)
	who, err := b.person(ctx, account, ref, chatID, c)
	if err != nil || c != nil {
		return c, err
	}
	return store.LockChat(ctx, b.u, who.Reference, who.Address)
}

// person reads a chat id on a reference of an account. c is the chat with that id, or
// nil if it is not known.
func (b *Batch) person(ctx context.Context, account string, ref provider.ReferenceID, chatID string, c *store.Chat) (store.Person, error) {
	row, p, err := store.ReferenceIn(ctx, b.u, account, ref)
	if err != nil {
		return store.Person{}, err
	}
	who := store.Person{Reference: row.Info(p)}
	if c != nil {
		who.Address = c.Address()
	} else {
		who.Address, err = b.s.recipients.Address(ctx, b.u.Tx, ref, p, chatID)
	}
	return who, err
}

// Publish adds entries to the streams of their accounts.
func (b *Batch) Publish(changes ...Change) {
	for _, c := range changes {
		b.u.Publish(c.Account, c.Reference, c.Kind, c.Data)
	}
}

// Flush writes what the batch has done. The batch must not be used again.
func (b *Batch) Flush(ctx context.Context) error { return b.u.Flush(ctx) }

// changeIn has a batch change one of its chats, and show it. An error leaves the chat
// as it was.
func changeIn(u *store.Batch, l store.ReferenceInfo, c *store.Chat, change ChatChange) error {
	changed := *c
	changed.UpdatedUS = database.Micros(u.Now)
	if err := applyChange(&changed, change, changed.UpdatedUS); err != nil {
		return err
	}
	changed.ActivityUS = cmp.Or(changed.ActivityUS, changed.CreatedUS)
	*c = changed
	u.DirtyChats.Add(c)
	u.Show(l, c)
	return nil
}
