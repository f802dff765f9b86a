package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// DeleteAll removes everything of the account: first its sessions end, then its
// lines go with their chats, messages and files. It works in small steps, each
// durable, and may be called again after an error or a crash. Nothing may be
// added to the account meanwhile but what its networks still report.
func (a *Account) DeleteAll(ctx context.Context) error {
	for {
		var ids []provider.ReferenceID
		err := a.s.db.SelectContext(ctx, &ids, `SELECT id FROM messaging_reference WHERE account = $1 ORDER BY id LIMIT 100`, a.id)
		if err != nil {
			return fmt.Errorf("listing references: %w", err)
		}
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if _, err := a.Logout(ctx, id); err != nil {
				return err
			}
			if err := a.eraseReference(ctx, id); err != nil {
				return fmt.Errorf("erasing reference %d: %w", id, err)
			}
		}
	}
	if err := a.eraseFiles(ctx); err != nil {
		return err
	}
	return errors.Join(
		a.s.eraseRows(ctx, "messaging_idempotency", "account, idempotency_key", "account = $1", a.id),
		a.s.eraseRows(ctx, "messaging_feed", "id", "account = $1", a.id),
		a.s.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.s.used.ForgetTx(ctx, tx, a.id) }),
	)
}

// unhook lets nothing come to a reference any more, and drops what is to be done
// for it.
func (a *Account) unhook(ctx context.Context, id provider.ReferenceID) error {
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET line_key = '', group_key = '', verify_hash = '' WHERE id = $1`, id)
		return err
	})
	a.s.referencesChanged()
	if err != nil {
		return err
	}
	return errors.Join(a.s.sends.Drop(ctx, store.Subscriber(id)), a.s.files.Drop(ctx, store.Subscriber(id)))
}

// eraseFiles removes the files of the account from the library.
func (a *Account) eraseFiles(ctx context.Context) error {
	if a.s.opts.Media == nil {
		return a.s.eraseRows(ctx, "messaging_media", "id", "account = $1", a.id)
	}
	for {
		var ids []any
		if err := a.s.db.SelectContext(ctx, &ids, `SELECT id FROM messaging_media WHERE account = $1 LIMIT 200`, a.id); err != nil || len(ids) == 0 {
			return err
		}
		if err := a.s.removeThese(ctx, ids); err != nil {
			return err
		}
	}
}

// eraseRows deletes the rows of a condition in small steps; arg is its $1.
func (s *Service) eraseRows(ctx context.Context, table, key, where string, arg any) error {
	return s.inSteps(ctx, table, `DELETE FROM `+table+` WHERE (`+key+`) IN (SELECT `+key+` FROM `+table+` WHERE `+where+` LIMIT $2)`, arg)
}

// inSteps runs a query, each time in a transaction of its own, until it changes
// nothing more; arg is its $1, and $2 how many rows it may change.
func (s *Service) inSteps(ctx context.Context, table, query string, arg any) error {
	if err := s.db.InSteps(ctx, query, arg, pruneChunk); err != nil {
		return fmt.Errorf("erasing from %s: %w", table, err)
	}
	return nil
}
