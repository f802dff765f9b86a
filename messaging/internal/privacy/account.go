package privacy

import (
	"context"
	"errors"
	"fmt"
)

// EraseAccount removes the rows of an account that belong to no reference.
func (s *Records) EraseAccount(ctx context.Context, account string) error {
	return errors.Join(
		s.eraseRows(ctx, "messaging_idempotency", "account, idempotency_key", "account = $1", account),
		s.eraseRows(ctx, "messaging_change", "id", "account = $1", account),
	)
}

// EraseFiles removes the files of the account from the library.
func (s *Records) EraseFiles(ctx context.Context, account string) error {
	if s.Files.Library == nil {
		return s.eraseRows(ctx, "messaging_media", "id", "account = $1", account)
	}
	for {
		var ids []any
		if err := s.Store.DB.SelectContext(ctx, &ids, `SELECT id FROM messaging_media WHERE account = $1 LIMIT 200`, account); err != nil || len(ids) == 0 {
			return err
		}
		if err := s.Files.Remove(ctx, ids); err != nil {
			return err
		}
	}
}

// eraseRows deletes the rows of a condition in small steps; arg is its $1.
func (s *Records) eraseRows(ctx context.Context, table, key, where string, arg any) error {
	return s.inSteps(ctx, table, `DELETE FROM `+table+` WHERE (`+key+`) IN (SELECT `+key+` FROM `+table+` WHERE `+where+` LIMIT $2)`, arg)
}

// inSteps runs a query, each time in a transaction of its own, until it changes
// nothing more; arg is its $1, and $2 how many rows it may change.
func (s *Records) inSteps(ctx context.Context, table, query string, arg any) error {
	if err := s.Store.DB.InSteps(ctx, query, arg, eraseChunk); err != nil {
		return fmt.Errorf("erasing from %s: %w", table, err)
	}
	return nil
}
