package privacy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// eraseInGroups deletes what a contact wrote in groups, and its votes there.
func (s *Records) eraseInGroups(ctx context.Context, f *Data) error {
	for part := range slices.Chunk(f.Elsewhere, eraseStep) {
		seqs := make([]int64, len(part))
		for i, m := range part {
			seqs[i] = m.Seq
		}
		if err := s.Store.InBatch(ctx, func(u *store.Batch) error { return eraseLocated(ctx, u, seqs) }); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(f.polls, eraseStep) {
		if err := s.Store.InBatch(ctx, func(u *store.Batch) error { return uncount(ctx, u, part, f.remoteJIDs()) }); err != nil {
			return err
		}
	}
	return nil
}

// uncount removes the votes of a contact from the results of polls.
func uncount(ctx context.Context, u *store.Batch, polls []store.Located, jids []string) error {
	seqs := make([]int64, len(polls))
	for i, m := range polls {
		seqs[i] = m.Seq
	}
	if err := u.LoadLocked(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		m := u.Messages[seq]
		if m == nil {
			continue // deleted meanwhile
		}
		var body payload.Body
		_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
		if body.Poll != nil && body.Poll.Counts(jids) {
			body.Poll.Count(jids, nil)
			m.Body = string(payload.MustEncode(body))
			u.Rewritten.Add(m)
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
		if err := attachment.Forget(ctx, u.Tx, in, args...); err != nil {
			return err
		}
		if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_media SET detail = '{}' WHERE `+in, args...); err != nil {
			return fmt.Errorf("forgetting files: %w", err)
		}
		deferred, names := u.Store.DB.Dialect.In("message_id", 2, values)
		if _, err := u.Tx.ExecContext(ctx, `DELETE FROM messaging_deferred WHERE chat = $1 AND `+deferred, append([]any{c.ID}, names...)...); err != nil {
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
