package messaging

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// DeleteReference removes a line with everything that hangs on it.
func (a *Account) DeleteReference(ctx context.Context, id provider.ReferenceID) error {
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.DeleteReferenceTx(ctx, tx, id) })
	if err != nil {
		return err
	}
	a.s.ReferenceDeleted(id)
	return nil
}

// DeleteReferenceTx removes a line when tx commits; call
// [Service.ReferenceDeleted] then.
func (a *Account) DeleteReferenceTx(ctx context.Context, tx *sqlx.Tx, id provider.ReferenceID) error {
	if _, err := a.row(ctx, tx, id); err != nil {
		return err
	}
	if a.s.db.Dialect == database.Postgres { // nobody makes a chat of it from now on
		if _, err := tx.ExecContext(ctx, `SELECT 1 FROM messaging_reference WHERE id = $1 FOR UPDATE`, id); err != nil {
			return fmt.Errorf("locking a reference: %w", err)
		}
	}
	if err := a.s.sends.DropTx(ctx, tx, consumer(id)); err != nil {
		return err
	}
	if err := a.s.sends.ResumeTx(ctx, tx, consumer(id)); err != nil {
		return err
	}
	if err := a.s.files.DropTx(ctx, tx, consumer(id)); err != nil {
		return err
	}
	if err := a.s.unit(tx).wishUnlinked(ctx, id); err != nil {
		return err
	}
	if err := forgetFiles(ctx, tx, `reference = $1`, id); err != nil {
		return err
	}
	for _, q := range []string{
		`DELETE FROM messaging_chat WHERE reference = $1`, // first: it waits for those who write to one
		`DELETE FROM messaging_idempotency WHERE message IN (SELECT seq FROM messaging_message WHERE reference = $1)`,
		`DELETE FROM messaging_outbound WHERE reference = $1`,
		`DELETE FROM messaging_message WHERE reference = $1`,
		`DELETE FROM messaging_feed WHERE reference = $1`,
		`DELETE FROM messaging_reference WHERE id = $1`,
	} {
		if _, err := tx.ExecContext(ctx, q, id); err != nil {
			return fmt.Errorf("deleting a reference: %w", err)
		}
	}
	return nil
}

// ReferenceDeleted closes the session of a line that is gone.
func (s *Service) ReferenceDeleted(id provider.ReferenceID) {
	s.lines.drop(id, s.opts.Logger)
	s.db.Wake(holdTopic)
	s.referencesChanged()
}
