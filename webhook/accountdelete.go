package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// eraseSpan is how many events a step of [Account.DeleteAll] looks at.
const eraseSpan = 2000

// DeleteAll removes everything of the account: its endpoints, what waits for them,
// events and the log. It works in small steps, each durable, and may be called
// again after an error or a crash; it looks at every event that is kept.
func (a *Account) DeleteAll(ctx context.Context) error {
	var ids []string
	if err := a.d.db.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE account = $1 ORDER BY id`, a.id); err != nil {
		return fmt.Errorf("listing endpoints: %w", err)
	}
	for _, id := range ids {
		if err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.deleteTx(ctx, tx, id) }); err != nil {
			return fmt.Errorf("deleting endpoint %s: %w", id, err)
		}
	}
	var span struct {
		First int64 `db:"first"`
		Last  int64 `db:"last"`
	}
	const bounds = `SELECT COALESCE(min(number), 0) AS first, COALESCE(max(number), 0) AS last FROM webhook_event`
	if err := a.d.db.GetContext(ctx, &span, bounds); err != nil {
		return fmt.Errorf("looking for events: %w", err)
	}
	if err := a.eraseOrphans(ctx, span.First); err != nil {
		return err
	}
	for from := span.First; from <= span.Last; from += eraseSpan {
		if err := a.eraseSpan(ctx, from); err != nil {
			return err
		}
	}
	return a.d.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_held WHERE account = $1`, a.id); err != nil {
			return fmt.Errorf("erasing held events: %w", err)
		}
		return a.d.used.ForgetTx(ctx, tx, a.id)
	})
}

// eraseOrphans erases attempts at events that retention has deleted, which are
// nobody's any more.
func (a *Account) eraseOrphans(ctx context.Context, before int64) error {
	for n := int64(pruneChunk); n > 0; {
		err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error {
			res, err := tx.ExecContext(ctx, `DELETE FROM webhook_attempt WHERE id IN
				(SELECT id FROM webhook_attempt WHERE event < $1 LIMIT $2)`, before, pruneChunk)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("erasing attempts: %w", err)
		}
	}
	return nil
}

// eraseSpan erases what is of the account among eraseSpan events.
func (a *Account) eraseSpan(ctx context.Context, from int64) error {
	const mine = `number >= $1 AND number < $2 AND account = $3`
	err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error {
		for _, q := range []string{
			`DELETE FROM webhook_attempt WHERE event IN (SELECT number FROM webhook_event WHERE ` + mine + `)`,
			`DELETE FROM webhook_event WHERE ` + mine,
		} {
			if _, err := tx.ExecContext(ctx, q, from, from+eraseSpan, a.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("erasing events: %w", err)
	}
	return nil
}
