package store

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/internal/database"
)

// InTx runs fn in a transaction, again when a chat moved under it.
func (s *Store) InTx(ctx context.Context, fn func(tx *database.Tx) error) error {
	isMoved := func(err error) bool { return errors.Is(err, ErrMoved) }
	return database.Again(ctx, isMoved, func() error { return s.DB.InTx(ctx, fn) })
}

// InBatch runs fn with a batch of its own, again when a chat moved under it.
func (s *Store) InBatch(ctx context.Context, fn func(b *Batch) error) error {
	return s.InTx(ctx, func(tx *database.Tx) error {
		b := s.Begin(tx)
		if err := fn(b); err != nil {
			return err
		}
		return b.Flush(ctx)
	})
}
