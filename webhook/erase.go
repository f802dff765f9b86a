package webhook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Erasure chooses events of a scope by what they are about.
type Erasure struct {
	Scope               string
	ChatIDs, MessageIDs []string  // any of these
	Before              time.Time // what came later stays; zero: nothing does
}

const (
	// eraseChunk is how many ids a statement names, and how many held events a
	// transaction deletes.
	eraseChunk = 500
	// eraseEvents is how many events a transaction erases: with each go the
	// attempts to deliver it.
	eraseEvents = 50
)

// Erase erases the content of events: their bodies and headers, the ids of the
// chats and messages that they are about, and what receivers answered. The log
// keeps when they were delivered, to which endpoint, and how that ended. What is
// pending fails without another attempt, and replays leave out what was erased.
// It works in small transactions, and may be called again after an error or a crash.
func (a *Account) Erase(ctx context.Context, e Erasure) error {
	before := int64(math.MaxInt64)
	if !e.Before.IsZero() {
		before = database.Micros(e.Before)
	}
	for _, by := range []struct {
		column string
		ids    []string
	}{{"chat_id", e.ChatIDs}, {"message_id", e.MessageIDs}} {
		for part := range slices.Chunk(by.ids, eraseChunk) {
			if err := a.eraseBy(ctx, e.Scope, by.column, part, before); err != nil {
				return fmt.Errorf("erasing events: %w", err)
			}
		}
	}
	return nil
}

// eraseBy erases the events whose column has one of ids.
func (a *Account) eraseBy(ctx context.Context, scope, column string, ids []string, before int64) error {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	in, args := a.d.db.Dialect.In(column, 4, values)
	which := `account = $1 AND scope = $2 AND at_us <= $3 AND ` + column + ` <> '' AND ` + in
	args = append([]any{a.id, scope, before}, args...)
	err := a.d.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM webhook_deferred WHERE id IN (SELECT id FROM webhook_deferred WHERE %s LIMIT %d)`, which, eraseChunk), args...)
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		var rows []delivery.Event
		err := a.d.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT number, id FROM webhook_event WHERE number > %d AND %s ORDER BY number LIMIT %d`,
			last, which, 40*eraseEvents), args...)
		if err != nil || len(rows) == 0 {
			return err
		}
		for part := range slices.Chunk(rows, eraseEvents) {
			if err := a.d.db.InTx(ctx, func(tx *database.Tx) error { return a.eraseTx(ctx, tx, part) }); err != nil {
				return err
			}
		}
		known := make([]string, len(rows))
		for i := range rows {
			known[i] = rows[i].ID
		}
		a.d.opts.Echo.forget(scope, known)
		last = rows[len(rows)-1].Number
	}
}

// eraseTx erases a few events.
func (a *Account) eraseTx(ctx context.Context, tx *database.Tx, rows []delivery.Event) error {
	numbers := make([]int64, len(rows))
	for i := range rows {
		numbers[i] = rows[i].Number
	}
	for _, s := range []struct{ set, column string }{
		{`UPDATE webhook_event SET body = '', headers = '', chat_id = '', message_id = '' WHERE `, "number"},
		{`UPDATE webhook_attempt SET response = '' WHERE response <> '' AND `, "event"},
	} {
		where, args := a.d.db.Dialect.InNumbers(s.column, 1, numbers)
		if _, err := tx.ExecContext(ctx, s.set+where, args...); err != nil {
			return err
		}
	}
	return nil
}

// forget drops deliveries of events that were erased.
func (e *Echo) forget(scope string, events []string) {
	if e == nil || len(events) == 0 {
		return
	}
	gone := make(map[string]bool, len(events))
	for _, id := range events {
		gone[id] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if stored := e.last[scope]; stored != nil {
		e.last[scope] = slices.DeleteFunc(stored, func(r Received) bool {
			return slices.ContainsFunc(r.Headers, func(h Header) bool { return h.Key == delivery.HeaderID && gone[h.Value] })
		})
	}
}

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
	return a.d.db.InTx(ctx, func(tx *database.Tx) error { return a.d.used.ForgetTx(ctx, tx, a.id) })
}

// deleteEndpoints deletes endpoints, each after what waits for it.
func (a *Account) deleteEndpoints(ctx context.Context, ids []string) error {
	for _, id := range ids {
		err := a.d.db.InTx(ctx, func(tx *database.Tx) error { // nothing more is put for it
			_, err := tx.ExecContext(ctx, `DELETE FROM webhook_endpoint WHERE account = $1 AND id = $2`, a.id, id)
			return err
		})
		if err == nil {
			err = a.d.queue.Drop(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("deleting endpoint %s: %w", id, err)
		}
		a.d.sender.Breakers.Clear(id)
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
			if err := a.d.db.InTx(ctx, func(tx *database.Tx) error { return a.d.deleteEvents(ctx, tx, part) }); err != nil {
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
func (d *Dispatcher) deleteEvents(ctx context.Context, tx *database.Tx, numbers []int64) error {
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
	err := a.d.db.InTx(ctx, func(tx *database.Tx) error {
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

const (
	pruneInterval = 10 * time.Minute
	pruneChunk    = 500 // rows of a transaction, so that no other waits for it long
)

// prune deletes what is older than the retention until ctx ends.
func (d *Dispatcher) prune(ctx context.Context) error {
	if d.opts.Retention == 0 {
		<-ctx.Done()
		return nil
	}
	return periodic.Run(ctx, pruneInterval, nil, d.opts.Logger, "deleting old deliveries failed", d.pruneAll)
}

// pruneAll deletes chunk after chunk. Attempts have no index by time and need
// none: their ids rise with it, so the oldest are looked at first.
func (d *Dispatcher) pruneAll(ctx context.Context) error {
	before := database.Micros(d.now().Add(-d.opts.Retention))
	for _, statement := range []string{
		`DELETE FROM webhook_attempt WHERE id IN (SELECT id FROM
			(SELECT id, at_us FROM webhook_attempt ORDER BY id LIMIT $1) oldest WHERE at_us < $2)`,
		`DELETE FROM webhook_event WHERE number IN (SELECT number FROM
			(SELECT number, at_us FROM webhook_event ORDER BY at_us LIMIT $1) oldest WHERE at_us < $2)`,
	} {
		// An attempt of a clock that was ahead may be among the oldest.
		if err := d.db.InSteps(ctx, statement, pruneChunk, before); err != nil {
			return fmt.Errorf("deleting deliveries from before %s: %w", database.Time(before).Format(time.RFC3339), err)
		}
	}
	return nil
}
