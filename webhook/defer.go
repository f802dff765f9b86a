package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Deferred is an event of which endpoints that include a part of it hear when that
// is known.
type Deferred struct {
	Event
	// Awaits names what the event waits for; it is the caller's to choose, and
	// one of its key. "": nothing, but it keeps its place behind others of its
	// key that wait.
	Awaits string
	Until  time.Time // when the event goes out without it
}

// deferredRow is an event that waits, or waits behind one.
type deferredRow struct {
	ID        int64
	Part      string
	EventID   string `db:"event_id"`
	AtUS      int64  `db:"at_us"`
	Account   string
	Scope     string
	Type      string
	Key       string `db:"order_key"`
	ChatID    string `db:"chat_id"`
	MessageID string `db:"message_id"`
	Headers   string
	Body      string
	Awaits    string
	UntilUS   int64 `db:"until_us"`

	Traceparent string
}

const deferredColumns = `part, event_id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body, awaits, until_us, traceparent`

var deferredTypes = []string{"TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT"}

// event is what goes out to endpoints that include the part.
func (r *deferredRow) event() Event {
	ev := Event{
		ID: r.EventID, Account: r.Account, Scope: r.Scope, Type: r.Type, Key: r.Key, Audience: r.Part, At: database.Time(r.AtUS),
		ChatID: r.ChatID, MessageID: r.MessageID, Body: []byte(r.Body), Traceparent: r.Traceparent,
	}
	if r.Headers != "" {
		_ = json.Unmarshal([]byte(r.Headers), &ev.Headers) // written by this package
	}
	return ev
}

// DeferTx publishes events as [Dispatcher.PublishTx] does, except to endpoints
// that include the part ("extracted"): these hear of an event that awaits
// something, and of what comes after it under its key, when [Dispatcher.ReleaseTx]
// brings what it awaits, or its time is over. Where no endpoint includes the
// part, and under keys where nothing waits, nothing is held.
func (d *Dispatcher) DeferTx(ctx context.Context, on Tx, part string, evs ...Deferred) error {
	tx, err := d.db.Join(on)
	if err != nil {
		return err
	}
	to, keys := make([]delivery.Address, len(evs)), make([]string, len(evs))
	for i := range evs {
		to[i].Owner, keys[i] = delivery.Owner{Account: evs[i].Account, Scope: evs[i].Scope}, evs[i].Key
	}
	endpoints, holds, err := d.router.ListenersOf(ctx, tx, to, keys)
	if err != nil {
		return fmt.Errorf("reading endpoints to hold events for: %w", err)
	}
	includes := func(o delivery.Owner) bool {
		return slices.ContainsFunc(endpoints[o], func(r delivery.Endpoint) bool { return delivery.InList(r.Include, part) })
	}
	now := make([]Event, len(evs))
	var values []any
	for i := range evs {
		if now[i], err = d.validate(evs[i].Event); err != nil {
			return fmt.Errorf("publishing a %q event: %w", now[i].Type, err)
		}
		ev, until := now[i], int64(0)
		if evs[i].Awaits != "" {
			until = database.Micros(evs[i].Until)
		}
		if ev.Audience != "" || until == 0 && !holds[ev.Key] || !includes(delivery.Owner{Account: ev.Account, Scope: ev.Scope}) {
			continue
		}
		holds[ev.Key] = true
		now[i].Audience = "!" + part
		values = append(values, part, ev.ID, database.Micros(ev.At), ev.Account, ev.Scope, ev.Type, ev.Key,
			ev.ChatID, ev.MessageID, ev.headers(), string(ev.Body), evs[i].Awaits, until, cmp.Or(ev.Traceparent, span.Of(ctx)))
	}
	if err := d.publishTo(ctx, tx, now, endpoints); err != nil {
		return err
	}
	if len(values) == 0 {
		return nil
	}
	if err := d.db.Insert(ctx, tx, `INSERT INTO webhook_deferred (`+deferredColumns+`)`, deferredTypes, values); err != nil {
		return fmt.Errorf("holding events: %w", err)
	}
	return nil
}

// HasDeferred says whether something is held under a key.
func (d *Dispatcher) HasDeferred(ctx context.Context, key string) (bool, error) {
	var is bool
	if err := d.db.GetContext(ctx, &is, `SELECT EXISTS (SELECT 1 FROM webhook_deferred WHERE order_key = $1)`, key); err != nil {
		return false, fmt.Errorf("looking for held events: %w", err)
	}
	return is, nil
}

// ReleaseTx brings what an event awaits: complete makes its body, and it goes
// out with all behind it up to the next that waits. An event that is not held,
// or has gone out without, stays as it is. Hold the lock of the key.
func (d *Dispatcher) ReleaseTx(ctx context.Context, on Tx, key, awaits string, complete func(body []byte) ([]byte, error)) error {
	tx, err := d.db.Join(on)
	if err != nil {
		return err
	}
	rows, err := d.deferredUnder(ctx, tx, key)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if r.Awaits != awaits {
			continue
		}
		body, err := complete([]byte(r.Body))
		if err != nil {
			return fmt.Errorf("completing an event: %w", err)
		}
		r.Body, r.Awaits, r.UntilUS = string(body), "", 0
		if _, err := tx.ExecContext(ctx, `UPDATE webhook_deferred SET body = $1, awaits = '', until_us = 0 WHERE id = $2`, r.Body, r.ID); err != nil {
			return fmt.Errorf("completing an event: %w", err)
		}
	}
	return d.publishDeferred(ctx, tx, rows)
}

// deferredUnder reads and locks what is held under a key.
func (d *Dispatcher) deferredUnder(ctx context.Context, tx *database.Tx, key string) ([]deferredRow, error) {
	lock := ""
	if d.db.Dialect == database.Postgres {
		lock = " FOR UPDATE"
	}
	var rows []deferredRow
	if err := tx.SelectContext(ctx, &rows, `SELECT id, `+deferredColumns+` FROM webhook_deferred WHERE order_key = $1 ORDER BY id`+lock, key); err != nil {
		return nil, fmt.Errorf("reading held events: %w", err)
	}
	return rows, nil
}

// publishDeferred publishes what of a key need not wait any more.
func (d *Dispatcher) publishDeferred(ctx context.Context, tx *database.Tx, rows []deferredRow) error {
	now := database.Micros(d.now())
	n := slices.IndexFunc(rows, func(r deferredRow) bool { return r.UntilUS > now })
	if n < 0 {
		n = len(rows)
	}
	if n == 0 {
		return nil
	}
	out := make([]Event, n)
	for i := range out {
		out[i] = rows[i].event()
	}
	if err := d.PublishTx(ctx, tx, out...); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_deferred WHERE order_key = $1 AND id <= $2`, rows[0].Key, rows[n-1].ID); err != nil {
		return fmt.Errorf("letting held events go: %w", err)
	}
	return nil
}

// releaseDue lets events go that have waited for long enough, until ctx ends.
func (d *Dispatcher) releaseDue(ctx context.Context) error {
	due := d.db.Due(ctx, "", func(first int, ahead time.Duration) (string, []any) {
		return fmt.Sprintf(`SELECT 1 FROM webhook_deferred h WHERE until_us <= $%d
			AND NOT EXISTS (SELECT 1 FROM webhook_deferred b WHERE b.order_key = h.order_key AND b.id < h.id AND b.until_us > $%[1]d)`, first),
			[]any{database.Micros(d.now().Add(ahead))}
	})
	for {
		more, err := d.releaseSome(ctx)
		if err != nil && ctx.Err() == nil {
			d.opts.Logger.WarnContext(ctx, "letting held events go failed", "error", err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-due:
		case <-ctx.Done():
			return nil
		}
	}
}

// releaseSome lets go what is due under some keys, and says whether there may
// be more.
func (d *Dispatcher) releaseSome(ctx context.Context) (more bool, err error) {
	const limit = 200
	var keys []string
	err = d.db.SelectContext(ctx, &keys, `SELECT DISTINCT order_key FROM webhook_deferred h WHERE until_us <= $1
		AND NOT EXISTS (SELECT 1 FROM webhook_deferred b WHERE b.order_key = h.order_key AND b.id < h.id AND b.until_us > $1)
		ORDER BY order_key LIMIT $2`, database.Micros(d.now()), limit)
	if err != nil {
		return false, fmt.Errorf("looking for held events: %w", err)
	}
	if len(keys) == 0 {
		return false, nil
	}
	err = d.db.InTx(ctx, func(tx *database.Tx) error {
		all := make([][]deferredRow, len(keys)) // locked before anything is published, as by all others
		for i, key := range keys {
			if all[i], err = d.deferredUnder(ctx, tx, key); err != nil {
				return err
			}
		}
		for _, rows := range all {
			if err := d.publishDeferred(ctx, tx, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return len(keys) == limit, nil
}

// dropDeferredTx sends an endpoint what is held for it, as it is, because it includes
// some parts no more: when these come, it is not asked.
func (d *Dispatcher) dropDeferredTx(ctx context.Context, tx *database.Tx, before *delivery.Endpoint, include string) error {
	for _, part := range delivery.Unlist(before.Include) {
		if delivery.InList(include, part) {
			continue
		}
		var rows []deferredRow
		err := tx.SelectContext(ctx, &rows, `SELECT id, `+deferredColumns+` FROM webhook_deferred WHERE account = $1 AND scope = $2 AND part = $3 ORDER BY id`,
			before.Account, before.Scope, part)
		if err != nil {
			return fmt.Errorf("reading held events: %w", err)
		}
		for i := range rows {
			ev := rows[i].event()
			if ev.Audience, ev.Endpoint = "", before.ID; !before.Enabled || !delivery.Asks(before.Events, ev.Type) {
				continue
			}
			if err := d.PublishTx(ctx, tx, ev); err != nil {
				return err
			}
		}
	}
	return nil
}
