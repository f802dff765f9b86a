package versions

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"
)

const (
	// removedRows is how many rows are looked for at a time.
	removedRows   = 20
	cleanInterval = 30 * time.Second
)

// EraseAll calls erase for each row of a condition, until it finds none: erase
// must make the condition false, last by deleting the row. Where is a table with
// a condition; the table has columns id, account and number.
func (s *Store) EraseAll(ctx context.Context, where string, args []any, erase func(ctx context.Context, account, id string) error) error {
	for {
		var rows []struct{ ID, Account string }
		err := s.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT id, account FROM %s ORDER BY number LIMIT %d`, where, removedRows), args...)
		if err != nil {
			return fmt.Errorf("looking for what is to be erased: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			if err := erase(ctx, r.Account, r.ID); err != nil {
				return err
			}
		}
	}
}

// RunClean calls clean, which finishes deletions that were interrupted, at once
// and then at intervals until ctx ends.
func (s *Store) RunClean(ctx context.Context, clean func(context.Context) error) error {
	return periodic.RunActive(ctx, s.db, cleanInterval, nil, s.opts.Logger, "erasing what was deleted; it is tried again", clean)
}
