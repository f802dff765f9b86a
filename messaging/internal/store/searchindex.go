package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/search"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// indexed is a row of the index of messages.
type indexed struct {
	message, source *Message // source has the text: the message, or the edit that was last
	words           string   // "": it has none
}

const insertSearch = `INSERT INTO messaging_search (message, source, reference, at_us, words) `

// searchRows are the statements that make the messages of the batch found by their
// words, and those that have no words any more, or were deleted, not.
func searchRows(ctx context.Context, u *Batch) (found, lost database.Rows, err error) {
	all := u.unindexed
	for _, m := range u.Rewritten.Items {
		all.Add(m)
	}
	u.unindexed = Ordered[*Message]{}
	// The text of a message that was edited stays that of the edit.
	return searchRowsOf(ctx, u, all.Items, ` ON CONFLICT (message) DO UPDATE SET source = excluded.source, words = excluded.words
		WHERE messaging_search.source = messaging_search.message OR excluded.source <> excluded.message`)
}

func searchRowsOf(ctx context.Context, u *Batch, all []*Message, conflict string) (found, lost database.Rows, err error) {
	found = database.Rows{Before: insertSearch, After: conflict, Types: []string{"BIGINT", "BIGINT", "BIGINT", "BIGINT", "TEXT"}}
	lost = database.Rows{Before: `DELETE FROM messaging_search WHERE message IN (`, After: `)`, Types: NumberTypes, Set: true}
	rows, err := indexedOf(ctx, u, all)
	if err != nil {
		return found, lost, err
	}
	for _, r := range rows {
		if r.words == "" {
			lost.Values = append(lost.Values, r.message.Seq)
			continue
		}
		found.Values = append(found.Values, r.message.Seq, r.source.Seq, r.message.Reference, r.message.AtUS, r.words)
	}
	return found, lost, nil
}

// indexedOf returns the rows of messages, each once and in one order everywhere. An edit
// has the row of the message that it changes, and a deletion empties it.
func indexedOf(ctx context.Context, u *Batch, all []*Message) ([]*indexed, error) {
	rows := map[int64]*indexed{}
	changes := map[*Message]payload.Body{}
	for _, m := range all {
		if m.Seq == 0 || m.Body == "" {
			continue
		}
		var b payload.Body
		_ = json.Unmarshal([]byte(m.Body), &b) // written by this package
		if b.Edited != nil || b.Revoked != nil {
			changes[m] = b
			continue
		}
		rows[m.Seq] = &indexed{m, m, search.Words(search.Text(&b), m.Reference, m.Chat, m.AtUS)}
	}
	about, err := targets(ctx, u, changes)
	if err != nil {
		return nil, err
	}
	for _, m := range all { // the last change counts
		b, changes := changes[m]
		if !changes {
			continue
		}
		target := about[m]
		switch {
		case target != nil && b.Revoked != nil:
			rows[target.Seq] = &indexed{target, m, ""}
		case target != nil:
			var was payload.Body
			_ = json.Unmarshal([]byte(target.Body), &was) // written by this package
			rows[target.Seq] = &indexed{target, m, search.Words(search.Edited(&was, &b), target.Reference, target.Chat, target.AtUS)}
		case b.Edited != nil:
			rows[m.Seq] = &indexed{m, m, search.Words(search.Text(&b), m.Reference, m.Chat, m.AtUS)}
		}
	}
	out := make([]*indexed, 0, len(rows))
	for _, r := range rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *indexed) int { return cmp.Compare(a.message.Seq, b.message.Seq) })
	return out, nil
}

// targets returns the messages that edits and deletions are about. Only who wrote a
// message changes it.
func targets(ctx context.Context, u *Batch, changes map[*Message]payload.Body) (map[*Message]*Message, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	var keys []MessageKey
	for m, b := range changes {
		keys = append(keys, MessageKey{m.Reference, b.Target()})
	}
	at, err := u.Locate(ctx, keys)
	if err != nil {
		return nil, err
	}
	var unknown []int64
	for _, l := range at {
		if u.Messages[l.Seq] == nil {
			unknown = append(unknown, l.Seq)
		}
	}
	if err := u.Load(ctx, unknown); err != nil {
		return nil, err
	}
	out := map[*Message]*Message{}
	for m, b := range changes {
		for _, l := range at {
			t := u.Messages[l.Seq]
			if t != nil && t.Chat == m.Chat && t.Mine == m.Mine && (l.ID == b.Target() || l.OwnID == b.Target()) {
				out[m] = t
			}
		}
	}
	return out, nil
}

// backlogStep is how many messages of before there was an index a transaction indexes.
const backlogStep = 500

// IndexBacklog indexes some messages that were stored before there was an index, the
// oldest first. It reports whether there are no more.
func (s *Store) IndexBacklog(ctx context.Context) (done bool, err error) {
	err = s.InTx(ctx, func(tx *database.Tx) error {
		done, err = s.indexBacklog(ctx, tx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("indexing messages: %w", err)
	}
	return done, nil
}

func (s *Store) indexBacklog(ctx context.Context, tx *database.Tx) (done bool, err error) {
	lock, keep := "", ""
	if s.DB.Dialect == database.Postgres {
		lock, keep = ` FOR UPDATE`, ` FOR KEY SHARE OF m` // messages are not deleted before they are indexed
	}
	var last []int64
	if err := tx.SelectContext(ctx, &last, `SELECT last FROM messaging_search_backlog`+lock); err != nil || len(last) == 0 {
		return true, err
	}
	var rows []*Message
	err = tx.SelectContext(ctx, &rows, `SELECT `+MessageColumns+MessageFrom+`WHERE m.seq > $1 ORDER BY m.seq LIMIT $2`+keep, last[0], backlogStep)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		_, err := tx.ExecContext(ctx, `DELETE FROM messaging_search_backlog`)
		return true, err
	}
	u := s.Begin(tx)
	for _, m := range rows {
		u.Messages[m.Seq] = m
	}
	// What was indexed meanwhile is newer, but for the changes, which follow what they change.
	found, lost, err := searchRowsOf(ctx, u, rows, ` ON CONFLICT (message) DO UPDATE SET source = excluded.source, words = excluded.words
		WHERE excluded.source > messaging_search.source`)
	if err != nil {
		return false, err
	}
	if err := s.DB.ExecTogether(ctx, tx, found, lost); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE messaging_search_backlog SET last = $1`, rows[len(rows)-1].Seq)
	return false, err
}
