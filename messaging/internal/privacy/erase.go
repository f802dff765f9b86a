package privacy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// EraseChat removes what the deletion of a chat has hidden, in small
// transactions between which others write. It may be called again after an
// error or a crash, and also when all is removed.
func (s *Records) EraseChat(ctx context.Context, l store.ReferenceInfo, e payload.Erasure) error {
	var of subject
	if err := json.Unmarshal(e.Subject, &of); err != nil {
		return fmt.Errorf("reading a deletion: %w", err)
	}
	f := dataOf(&of)
	if err := f.search(ctx, s, s.Store.DB, l); err != nil {
		return err
	}
	if err := f.searchStream(ctx, s, s.Store.DB, l); err != nil {
		return err
	}
	f.limitTo(of.UpTo)
	if err := s.eraseElsewhere(ctx, l, f, e.At); err != nil { // first: they need the ids of messages
		return err
	}
	if err := s.eraseInProvider(ctx, l, f); err != nil {
		return err
	}
	if err := s.eraseSubjectData(ctx, l, f); err != nil {
		return err
	}
	if err := s.eraseInGroups(ctx, f); err != nil {
		return err
	}
	return s.eraseHiddenChat(ctx, l, of.Chat)
}

// eraseStep is how many messages a transaction of an erasure deletes: with each
// go up to six other rows.
const eraseStep = 100

// eraseHiddenChat deletes a chat that is hidden, its row last.
func (s *Records) eraseHiddenChat(ctx context.Context, l store.ReferenceInfo, chat int64) error {
	if chat == 0 {
		return nil
	}
	const messages = `(SELECT seq FROM messaging_message WHERE chat = $1)`
	for _, t := range []struct{ table, key, where string }{
		{"messaging_deferred", "id", "chat = $1"},
		{"messaging_call", "id", "chat = $1"},
		{"messaging_idempotency", "account, idempotency_key", "message IN " + messages},
	} {
		if err := s.eraseRows(ctx, t.table, t.key, t.where, chat); err != nil {
			return err
		}
	}
	for {
		var ms []store.Located
		err := s.Store.DB.SelectContext(ctx, &ms, `SELECT seq, chat, reference, id, past_us, '' AS own_id FROM messaging_message
			WHERE chat = $1 ORDER BY past_us, seq LIMIT $2`, chat, eraseStep)
		if err != nil {
			return fmt.Errorf("reading what is to be deleted: %w", err)
		}
		if len(ms) == 0 {
			break
		}
		if err := s.Store.DB.InTx(ctx, func(tx *database.Tx) error { return s.eraseStep(ctx, tx, l, ms) }); err != nil {
			return fmt.Errorf("deleting a chat: %w", err)
		}
	}
	return s.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_chat WHERE id = $1 AND activity_us < 0`, chat)
		return err
	})
}

// eraseStep deletes messages of a hidden chat with what belongs to them.
func (s *Records) eraseStep(ctx context.Context, tx *database.Tx, l store.ReferenceInfo, ms []store.Located) error {
	seqs, ids := make([]int64, len(ms)), make([]any, len(ms))
	for i, m := range ms {
		seqs[i], ids[i] = m.Seq, m.ID
	}
	of, args := s.Store.DB.Dialect.InNumbers("message", 1, seqs)
	if err := attachment.Forget(ctx, tx, of, args...); err != nil {
		return err
	}
	raw, rawArgs := s.Store.DB.Dialect.In("raw_id", 2, ids)
	in, seqArgs := s.Store.DB.Dialect.InNumbers("seq", 1, seqs)
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

// eraseSubjectData deletes what is in rows that belong to no chat.
func (s *Records) eraseSubjectData(ctx context.Context, l store.ReferenceInfo, f *Data) error {
	for _, t := range []struct {
		table string
		ids   []int64
	}{{"messaging_raw", f.Reports}, {"messaging_dead_letter", f.Dead}, {"messaging_change", f.stream}} {
		for part := range slices.Chunk(t.ids, eraseStep) {
			in, args := s.Store.DB.Dialect.InNumbers("id", 1, part)
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
	for _, n := range f.Numbers {
		if err := s.exec(ctx, `DELETE FROM messaging_number WHERE reference = $1 AND number = $2`, l.ID, n); err != nil {
			return fmt.Errorf("deleting a number: %w", err)
		}
	}
	return nil
}

// exec runs a statement in a transaction of its own.
func (s *Records) exec(ctx context.Context, query string, args ...any) error {
	return s.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// eraseInProvider has the reference's provider erase what it keeps.
func (s *Records) eraseInProvider(ctx context.Context, l store.ReferenceInfo, f *Data) error {
	eraser, ok := s.Store.Kinds[l.Kind].(provider.Eraser)
	if !ok {
		return nil
	}
	for more := true; more; {
		err := s.Store.DB.InTx(ctx, func(tx *database.Tx) (err error) {
			more, err = eraser.EraseTx(ctx, tx, l.ID, f.IDs)
			return err
		})
		if err != nil {
			return fmt.Errorf("erasing what the provider keeps: %w", err)
		}
	}
	return nil
}

// eraseElsewhere erases what other packages keep of a contact.
func (s *Records) eraseElsewhere(ctx context.Context, l store.ReferenceInfo, f *Data, before time.Time) error {
	return s.EraseElsewhere(ctx, payload.Erased{
		Account: l.Account, Reference: l.ID, ChatIDs: f.IDs, MessageIDs: IDsOf(f.Elsewhere), Before: before,
	})
}

// IDsOf are the ids of messages.
func IDsOf(ms []store.Located) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.ID
	}
	return out
}
