package database

import (
	"context"
)

// InSteps repeats a statement that changes a limited number of rows, each time in a
// transaction of its own, until it changes none. Completed steps survive an error
// or a crash.
func (d *DB) InSteps(ctx context.Context, statement string, args ...any) error {
	ctx = Chore(ctx)
	for n := int64(1); n > 0; {
		err := d.InTx(ctx, func(tx *Tx) error {
			res, err := tx.ExecContext(ctx, statement, args...)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
