package privacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// EraseReference removes a reference in small transactions, its row last.
func (s *Records) EraseReference(ctx context.Context, account string, id provider.ReferenceID) error {
	known, err := s.known(ctx, account, id)
	if err != nil || !known {
		return err
	}
	if err := s.unhook(ctx, id); err != nil {
		return err
	}
	const messages = `(SELECT seq FROM messaging_message WHERE reference = $1)`
	for _, t := range []struct{ table, key, where string }{
		{"messaging_idempotency", "account, idempotency_key", "message IN " + messages},
		{"messaging_outbound", "message", ""},
		{"messaging_message", "seq", ""},
		{"messaging_deferred", "id", ""},
		{"messaging_alias", "reference, kind, alias", ""},
		{"messaging_chat", "id", ""},
		{"messaging_raw", "id", ""},
		{"messaging_dead_letter", "id", ""},
		{"messaging_early_status", "reference, message_id, status", ""},
		{"messaging_number", "reference, number", ""},
		{"messaging_lid", "reference, lid", ""},
		{"messaging_call", "id", ""},
		{"messaging_remote_call", "id", ""},
		{"messaging_template", "seq", ""},
		{"messaging_upload", "reference, media, kind", ""},
		{"messaging_change", "id", ""},
	} {
		t.where = cmp.Or(t.where, "reference = $1")
		if err := s.eraseRows(ctx, t.table, t.key, t.where, id); err != nil {
			return err
		}
	}
	if err := s.forgetReference(ctx, id); err != nil {
		return err
	}
	if err := s.Store.DB.InTx(ctx, func(tx *database.Tx) error { return s.dropReference(ctx, tx, id) }); err != nil {
		return fmt.Errorf("deleting a reference: %w", err)
	}
	s.Dropped(id)
	return nil
}

// dropReference removes the row of a reference, with what has come since the
// rest was removed.
func (s *Records) dropReference(ctx context.Context, tx *database.Tx, id provider.ReferenceID) error {
	if s.Store.DB.Dialect == database.Postgres { // no chat of it is made from now on
		if _, err := tx.ExecContext(ctx, `SELECT 1 FROM messaging_reference WHERE id = $1 FOR UPDATE`, id); err != nil {
			return err
		}
	}
	for _, q := range []string{
		`DELETE FROM messaging_chat WHERE reference = $1`, // first: it waits for those who write to one
		`DELETE FROM messaging_outbound WHERE reference = $1`,
		`DELETE FROM messaging_message WHERE reference = $1`,
		`DELETE FROM messaging_reference WHERE id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// known says whether a reference of the account is left to be erased.
func (s *Records) known(ctx context.Context, account string, id provider.ReferenceID) (is bool, err error) {
	err = s.Store.DB.GetContext(ctx, &is, `SELECT EXISTS (SELECT 1 FROM messaging_reference WHERE id = $1 AND account = $2)`, id, account)
	if err != nil {
		return false, fmt.Errorf("looking for a reference: %w", err)
	}
	return is, nil
}

// forgetReference has the files of a reference removed.
func (s *Records) forgetReference(ctx context.Context, id provider.ReferenceID) error {
	return s.inSteps(ctx, "messaging_media", `UPDATE messaging_media SET gone = TRUE, waiting = FALSE WHERE id IN
		(SELECT id FROM messaging_media WHERE reference = $1 AND NOT gone LIMIT $2)`, id)
}

// unhook lets nothing come to a reference any more, and drops what is to be done
// for it.
func (s *Records) unhook(ctx context.Context, id provider.ReferenceID) error {
	err := s.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET line_key = '', group_key = '', verify_hash = '' WHERE id = $1`, id)
		return err
	})
	s.Changed()
	if err != nil {
		return err
	}
	for _, q := range []*queue.Queue{s.Store.Sends, s.Store.Files, s.Store.Inbound} {
		err = errors.Join(err, q.Drop(ctx, store.Subscriber(id)))
	}
	return err
}
