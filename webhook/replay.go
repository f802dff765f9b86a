package webhook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Replay chooses deliveries that are over: by id, or those of an endpoint
// that ended in a span of time.
type Replay struct {
	IDs    []string // at most 200
	Scopes []string // of IDs, those of these scopes alone; nil: of all

	Endpoint     string
	Since, Until time.Time // by the time of their last attempt; zero: from the first, up to now
	State        string    // DeliveryDelivered, failed or dead; "": failed and dead
}

const replayChunk = 333

// Replay queues deliveries again, under the same webhook-id and sequence, and
// returns how many they are. They keep their order among each other, but do
// not wait for, nor hold back, newer events. What is pending, unknown, erased or
// no longer stored is left out. When the account knows none of them, or not the
// endpoint, it returns [ErrNotFound]. A disabled endpoint is an [*Invalid].
func (a *Account) Replay(ctx context.Context, r Replay) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	where, args, err := a.chosen(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("replaying deliveries: %w", err)
	}
	if err := a.replayable(ctx, r, where, args); err != nil {
		return 0, err
	}
	queued, err := a.replayAll(ctx, &r, where, args)
	if err != nil {
		return queued, fmt.Errorf("replaying deliveries: %w", err)
	}
	return queued, nil
}

// replayAll goes through the log once, chunk after chunk, up to where it ends
// now: what is replayed may be over again before the last chunk is.
func (a *Account) replayAll(ctx context.Context, r *Replay, where string, args []any) (int, error) {
	var last, end int64
	if err := a.d.db.GetContext(ctx, &end, `SELECT COALESCE(MAX(id), 0) FROM webhook_attempt`); err != nil {
		return 0, err
	}
	for queued := 0; ; {
		var rows []replayRow
		err := a.d.db.InTx(ctx, func(tx *database.Tx) (err error) {
			part := fmt.Sprintf(` AND t.id > %d AND t.id <= %d`, last, end)
			rows, err = a.replayTx(ctx, tx, where+part, args)
			if err == nil && queued == 0 && len(rows) > 0 {
				err = r.recordTx(ctx, tx)
			}
			return err
		})
		if err != nil || len(rows) == 0 {
			return queued, err
		}
		queued += len(rows)
		last = rows[len(rows)-1].ID
	}
}

func (r *Replay) check() error {
	switch {
	case len(r.IDs) > maxDeliveries:
		return invalid("ids", "are more than %d", maxDeliveries)
	case len(r.IDs) > 0:
		return nil
	case r.Endpoint == "":
		return invalid("endpoint", "is required without ids")
	case !slices.Contains([]string{"", DeliveryDelivered, DeliveryFailed, DeliveryDead}, r.State):
		return invalid("state", "must be one of %s, %s, %s", DeliveryDelivered, DeliveryFailed, DeliveryDead)
	case !r.Until.IsZero() && r.Until.Before(r.Since):
		return invalid("until", "is before since")
	}
	return nil
}

// chosen is the condition on webhook_attempt, as t; its parameters begin at $2. When
// there is none of it, pending or over, chosen returns [ErrNotFound].
func (a *Account) chosen(ctx context.Context, r Replay) (string, []any, error) {
	if len(r.IDs) > 0 {
		attempts, err := a.attemptsOf(ctx, r.IDs, r.Scopes)
		if err == nil && len(attempts) == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return "", nil, err
		}
		in, args := a.d.db.Dialect.InNumbers("t.id", 2, attempts)
		return `t.outcome <> '' AND ` + in, args, nil
	}
	if !isEventID(r.Endpoint) { // nor fit for a statement, perhaps
		return "", nil, ErrNotFound
	}
	if _, err := a.row(ctx, a.d.db, `id = $2`, []any{r.Endpoint}, ""); err != nil {
		return "", nil, err
	}
	until := r.Until
	if until.IsZero() {
		until = a.d.now()
	}
	return `t.outcome <> '' AND t.endpoint = $2 AND t.scope = (SELECT scope FROM webhook_endpoint WHERE id = $2) AND t.at_us >= $3 AND t.at_us <= $4
		AND (t.outcome = $5 OR $5 = '' AND t.outcome <> 'delivered')`,
		[]any{r.Endpoint, database.Micros(r.Since), database.Micros(until), r.State}, nil
}

// attemptsOf are the attempts of deliveries of the account.
func (a *Account) attemptsOf(ctx context.Context, ids, scopes []string) ([]int64, error) {
	var numbers []int64
	for _, id := range ids {
		if n, ok := delivery.NumberOf(id); ok {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	var rows []overRow
	in, args := a.d.db.Dialect.InNumbers("t.event", 2, numbers)
	args = append([]any{a.id}, args...)
	if scopes != nil {
		in += ` AND t.scope IN ` + a.d.db.Dialect.Values(1, len(scopes), len(args)+1)
		for _, scope := range scopes {
			args = append(args, scope)
		}
	}
	err := a.d.db.SelectContext(ctx, &rows, `SELECT `+overColumns+` FROM webhook_attempt t JOIN webhook_event e ON e.number = t.event
		WHERE e.account = $1 AND `+in, args...)
	if err != nil {
		return nil, fmt.Errorf("reading what to replay: %w", err)
	}
	var attempts []int64
	for i := range rows {
		if slices.Contains(ids, rows[i].DeliveryID(rows[i].Endpoint)) {
			attempts = append(attempts, rows[i].Attempt)
		}
	}
	return attempts, nil
}

// replayable refuses what would come back at once.
func (a *Account) replayable(ctx context.Context, r Replay, where string, args []any) error {
	var disabled int
	err := a.d.db.GetContext(ctx, &disabled, `SELECT count(*) FROM webhook_endpoint WHERE account = $1 AND NOT enabled
		AND id IN (SELECT t.endpoint FROM webhook_attempt t WHERE `+where+`)`, append([]any{a.id}, args...)...)
	if err != nil {
		return fmt.Errorf("reading what to replay: %w", err)
	}
	switch {
	case disabled > 0 && len(r.IDs) > 0:
		return invalid("ids", "are of an endpoint that is disabled: enable it first")
	case disabled > 0:
		return invalid("endpoint", "is disabled: enable it first")
	}
	return nil
}

type replayRow struct {
	ID, Seq, Event int64
	Endpoint       string
}

// replayTx takes the outcome from a chunk of deliveries, so that they are
// pending again, queues them, and returns them in their order.
func (a *Account) replayTx(ctx context.Context, tx *database.Tx, where string, args []any) ([]replayRow, error) {
	var rows []replayRow
	err := tx.SelectContext(ctx, &rows, `UPDATE webhook_attempt SET outcome = '' WHERE id IN (
			SELECT t.id FROM webhook_attempt t JOIN webhook_endpoint p ON p.id = t.endpoint JOIN webhook_event e ON e.number = t.event
			WHERE p.account = $1 AND e.body <> '' AND `+where+` ORDER BY t.id LIMIT `+fmt.Sprint(replayChunk)+`)
		AND outcome <> '' RETURNING id, seq, endpoint, event`, append([]any{a.id}, args...)...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	slices.SortFunc(rows, func(x, y replayRow) int { return cmp.Compare(x.ID, y.ID) })
	keys, err := a.d.orderKeys(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	entries := make([]queue.JobArgs, len(rows))
	for i, r := range rows {
		entries[i] = queue.JobArgs{Subscriber: r.Endpoint, Key: replayKey(keys[r.Event]), Subject: delivery.ReplaySubject(r.Event, r.Seq)}
	}
	return rows, a.d.queue.PutTx(ctx, tx, entries...)
}

// replayKey keeps the order of the replays of a key.
func replayKey(key string) string { return "replay " + key }

// orderKeys are the keys of the events of rows, by their numbers.
func (d *Dispatcher) orderKeys(ctx context.Context, tx *database.Tx, rows []replayRow) (map[int64]string, error) {
	numbers := make([]int64, len(rows))
	for i, r := range rows {
		numbers[i] = r.Event
	}
	var keys []struct {
		Number int64
		Key    string `db:"order_key"`
	}
	in, args := d.db.Dialect.InNumbers("number", 1, numbers)
	err := tx.SelectContext(ctx, &keys, `SELECT number, order_key FROM webhook_event WHERE `+in, args...)
	byNumber := map[int64]string{}
	for _, k := range keys {
		byNumber[k.Number] = k.Key
	}
	return byNumber, err
}
