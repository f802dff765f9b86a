package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Erased says of whom nothing may be kept.
type Erased struct {
	Account    string
	Reference  provider.ReferenceID
	ChatIDs    []string  // every id by which the chat is or was known
	MessageIDs []string  // what the contact wrote in other chats
	Before     time.Time // what came later is of a new chat with the same ids, and stays
}

// Eraser is a [Sink] that keeps what it was told, and erases it.
type Eraser interface {
	// Erase erases what was told of a contact, in transactions of its own that
	// are small however much that is. It is called again after an error or a
	// crash.
	Erase(ctx context.Context, e Erased) error
}

// Erasure is a deletion that has begun: nothing of the chat, or of the reference
// without one, is shown or sent any more, and [Account.Erase] removes it. It can
// be kept as JSON.
type Erasure struct {
	Reference provider.ReferenceID `json:"reference"`
	Subject   json.RawMessage      `json:"subject,omitempty"` // whose traces it removes; nil: the whole reference
	At        time.Time            `json:"at"`
}

// subject is whose traces an [Erasure] removes.
type subject struct {
	Chat    int64       `json:"chat,omitempty"` // its number; 0: it had none
	Group   bool        `json:"group,omitempty"`
	Names   [][2]string `json:"names"`             // every id, behind its kind
	Known   []string    `json:"known"`             // those by which it was known
	Foreign []string    `json:"foreign,omitempty"` // see subjectData
	UpTo    extent      `json:"upTo"`              // later rows are of a new chat
}

// DeleteChat erases what is held on a contact or a group, here, in a provider
// that is a [provider.Eraser] and in the sinks that are an [Eraser]: the chat with its messages and files, what the contact
// wrote in groups, and what the network reported of it. What comes later begins
// a new chat. Somebody on whom nothing is held is [ErrNotFound]. It is
// [Account.HideChat] and [Account.Erase]: a caller who wants to go on after a
// crash calls those.
func (a *Account) DeleteChat(ctx context.Context, ref provider.ReferenceID, chatID string) error {
	e, err := a.HideChat(ctx, ref, chatID, nil)
	if err != nil {
		return err
	}
	return a.Erase(ctx, e)
}

// HideChat begins to delete a contact or a group in one small transaction: from
// its commit on the chat is not found, and what comes begins a new one. Then,
// which may be nil, is part of the transaction; it may run more than once.
func (a *Account) HideChat(
	ctx context.Context, ref provider.ReferenceID, chatID string, then func(ctx context.Context, tx *sqlx.Tx, e Erasure) error,
) (Erasure, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return Erasure{}, err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return Erasure{}, err
	}
	l := row.Info(p)
	if err := a.s.holdsAnything(ctx, l, addr); err != nil {
		return Erasure{}, err
	}
	if err := a.s.store.FinishMerges(ctx, l, addr); err != nil {
		return Erasure{}, err
	}
	var out Erasure
	err = a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		out, err = a.s.hide(ctx, u, l, addr)
		if err == nil { // whom, is not said: it would be kept
			err = recordChatTx(ctx, u.Tx, audit.ChatErase, ref, "", nil)
		}
		if err == nil && then != nil {
			err = then(ctx, u.Tx, out)
		}
		return err
	})
	return out, err
}

// holdsAnything looks through the tables, before the transaction, when an
// address has no chat.
func (s *Service) holdsAnything(ctx context.Context, l store.ReferenceInfo, addr provider.Address) error {
	_, err := s.store.ChatByAddress(ctx, s.db, l.ID, addr)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	f, err := s.searchSubjectData(ctx, s.db, l, addr, nil)
	if err == nil && f.empty() {
		err = ErrNotFound
	}
	return err
}

// hide takes its names from a chat, so that it is not found under any.
func (s *Service) hide(ctx context.Context, u *store.Batch, l store.ReferenceInfo, addr provider.Address) (Erasure, error) {
	c, err := store.LockChat(ctx, u, l, addr)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Erasure{}, err
	}
	f, err := s.newSubjectData(ctx, u.Tx, l, addr, c)
	if err != nil {
		return Erasure{}, err
	}
	e := Erasure{Reference: l.ID, At: u.Now, Subject: payload.MustEncode(f.view())}
	u.Publish(l.Account, l.ID, "resync", map[string]any{"reference": l.ID})
	if c == nil {
		return e, nil
	}
	for _, q := range []string{
		`DELETE FROM messaging_alias WHERE chat = $1`,
		`DELETE FROM messaging_typing WHERE chat = $1`,
		`DELETE FROM messaging_merge WHERE gone = $1 OR keep = $1`,
		`UPDATE messaging_chat SET chat_id = 'deleted:' || id, phone = '', user_id = '', psid = '', lid = '', label = '', title = '', name = '',
			biz_name = '', username = '', variables = '{}', tags = '[]', fields = '{}', language = '', choices = '', marks = '', asked = '',
			active_bot = '', unread = 0, last_message = 0, held = FALSE, activity_us = -1, activity_slot = -1 WHERE id = $1`,
	} {
		if _, err := u.Tx.ExecContext(ctx, q, c.ID); err != nil {
			return e, fmt.Errorf("hiding a chat: %w", err)
		}
	}
	delete(u.Chats, c.ID)
	return e, nil
}

// Erase removes what a deletion has hidden, in small transactions between which
// others write. It may be called again after an error or a crash, and also when
// all is removed.
func (a *Account) Erase(ctx context.Context, e Erasure) error {
	if e.Subject == nil {
		return a.s.For(deletedAccount(a.id)).eraseReference(ctx, e.Reference)
	}
	row, p, err := a.opened(ctx, e.Reference)
	if errors.Is(err, ErrNotFound) {
		return nil // with all that belonged to it
	}
	if err != nil {
		return err
	}
	var of subject
	if err := json.Unmarshal(e.Subject, &of); err != nil {
		return fmt.Errorf("reading a deletion: %w", err)
	}
	l, f := row.Info(p), subjectDataOf(&of)
	if err := f.search(ctx, a.s, a.s.db, l); err != nil {
		return err
	}
	if err := f.searchStream(ctx, a.s, a.s.db, l); err != nil {
		return err
	}
	f.limitTo(of.UpTo)
	if err := a.s.eraseInSinks(ctx, l, f, e.At); err != nil { // first: they need the ids of messages
		return err
	}
	if err := a.s.eraseInProvider(ctx, l, f); err != nil {
		return err
	}
	if err := a.s.eraseSubjectData(ctx, l, f); err != nil {
		return err
	}
	if err := a.s.eraseInGroups(ctx, f); err != nil {
		return err
	}
	return a.s.eraseHiddenChat(ctx, l, of.Chat)
}

// eraseStep is how many messages a transaction of an erasure deletes: with each
// go up to six other rows.
const eraseStep = 100

// eraseHiddenChat deletes a chat that is hidden, its row last.
func (s *Service) eraseHiddenChat(ctx context.Context, l store.ReferenceInfo, chat int64) error {
	if chat == 0 {
		return nil
	}
	const messages = `(SELECT seq FROM messaging_message WHERE chat = $1)`
	for _, t := range []struct{ table, key, where string }{
		{"messaging_held", "id", "chat = $1"},
		{"messaging_call", "id", "chat = $1"},
		{"messaging_idempotency", "account, idempotency_key", "message IN " + messages},
	} {
		if err := s.eraseRows(ctx, t.table, t.key, t.where, chat); err != nil {
			return err
		}
	}
	for {
		var ms []store.Located
		err := s.db.SelectContext(ctx, &ms, `SELECT seq, chat, reference, id, past_us, '' AS own_id FROM messaging_message
			WHERE chat = $1 ORDER BY past_us, seq LIMIT $2`, chat, eraseStep)
		if err != nil {
			return fmt.Errorf("reading what is to be deleted: %w", err)
		}
		if len(ms) == 0 {
			break
		}
		if err := s.db.InTx(ctx, func(tx *sqlx.Tx) error { return s.eraseStep(ctx, tx, l, ms) }); err != nil {
			return fmt.Errorf("deleting a chat: %w", err)
		}
	}
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_chat WHERE id = $1 AND activity_us < 0`, chat)
		return err
	})
}

// eraseStep deletes messages of a hidden chat with what belongs to them.
func (s *Service) eraseStep(ctx context.Context, tx *sqlx.Tx, l store.ReferenceInfo, ms []store.Located) error {
	seqs, ids := make([]int64, len(ms)), make([]any, len(ms))
	for i, m := range ms {
		seqs[i], ids[i] = m.Seq, m.ID
	}
	of, args := s.db.Dialect.InNumbers("message", 1, seqs)
	if err := forgetFiles(ctx, tx, of, args...); err != nil {
		return err
	}
	raw, rawArgs := s.db.Dialect.In("raw_id", 2, ids)
	in, seqArgs := s.db.Dialect.InNumbers("seq", 1, seqs)
	for _, q := range []struct {
		text string
		args []any
	}{
		{`UPDATE messaging_media SET detail = '{}' WHERE ` + of, args},
		{`DELETE FROM messaging_raw WHERE reference = $1 AND ` + raw, append([]any{l.ID}, rawArgs...)},
		{`DELETE FROM messaging_outbound WHERE ` + of, args},
		{`DELETE FROM messaging_message WHERE ` + in, seqArgs},
	} {
		if _, err := tx.ExecContext(ctx, q.text, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// eraseSubjectData deletes what stands in rows that belong to no chat.
func (s *Service) eraseSubjectData(ctx context.Context, l store.ReferenceInfo, f *subjectData) error {
	for _, t := range []struct {
		table string
		ids   []int64
	}{{"messaging_raw", f.reports}, {"messaging_dead", f.dead}, {"messaging_feed", f.stream}} {
		for part := range slices.Chunk(t.ids, eraseStep) {
			in, args := s.db.Dialect.InNumbers("id", 1, part)
			if err := s.exec(ctx, `DELETE FROM `+t.table+` WHERE `+in, args...); err != nil {
				return fmt.Errorf("deleting from %s: %w", t.table, err)
			}
		}
	}
	for _, n := range f.names {
		if n.Kind != store.IDLID {
			continue
		}
		if err := s.exec(ctx, `DELETE FROM messaging_lid WHERE reference = $1 AND lid = $2`, l.ID, n.Value); err != nil {
			return fmt.Errorf("deleting a hidden id: %w", err)
		}
	}
	for _, n := range f.numbers {
		if err := s.exec(ctx, `DELETE FROM messaging_number WHERE reference = $1 AND number = $2`, l.ID, n); err != nil {
			return fmt.Errorf("deleting a number: %w", err)
		}
	}
	return nil
}

// exec runs a statement in a transaction of its own.
func (s *Service) exec(ctx context.Context, query string, args ...any) error {
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// eraseInGroups deletes what a contact wrote in groups.
func (s *Service) eraseInGroups(ctx context.Context, f *subjectData) error {
	for part := range slices.Chunk(f.elsewhere, eraseStep) {
		seqs := make([]int64, len(part))
		for i, m := range part {
			seqs[i] = m.Seq
		}
		if err := s.store.InBatch(ctx, func(u *store.Batch) error { return eraseLocated(ctx, u, seqs) }); err != nil {
			return err
		}
	}
	return nil
}

// eraseLocated deletes messages from the chats in which they are now.
func eraseLocated(ctx context.Context, u *store.Batch, seqs []int64) error {
	if err := u.LoadLocked(ctx, seqs); err != nil {
		return err
	}
	byChat := map[int64][]store.Located{}
	for _, seq := range seqs {
		if m := u.Messages[seq]; m != nil {
			byChat[m.Chat] = append(byChat[m.Chat], store.Located{MessageKey: store.MessageKey{Reference: m.Reference, ID: m.ID}, Seq: seq, Chat: m.Chat})
			delete(u.Messages, seq)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byChat)) {
		if err := eraseMessages(ctx, u, u.Chats[id], byChat[id]); err != nil {
			return err
		}
	}
	return nil
}

// deleteNumbered deletes rows by a column of numbers.
func deleteNumbered(ctx context.Context, u *store.Batch, table, column string, numbers []int64) error {
	for part := range slices.Chunk(numbers, store.Chunk) {
		in, args := u.Store.DB.Dialect.InNumbers(column, 1, part)
		if _, err := u.Tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+in, args...); err != nil {
			return fmt.Errorf("deleting from %s: %w", table, err)
		}
	}
	return nil
}

// eraseMessages deletes some messages of others from a locked chat.
func eraseMessages(ctx context.Context, u *store.Batch, c *store.Chat, ms []store.Located) error {
	seqs := make([]int64, len(ms))
	for i, m := range ms {
		seqs[i] = m.Seq
	}
	unread := 0
	for part := range slices.Chunk(ms, store.Chunk) {
		var numbers []int64
		values := make([]any, len(part))
		for i, m := range part {
			numbers, values[i] = append(numbers, m.Seq), m.ID
		}
		in, args := u.Store.DB.Dialect.InNumbers("message", 1, numbers)
		if err := forgetFiles(ctx, u.Tx, in, args...); err != nil {
			return err
		}
		if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_media SET detail = '{}' WHERE `+in, args...); err != nil {
			return fmt.Errorf("forgetting files: %w", err)
		}
		held, names := u.Store.DB.Dialect.In("message_id", 2, values)
		if _, err := u.Tx.ExecContext(ctx, `DELETE FROM messaging_held WHERE chat = $1 AND `+held, append([]any{c.ID}, names...)...); err != nil {
			return fmt.Errorf("dropping events: %w", err)
		}
		n := 0
		in, args = u.Store.DB.Dialect.InNumbers("seq", 2, numbers)
		err := u.Tx.GetContext(ctx, &n, `SELECT count(*) FROM messaging_message WHERE NOT mine AND past_us = 0 AND status < $1 AND `+in,
			append([]any{int(provider.StatusRead)}, args...)...)
		if err != nil {
			return fmt.Errorf("counting unread messages: %w", err)
		}
		unread += n
	}
	if err := deleteNumbered(ctx, u, "messaging_message", "seq", seqs); err != nil {
		return err
	}
	return shrunk(ctx, u, c, seqs, int64(unread))
}

// shrunk puts a chat right from which messages were deleted.
func shrunk(ctx context.Context, u *store.Batch, c *store.Chat, gone []int64, unread int64) error {
	c.Unread = max(0, c.Unread-unread)
	if slices.Contains(gone, c.LastMessage) {
		err := u.Tx.GetContext(ctx, &c.LastMessage, `SELECT COALESCE((SELECT seq FROM messaging_message WHERE chat = $1
			ORDER BY past_us DESC, seq DESC LIMIT 1), 0)`, c.ID)
		if err != nil {
			return fmt.Errorf("finding the last message of a chat: %w", err)
		}
	}
	u.ActiveChats.Add(c)
	if !c.Deferring {
		return nil
	}
	return store.ReleaseDeferred(ctx, u, c) // what waited behind them
}

// eraseInProvider has the reference's provider erase what it keeps.
func (s *Service) eraseInProvider(ctx context.Context, l store.ReferenceInfo, f *subjectData) error {
	eraser, ok := s.kinds[l.Kind].(provider.Eraser)
	if !ok {
		return nil
	}
	for more := true; more; {
		err := s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
			more, err = eraser.EraseTx(ctx, tx.Tx, l.ID, f.ids)
			return err
		})
		if err != nil {
			return fmt.Errorf("erasing what the provider keeps: %w", err)
		}
	}
	return nil
}

// eraseInSinks has the sinks erase what they were told.
func (s *Service) eraseInSinks(ctx context.Context, l store.ReferenceInfo, f *subjectData, before time.Time) error {
	e := Erased{Account: l.Account, Reference: l.ID, ChatIDs: f.ids, MessageIDs: idsOf(f.elsewhere), Before: before}
	for _, k := range s.opts.Sinks {
		eraser, ok := k.(Eraser)
		if !ok {
			continue
		}
		if err := eraser.Erase(ctx, e); err != nil {
			return fmt.Errorf("erasing in %T: %w", k, err)
		}
	}
	return nil
}

func idsOf(ms []store.Located) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.ID
	}
	return out
}
