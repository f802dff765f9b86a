package webhook

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// Erasure chooses events of a scope by what they are about.
type Erasure struct {
	Scope               string
	ChatIDs, MessageIDs []string // any of these
}

// erased is the error of a delivery that was pending when its event was erased.
const erased = "its content was erased"

// eraseChunk is how many ids, and how many events, a statement names.
const eraseChunk = 500

// EraseTx erases the content of events when tx commits: their bodies and
// headers, the ids of the chats and messages that they are about, and what
// receivers answered. The log keeps when they were delivered, to which
// endpoint, and how that ended. What is pending fails without another attempt,
// and replays leave out what was erased. It reads all events of the scope.
func (a *Account) EraseTx(ctx context.Context, tx *sqlx.Tx, e Erasure) error {
	for _, by := range []struct {
		column string
		ids    []string
	}{{"chat_id", e.ChatIDs}, {"message_id", e.MessageIDs}} {
		for part := range slices.Chunk(by.ids, eraseChunk) {
			if err := a.eraseTx(ctx, tx, e.Scope, by.column, part); err != nil {
				return fmt.Errorf("erasing events: %w", err)
			}
		}
	}
	return nil
}

// eraseTx erases the events whose column has one of ids.
func (a *Account) eraseTx(ctx context.Context, tx *sqlx.Tx, scope, column string, ids []string) error {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	in, args := a.d.db.Dialect.In(column, 3, args)
	_, err := tx.ExecContext(ctx, `DELETE FROM webhook_held WHERE account = $1 AND scope = $2 AND `+in, append([]any{a.id, scope}, args...)...)
	if err != nil {
		return err
	}
	var rows []eventRow
	err = tx.SelectContext(ctx, &rows, `SELECT number, id FROM webhook_event WHERE account = $1 AND scope = $2 AND `+in+
		` ORDER BY number`, append([]any{a.id, scope}, args...)...)
	if err != nil {
		return err
	}
	var known []string
	for part := range slices.Chunk(rows, eraseChunk) {
		numbers := make([]int64, len(part))
		for i := range part {
			numbers[i] = part[i].Number
			known = append(known, part[i].ID)
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
	}
	a.d.opts.Echo.forget(scope, known)
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
	if kept := e.last[scope]; kept != nil {
		e.last[scope] = slices.DeleteFunc(kept, func(r Received) bool {
			return slices.ContainsFunc(r.Headers, func(h Header) bool { return h.Key == headerID && gone[h.Value] })
		})
	}
}
