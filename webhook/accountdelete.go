package webhook

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// eraseSpan is how many events a step of [Account.DeleteAll] looks at.
const eraseSpan = 200

// DeleteAll removes everything of the account: its endpoints, what waits for them,
// events and the log. It works in small steps, each durable, and may be called
// again after an error or a crash; it looks at every event that is kept.
func (a *Account) DeleteAll(ctx context.Context) error {
	var ids []string
	if err := a.d.db.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE account = $1 ORDER BY id`, a.id); err != nil {
		return fmt.Errorf("listing endpoints: %w", err)
	}
	if err := a.deleteEndpoints(ctx, ids); err != nil {
		return err
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
	err := a.d.db.InSteps(ctx, `DELETE FROM webhook_deferred WHERE id IN (SELECT id FROM webhook_deferred WHERE account = $1 LIMIT $2)`, a.id, pruneChunk)
	if err != nil {
		return fmt.Errorf("erasing held events: %w", err)
	}
	return a.d.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.d.used.ForgetTx(ctx, tx, a.id) })
}

// deleteEndpoints deletes endpoints, each after what waits for it.
func (a *Account) deleteEndpoints(ctx context.Context, ids []string) error {
	for _, id := range ids {
		err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error { // nothing more is put for it
			_, err := tx.ExecContext(ctx, `DELETE FROM webhook_endpoint WHERE account = $1 AND id = $2`, a.id, id)
			return err
		})
		if err == nil {
			err = a.d.queue.Drop(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("deleting endpoint %s: %w", id, err)
		}
		a.d.breakers.clear(id)
	}
	return nil
}

// DeleteScope removes everything of a scope: endpoints, what waits for them,
// events and the log. It works in small steps, each durable, and may be called
// again after an error or a crash; it looks at every event that is kept.
func (a *Account) DeleteScope(ctx context.Context, scope string) error {
	var ids []string
	err := a.d.db.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE account = $1 AND scope = $2 ORDER BY id`, a.id, scope)
	if err != nil {
		return fmt.Errorf("deleting the endpoints of a scope: %w", err)
	}
	if err := a.deleteEndpoints(ctx, ids); err != nil {
		return err
	}
	for last := int64(0); ; {
		var numbers []int64
		err := a.d.db.SelectContext(ctx, &numbers, `SELECT number FROM webhook_event WHERE number > $1 AND scope = $2 AND account = $3
			ORDER BY number LIMIT 2000`, last, scope, a.id)
		if err != nil {
			return fmt.Errorf("looking for events: %w", err)
		}
		if len(numbers) == 0 {
			break
		}
		for part := range slices.Chunk(numbers, eraseEvents) {
			if err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.d.deleteEvents(ctx, tx, part) }); err != nil {
				return fmt.Errorf("deleting the deliveries of a scope: %w", err)
			}
		}
		last = numbers[len(numbers)-1]
	}
	err = a.d.db.InSteps(ctx, `DELETE FROM webhook_deferred WHERE id IN (SELECT id FROM webhook_deferred WHERE scope = $1 AND account = $2 LIMIT $3)`,
		scope, a.id, pruneChunk)
	if err != nil {
		return fmt.Errorf("erasing held events: %w", err)
	}
	return nil
}

// deleteEvents deletes a few events with the attempts to deliver them.
func (d *Dispatcher) deleteEvents(ctx context.Context, tx *sqlx.Tx, numbers []int64) error {
	for _, t := range []struct{ table, column string }{{"webhook_attempt", "event"}, {"webhook_event", "number"}} {
		in, args := d.db.Dialect.InNumbers(t.column, 1, numbers)
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+t.table+` WHERE `+in, args...); err != nil {
			return err
		}
	}
	return nil
}

// eraseOrphans erases attempts at events that retention has deleted, which are
// no account's any more.
func (a *Account) eraseOrphans(ctx context.Context, before int64) error {
	err := a.d.db.InSteps(ctx, `DELETE FROM webhook_attempt WHERE id IN (SELECT id FROM webhook_attempt WHERE event < $1 LIMIT $2)`, before, pruneChunk)
	if err != nil {
		return fmt.Errorf("erasing attempts: %w", err)
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
