package store

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"
)

// InTx runs fn in a transaction, again when a chat moved under it.
func (s *Store) InTx(ctx context.Context, fn func(tx *sqlx.Tx) error) error {
	for try := 1; ; try++ {
		err := s.DB.InTx(ctx, fn)
		if !errors.Is(err, ErrMoved) || try == 5 {
			return err
		}
	}
}

// InBatch runs fn with a batch of its own, again when a chat moved under it,
// and tells the workers afterwards.
func (s *Store) InBatch(ctx context.Context, fn func(b *Batch) error) error {
	files := false
	err := s.InTx(ctx, func(tx *sqlx.Tx) error {
		b := s.Begin(tx)
		if err := fn(b); err != nil {
			return err
		}
		files = len(b.Expected) > 0
		return b.Flush(ctx)
	})
	if err != nil {
		return err
	}
	s.Committed()
	if files {
		s.Files.Notify()
	}
	return nil
}
