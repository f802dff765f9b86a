package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Tx is a transaction of the caller on the database of this package: a [*sql.Tx],
// a [*sqlx.Tx], or what another library builds on them. What a method that ends in
// Tx writes takes effect when it commits.
type Tx = database.Executor

// Event is what endpoints are told.
type Event struct {
	// ID is the webhook-id: the same in every attempt, so that a receiver
	// knows a repeat. At most 64 of A-Z a-z 0-9 - _; "": a new UUIDv7. What is
	// published again under an id is delivered again.
	ID string
	// Account and Scope say whose endpoints get the event.
	Account, Scope string
	// Type is one of [Options].Types, or, if there is no list, words of lower-case letters,
	// digits, - and _ with dots between them, like order.created; at most 64 characters.
	Type string
	// Key is what keeps its order: events of one key reach an endpoint in the
	// order of their commits. Hold a lock on what the key names while
	// publishing, or that order is chance.
	Key string
	// Audience limits the event to endpoints by what they include: "extracted"
	// to those that include it, "!extracted" to those that do not; "": all.
	Audience string
	// Endpoint is the id of the one endpoint of the scope that gets the event,
	// whatever types it asks for; "": all that want it.
	Endpoint string
	// At is when it happened; zero: now.
	At time.Time
	// ChatID and MessageID are for the delivery log.
	ChatID, MessageID string
	// Headers are sent with the endpoint's own, and win over them.
	Headers map[string]string
	// Traceparent is the W3C traceparent of what the event follows from, for
	// [Options].Trace; "": that of a trace of these packages in the context, or
	// none.
	Traceparent string
	// Body is sent byte for byte. It must be UTF-8 without NUL, and not empty.
	Body []byte
}

// PublishTx stores events in the caller's transaction; each is delivered to
// the endpoints that match it once the transaction has committed. An
// endpoint hears of what is published after it was made: events of a scope that
// has none are not stored.
func (d *Dispatcher) PublishTx(ctx context.Context, on Tx, evs ...Event) error {
	tx, err := d.db.Join(on)
	if err != nil {
		return err
	}
	whole, ids := make([]Event, len(evs)), make(map[string]bool, len(evs))
	to := make([]delivery.Address, len(evs))
	for i := range evs {
		ev, err := d.validate(evs[i])
		if err != nil {
			return fmt.Errorf("publishing a %q event: %w", ev.Type, err)
		}
		if ids[ev.ID] {
			return errors.New("webhook: two events have the same Event.ID")
		}
		whole[i], ids[ev.ID], to[i] = ev, true, ev.address()
	}
	endpoints, err := d.router.Listeners(ctx, tx, to)
	if err != nil {
		return fmt.Errorf("reading who listens to events: %w", err)
	}
	return d.publishTo(ctx, tx, whole, endpoints)
}

// publishTo stores the events that some endpoints want, and queues them for these.
func (d *Dispatcher) publishTo(ctx context.Context, tx *database.Tx, evs []Event, endpoints map[delivery.Owner][]delivery.Endpoint) error {
	wanted := make([]Event, 0, len(evs))
	recipients := map[string][]string{} // by event
	for i := range evs {
		ids := d.router.Recipients(delivery.Addressed{Address: evs[i].address(), Body: evs[i].Body}, endpoints)
		if len(ids) > 0 {
			wanted = append(wanted, evs[i])
			recipients[evs[i].ID] = ids
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	numbers, err := d.storeTx(ctx, tx, wanted)
	if err != nil {
		return fmt.Errorf("storing events: %w", err)
	}
	var jobs []queue.JobArgs
	for i := range wanted {
		ev := &wanted[i]
		for _, endpoint := range recipients[ev.ID] {
			jobs = append(jobs, queue.JobArgs{
				Subscriber: endpoint, Key: ev.Key, Subject: delivery.Subject(numbers[ev.ID]), Traceparent: ev.Traceparent,
			})
		}
	}
	if err := d.queue.PutTx(ctx, tx, jobs...); err != nil {
		return fmt.Errorf("queueing events: %w", err)
	}
	return nil
}

// storeTx stores events and returns their numbers by their ids.
func (d *Dispatcher) storeTx(ctx context.Context, tx *database.Tx, evs []Event) (map[string]int64, error) {
	values := make([]any, 0, len(evs)*len(eventTypes))
	for i := range evs {
		values = append(values, evs[i].row()...)
	}
	rows, err := database.SelectRows[delivery.Event](ctx, d.db, tx, database.Rows{
		Before: insertEvents + ` `, After: ` RETURNING number, id`, Types: eventTypes, Values: values,
	})
	stored := make(map[string]int64, len(rows))
	for _, r := range rows {
		stored[r.ID] = r.Number
	}
	return stored, err
}

const (
	storedColumns = `id, at_us, account, scope, type, order_key, chat_id, message_id, headers, body`
	insertEvents  = `INSERT INTO webhook_event (` + storedColumns + `)`
)

var eventTypes = []string{"TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT"}

func (e *Event) row() []any {
	return []any{
		e.ID, database.Micros(e.At), e.Account, e.Scope, e.Type, e.Key,
		e.ChatID, e.MessageID, e.headers(), string(e.Body),
	}
}

// headers is the column of that name: a JSON object, or "".
func (e *Event) headers() string {
	if len(e.Headers) == 0 {
		return ""
	}
	b, _ := json.Marshal(e.Headers) // strings cannot fail
	return string(b)
}

// validate fills what the caller left out, and refuses what could never be
// delivered.
func (d *Dispatcher) validate(e Event) (Event, error) {
	if e.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return e, fmt.Errorf("making an id: %w", err)
		}
		e.ID = id.String()
	}
	if e.At.IsZero() {
		e.At = d.now()
	}
	if !isEventID(e.ID) {
		return e, errors.New("webhook: Event.ID must be at most 64 letters, digits, - and _")
	}
	if name, ok := types(d.opts.Types).find(e.Type); !ok || name != e.Type {
		return e, fmt.Errorf("webhook: Event.Type %s", types(d.opts.Types).why())
	}
	if e.Endpoint != "" {
		if e.Audience != "" || !isEventID(e.Endpoint) {
			return e, errors.New("webhook: Event.Endpoint must be the id of an endpoint, without an Audience")
		}
		e.Audience = delivery.OnlyEndpoint + e.Endpoint
	}
	if len(e.Body) == 0 {
		return e, errors.New("webhook: Event.Body must not be empty")
	}
	if !utf8.Valid(e.Body) || bytes.IndexByte(e.Body, 0) >= 0 {
		return e, errors.New("webhook: Event.Body must be UTF-8 without NUL")
	}
	e.Traceparent = span.Fit(e.Traceparent)
	for k, v := range e.Headers {
		if !isToken(k) || !isHeaderValue(v) {
			return e, errors.New("webhook: Event.Headers has a malformed name or value")
		}
	}
	return e, nil
}

func isEventID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

// address says which endpoints get the event.
func (e *Event) address() delivery.Address {
	return delivery.Address{Owner: delivery.Owner{Account: e.Account, Scope: e.Scope}, Type: e.Type, Audience: e.Audience}
}

// loaded is the event as [delivery.Sender.Load] reads it.
func (e *Event) loaded() *delivery.Event {
	row := &delivery.Event{
		ID: e.ID, At: database.Micros(e.At), Type: e.Type,
		ChatID: e.ChatID, MessageID: e.MessageID, Headers: e.headers(), Body: string(e.Body),
	}
	row.Extra = row.ExtraHeaders()
	return row
}

// Publish is [Dispatcher.PublishTx] in a transaction of its own: once it has
// returned nil the events are durable, all of them, and on their way.
func (d *Dispatcher) Publish(ctx context.Context, evs ...Event) error {
	return d.db.InTx(ctx, func(tx *database.Tx) error { return d.PublishTx(ctx, tx, evs...) })
}

// MergedTx makes keys of a scope one with another key: the events under each keep
// their order, and all of them go out before what is published under any of these
// keys later, which goes out under key. Events that are held go out in the order
// in which they happened. Replays under these keys keep their order among each
// other. The sequence of what comes later is above those of all keys.
//
// A key belongs to one scope here. Hold the locks of the keys.
func (d *Dispatcher) MergedTx(ctx context.Context, on Tx, scope, key string, merged []string) error {
	tx, err := d.db.Join(on)
	if err != nil {
		return err
	}
	keys := make([]any, len(merged))
	for i, k := range merged {
		keys[i] = k
	}
	endpoints, err := d.router.OfScope(ctx, tx, scope)
	if err != nil {
		return err
	}
	var jobs []queue.JobArgs
	for _, k := range merged {
		for _, endpoint := range endpoints {
			jobs = append(jobs, queue.JobArgs{Subscriber: endpoint, Key: key, Merged: k},
				queue.JobArgs{Subscriber: endpoint, Key: replayKey(key), Merged: replayKey(k)})
		}
	}
	// First the deferred events: this waits for a transaction that releases
	// some of them, which are queued then before the keys are one.
	in, args := d.db.Dialect.In("order_key", 2, keys)
	if _, err := tx.ExecContext(ctx, `UPDATE webhook_deferred SET order_key = $1 WHERE `+in, append([]any{key}, args...)...); err != nil {
		return fmt.Errorf("moving held events: %w", err)
	}
	if err := d.queue.PutTx(ctx, tx, jobs...); err != nil {
		return fmt.Errorf("merging the order of events: %w", err)
	}
	return nil
}
