package webhook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Erasure chooses events of a scope by what they are about.
type Erasure struct {
	Scope               string
	ChatIDs, MessageIDs []string  // any of these
	Before              time.Time // what came later stays; zero: nothing does
}

// erased is the error of a delivery that was pending when its event was erased.
const erased = "its content was erased"

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
// It reads all events, works in small transactions, and may be called again
// after an error or a crash.
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
	which := `account = $1 AND scope = $2 AND at_us <= $3 AND ` + in
	args = append([]any{a.id, scope, before}, args...)
	err := a.d.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM webhook_deferred WHERE id IN (SELECT id FROM webhook_deferred WHERE %s LIMIT %d)`, which, eraseChunk), args...)
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		var rows []eventRow
		err := a.d.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT number, id FROM webhook_event WHERE number > %d AND %s ORDER BY number LIMIT %d`,
			last, which, 40*eraseEvents), args...)
		if err != nil || len(rows) == 0 {
			return err
		}
		for part := range slices.Chunk(rows, eraseEvents) {
			if err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.eraseTx(ctx, tx, part) }); err != nil {
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
func (a *Account) eraseTx(ctx context.Context, tx *sqlx.Tx, rows []eventRow) error {
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

// erased says whether the content of the event was erased: no event begins
// without a body.
func (e *eventRow) erased() bool { return len(e.Body) == 0 }

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
			return slices.ContainsFunc(r.Headers, func(h Header) bool { return h.Key == headerID && gone[h.Value] })
		})
	}
}
