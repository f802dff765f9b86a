package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// Erased says of whom nothing may be kept.
type Erased struct {
	Account    string
	Reference  provider.ReferenceID
	ChatIDs    []string // every id by which the chat is or was known
	MessageIDs []string // what the contact wrote in other chats
}

// Eraser is a [Sink] that keeps what it was told, and erases it.
type Eraser interface {
	// EraseTx erases what was told of a contact. It may run more than once
	// before a commit.
	EraseTx(ctx context.Context, tx *sqlx.Tx, e Erased) error
}

// DeleteChat erases what is held on a contact or a group, here, in a provider
// that is a [provider.Eraser] and in the sinks that are an [Eraser]: the chat with its messages and files, what the contact
// wrote in groups, and what the network reported of it. What comes later begins
// a new chat. Somebody on whom nothing is held is [ErrNotFound].
func (a *Account) DeleteChat(ctx context.Context, ref provider.ReferenceID, chatID string) error {
	return a.deleting(ctx, ref, chatID, func(l line, addr provider.Address) error {
		known, err := a.s.beforehand(ctx, l, addr)
		if err != nil {
			return err
		}
		return a.s.inTxUnit(ctx, func(u *unit) error { return u.erase(ctx, l, addr, known) })
	})
}

// beforehand looks through the tables before the transaction that erases, where
// all who write would wait for that.
func (s *Service) beforehand(ctx context.Context, l line, addr provider.Address) (*footprint, error) {
	if s.db.Dialect != database.SQLite {
		return nil, nil // ids are not in the order of commits: what has a low one may come later
	}
	c, err := s.chat(ctx, s.db, l.ID, addr)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	f, err := s.footprint(ctx, s.db, l, addr, c, nil)
	if err != nil {
		return nil, err
	}
	return f, f.findFeed(ctx, s, s.db, l, nil)
}

// DeleteChatTx is [Account.DeleteChat] when tx commits; call
// [Service.Committed] then.
func (a *Account) DeleteChatTx(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, chatID string) error {
	return a.deleting(ctx, ref, chatID, func(l line, addr provider.Address) error {
		u := a.s.unit(tx)
		if err := u.erase(ctx, l, addr, nil); err != nil {
			return err
		}
		return u.flush(ctx)
	})
}

func (a *Account) deleting(ctx context.Context, ref provider.ReferenceID, chatID string, fn func(line, provider.Address) error) error {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return err
	}
	addr, err := a.s.recipient(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return err
	}
	return fn(row.line(p), addr)
}

// erase is the transaction of DeleteChat. What was found of the contact before
// may be given.
func (u *unit) erase(ctx context.Context, l line, addr provider.Address, earlier *footprint) error {
	c, err := u.known(ctx, l, addr)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	f, err := u.s.footprint(ctx, u.tx, l, addr, c, earlier)
	if err != nil {
		return err
	}
	if f.empty() {
		return ErrNotFound
	}
	if err := f.findFeed(ctx, u.s, u.tx, l, earlier); err != nil {
		return err
	}
	if err := u.eraseElsewhere(ctx, f); err != nil {
		return err
	}
	if err := u.eraseRows(ctx, l, f); err != nil {
		return err
	}
	if c != nil {
		if err := u.eraseChat(ctx, c); err != nil {
			return err
		}
	}
	if err := u.eraseInProvider(ctx, l, f); err != nil {
		return err
	}
	u.tell(l.Account, l.ID, "resync", map[string]any{"reference": l.ID})
	return u.eraseInSinks(ctx, l, f)
}

// eraseChat deletes a locked chat with all that belongs to it.
func (u *unit) eraseChat(ctx context.Context, c *chatRow) error {
	const messages = `(SELECT seq FROM messaging_message WHERE chat = $1)`
	if err := forgetFiles(ctx, u.tx, `message IN `+messages, c.ID); err != nil {
		return err
	}
	for _, q := range []string{
		`UPDATE messaging_media SET detail = '{}' WHERE message IN ` + messages,
		`DELETE FROM messaging_idempotency WHERE message IN ` + messages,
		`DELETE FROM messaging_raw WHERE reference = (SELECT reference FROM messaging_chat WHERE id = $1)
			AND raw_id IN (SELECT id FROM messaging_message WHERE chat = $1)`,
		`DELETE FROM messaging_outbound WHERE message IN ` + messages,
		`DELETE FROM messaging_call WHERE chat = $1`,
		`DELETE FROM messaging_message WHERE chat = $1`,
		`DELETE FROM messaging_chat WHERE id = $1`, // with its names, and the events that wait
	} {
		if _, err := u.tx.ExecContext(ctx, q, c.ID); err != nil {
			return fmt.Errorf("deleting a chat: %w", err)
		}
	}
	delete(u.chats, c.ID)
	return nil
}

// eraseRows deletes what stands in rows that belong to no chat.
func (u *unit) eraseRows(ctx context.Context, l line, f *footprint) error {
	for _, t := range []struct {
		table string
		ids   []int64
	}{{"messaging_raw", f.reports}, {"messaging_dead", f.dead}, {"messaging_feed", f.feed}} {
		if err := u.deleteNumbered(ctx, t.table, "id", t.ids); err != nil {
			return err
		}
	}
	for _, n := range f.names {
		if n.kind != idLID {
			continue
		}
		if _, err := u.tx.ExecContext(ctx, `DELETE FROM messaging_lid WHERE reference = $1 AND lid = $2`, l.ID, n.value); err != nil {
			return fmt.Errorf("deleting a hidden id: %w", err)
		}
	}
	for _, n := range f.numbers {
		if _, err := u.tx.ExecContext(ctx, `DELETE FROM messaging_number WHERE reference = $1 AND number = $2`, l.ID, n); err != nil {
			return fmt.Errorf("deleting a number: %w", err)
		}
	}
	return nil
}

// deleteNumbered deletes rows by a column of numbers.
func (u *unit) deleteNumbered(ctx context.Context, table, column string, numbers []int64) error {
	for part := range slices.Chunk(numbers, chunk) {
		in, args := u.s.db.Dialect.InNumbers(column, 1, part)
		if _, err := u.tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+in, args...); err != nil {
			return fmt.Errorf("deleting from %s: %w", table, err)
		}
	}
	return nil
}

// eraseElsewhere deletes what a contact wrote in groups.
func (u *unit) eraseElsewhere(ctx context.Context, f *footprint) error {
	byChat := map[int64][]located{}
	var chats []int64
	for _, m := range f.elsewhere {
		if byChat[m.Chat] == nil {
			chats = append(chats, m.Chat)
		}
		byChat[m.Chat] = append(byChat[m.Chat], m)
	}
	if err := u.lock(ctx, slices.Clone(chats)); err != nil {
		return err
	}
	for _, id := range chats {
		if err := u.eraseMessages(ctx, u.chats[id], byChat[id]); err != nil {
			return err
		}
	}
	return nil
}

// eraseMessages deletes some messages of others from a locked chat.
func (u *unit) eraseMessages(ctx context.Context, c *chatRow, ms []located) error {
	seqs := make([]int64, len(ms))
	for i, m := range ms {
		seqs[i] = m.Seq
	}
	unread := 0
	for part := range slices.Chunk(ms, chunk) {
		var numbers []int64
		values := make([]any, len(part))
		for i, m := range part {
			numbers, values[i] = append(numbers, m.Seq), m.ID
		}
		in, args := u.s.db.Dialect.InNumbers("message", 1, numbers)
		if err := forgetFiles(ctx, u.tx, in, args...); err != nil {
			return err
		}
		if _, err := u.tx.ExecContext(ctx, `UPDATE messaging_media SET detail = '{}' WHERE `+in, args...); err != nil {
			return fmt.Errorf("forgetting files: %w", err)
		}
		held, names := u.s.db.Dialect.In("message_id", 2, values)
		if _, err := u.tx.ExecContext(ctx, `DELETE FROM messaging_held WHERE chat = $1 AND `+held, append([]any{c.ID}, names...)...); err != nil {
			return fmt.Errorf("dropping events: %w", err)
		}
		n := 0
		in, args = u.s.db.Dialect.InNumbers("seq", 2, numbers)
		err := u.tx.GetContext(ctx, &n, `SELECT count(*) FROM messaging_message WHERE NOT mine AND past_us = 0 AND status < $1 AND `+in,
			append([]any{int(provider.StatusRead)}, args...)...)
		if err != nil {
			return fmt.Errorf("counting unread messages: %w", err)
		}
		unread += n
	}
	if err := u.deleteNumbered(ctx, "messaging_message", "seq", seqs); err != nil {
		return err
	}
	return u.shrunk(ctx, c, seqs, int64(unread))
}

// shrunk puts a chat right from which messages were deleted.
func (u *unit) shrunk(ctx context.Context, c *chatRow, gone []int64, unread int64) error {
	c.Unread = max(0, c.Unread-unread)
	if slices.Contains(gone, c.LastMessage) {
		err := u.tx.GetContext(ctx, &c.LastMessage, `SELECT COALESCE((SELECT seq FROM messaging_message WHERE chat = $1
			ORDER BY past_us DESC, seq DESC LIMIT 1), 0)`, c.ID)
		if err != nil {
			return fmt.Errorf("finding the last message of a chat: %w", err)
		}
	}
	u.activeChats.add(c)
	if !c.Held {
		return nil
	}
	return u.release(ctx, c) // what waited behind them
}

// eraseInProvider has the line's provider erase what it keeps.
func (u *unit) eraseInProvider(ctx context.Context, l line, f *footprint) error {
	eraser, ok := u.s.kinds[l.Kind].(provider.Eraser)
	if !ok {
		return nil
	}
	if err := eraser.EraseTx(ctx, u.tx.Tx, l.ID, f.ids); err != nil {
		return fmt.Errorf("erasing what the provider keeps: %w", err)
	}
	return nil
}

// eraseInSinks has the sinks erase what they were told.
func (u *unit) eraseInSinks(ctx context.Context, l line, f *footprint) error {
	e := Erased{Account: l.Account, Reference: l.ID, ChatIDs: f.ids, MessageIDs: idsOf(f.elsewhere)}
	for _, k := range u.s.opts.Sinks {
		eraser, ok := k.(Eraser)
		if !ok {
			continue
		}
		if err := eraser.EraseTx(ctx, u.tx, e); err != nil {
			return fmt.Errorf("erasing in %T: %w", k, err)
		}
	}
	return nil
}

func idsOf(ms []located) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.ID
	}
	return out
}
