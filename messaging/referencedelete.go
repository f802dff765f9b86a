package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

func deletedAccount(account string) string { return store.DeletedPrefix + account }

// DeleteReference removes a reference with everything that hangs on it. It is
// [Account.HideReference] and [Account.Erase]: a caller who wants to go on after
// a crash calls those.
func (a *Account) DeleteReference(ctx context.Context, id provider.ReferenceID) error {
	e, err := a.HideReference(ctx, id, nil)
	if err != nil {
		return err
	}
	return a.Erase(ctx, e)
}

// HideReference begins to delete a reference in one small transaction: from its
// commit on the reference is not found, nothing comes to it, and nothing that
// waits is sent. Then, which may be nil, is part of the transaction; it may run
// more than once.
func (a *Account) HideReference(
	ctx context.Context, id provider.ReferenceID, then func(ctx context.Context, tx *sqlx.Tx, e Erasure) error,
) (Erasure, error) {
	e := Erasure{Reference: id, At: a.s.now()}
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		row := &store.Reference{}
		err := tx.GetContext(ctx, row, `UPDATE messaging_reference SET account = $1, line_key = '', group_key = '', verify_hash = ''
			WHERE id = $2 AND account = $3 RETURNING id, name`, deletedAccount(a.id), id, a.id)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("hiding a reference: %w", err)
		}
		if err := recordReferenceTx(ctx, tx, audit.ReferenceDelete, row, nil); err != nil {
			return err
		}
		if err := desireUnlinked(ctx, a.s.store.Begin(tx), id); err != nil {
			return err
		}
		if then != nil {
			return then(ctx, tx, e)
		}
		return nil
	})
	if err != nil {
		return Erasure{}, err
	}
	a.s.sessions.drop(id, a.s.opts.Logger)
	a.s.db.Wake(leaseTopic)
	a.s.referencesChanged()
	return e, nil
}

// eraseReference removes a reference in small transactions, its row last.
func (a *Account) eraseReference(ctx context.Context, id provider.ReferenceID) error {
	known, err := a.known(ctx, id)
	if err != nil || !known {
		return err
	}
	if err := a.unhook(ctx, id); err != nil {
		return err
	}
	const messages = `(SELECT seq FROM messaging_message WHERE reference = $1)`
	for _, t := range []struct{ table, key, where string }{
		{"messaging_idempotency", "account, idempotency_key", "message IN " + messages},
		{"messaging_outbound", "message", ""},
		{"messaging_message", "seq", ""},
		{"messaging_held", "id", ""},
		{"messaging_alias", "reference, kind, alias", ""},
		{"messaging_chat", "id", ""},
		{"messaging_raw", "id", ""},
		{"messaging_dead", "id", ""},
		{"messaging_early", "reference, message_id, status", ""},
		{"messaging_number", "reference, number", ""},
		{"messaging_lid", "reference, lid", ""},
		{"messaging_call", "id", ""},
		{"messaging_errand", "id", ""},
		{"messaging_template", "seq", ""},
		{"messaging_upload", "reference, media, kind", ""},
		{"messaging_feed", "id", ""},
	} {
		if t.where == "" {
			t.where = "reference = $1"
		}
		if err := a.s.eraseRows(ctx, t.table, t.key, t.where, id); err != nil {
			return err
		}
	}
	if err := a.s.forgetReference(ctx, id); err != nil {
		return err
	}
	if err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.s.dropReference(ctx, tx, id) }); err != nil {
		return fmt.Errorf("deleting a reference: %w", err)
	}
	a.s.sessions.drop(id, a.s.opts.Logger)
	a.s.db.Wake(leaseTopic)
	a.s.referencesChanged()
	return nil
}

// dropReference removes the row of a reference, with what has come since the
// rest was removed.
func (s *Service) dropReference(ctx context.Context, tx *sqlx.Tx, id provider.ReferenceID) error {
	if s.db.Dialect == database.Postgres { // nobody makes a chat of it from now on
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
func (a *Account) known(ctx context.Context, id provider.ReferenceID) (is bool, err error) {
	err = a.s.db.GetContext(ctx, &is, `SELECT EXISTS (SELECT 1 FROM messaging_reference WHERE id = $1 AND account = $2)`, id, a.id)
	if err != nil {
		return false, fmt.Errorf("looking for a reference: %w", err)
	}
	return is, nil
}

// forgetReference has the files of a reference removed.
func (s *Service) forgetReference(ctx context.Context, id provider.ReferenceID) error {
	return s.inSteps(ctx, "messaging_media", `UPDATE messaging_media SET gone = TRUE, waiting = FALSE WHERE id IN
		(SELECT id FROM messaging_media WHERE reference = $1 AND NOT gone LIMIT $2)`, id)
}
