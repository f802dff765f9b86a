package webhook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/lane"
)

// Replay chooses deliveries that are over: by id, or those of an endpoint
// that ended in a span of time.
type Replay struct {
	IDs []string // at most 200

	Endpoint     string
	Since, Until time.Time // by the time of their last attempt; zero: from the first, up to now
	State        string    // delivered, failed or dead; "": failed and dead
}

const replayChunk = 500

// Replay queues deliveries again, under the same webhook-id and sequence, and
// returns how many they are. They keep their order among each other, but do
// not wait for, nor hold back, newer events. What is pending, unknown or no
// longer stored is left out. When the account knows none of them, or not the
// endpoint, it returns [ErrNotFound]. A disabled endpoint is an [*Invalid].
func (a *Account) Replay(ctx context.Context, r Replay) (int, error) {
	r.legible()
	where, args, err := r.where(a.d)
	if err != nil {
		return 0, err
	}
	if err := a.known(ctx, r); err != nil {
		return 0, err
	}
	if err := a.replayable(ctx, r, where, args); err != nil {
		return 0, err
	}
	queued := 0
	for {
		n := 0
		err := a.d.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
			n, err = a.replayTx(ctx, tx, where, args)
			return err
		})
		if err != nil {
			return queued, fmt.Errorf("replaying deliveries: %w", err)
		}
		a.d.Committed()
		queued += n
		if n < replayChunk {
			return queued, nil
		}
	}
}

// legible replaces what can be no id by one that nobody has: it might be
// unfit for a statement.
func (r *Replay) legible() {
	const nobody = "-"
	r.IDs = slices.Clone(r.IDs)
	for i, id := range r.IDs {
		if !isEventID(id) {
			r.IDs[i] = nobody
		}
	}
	if r.Endpoint != "" && !isEventID(r.Endpoint) {
		r.Endpoint = nobody
	}
}

// where is the condition on webhook_attempt; its parameters begin at $2.
func (r *Replay) where(d *Dispatcher) (string, []any, error) {
	switch {
	case len(r.IDs) > maxDeliveries:
		return "", nil, invalid("ids", "are more than %d", maxDeliveries)
	case len(r.IDs) > 0:
		args := make([]any, len(r.IDs))
		for i, id := range r.IDs {
			args[i] = id
		}
		return `outcome <> '' AND delivery IN ` + d.db.Dialect.Values(1, len(args), 2), args, nil
	case r.Endpoint == "":
		return "", nil, invalid("endpoint", "is missing, and so are ids")
	case !slices.Contains([]string{"", delivered, failed, dead}, r.State):
		return "", nil, invalid("state", "must be one of %s, %s, %s", delivered, failed, dead)
	}
	if !r.Until.IsZero() && r.Until.Before(r.Since) {
		return "", nil, invalid("until", "is before since")
	}
	until := r.Until
	if until.IsZero() {
		until = d.now()
	}
	return `outcome <> '' AND endpoint = $2 AND scope IN (SELECT scope FROM webhook_endpoint WHERE id = $2) AND at_us >= $3 AND at_us <= $4
		AND (outcome = $5 OR $5 = '' AND outcome <> 'delivered')`,
		[]any{r.Endpoint, database.Micros(r.Since), database.Micros(until), r.State}, nil
}

// known says whether there is what is to be replayed, pending or over.
func (a *Account) known(ctx context.Context, r Replay) error {
	query, args := `SELECT count(*) FROM webhook_endpoint WHERE account = $1 AND id = $2`, []any{a.id, r.Endpoint}
	if len(r.IDs) > 0 {
		query = `SELECT count(*) FROM webhook_attempt WHERE account = $1 AND delivery IN ` + a.d.db.Dialect.Values(1, len(r.IDs), 2)
		args = args[:1]
		for _, id := range r.IDs {
			args = append(args, id)
		}
	}
	var n int
	if err := a.d.db.GetContext(ctx, &n, query, args...); err != nil {
		return fmt.Errorf("reading what to replay: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("replaying deliveries: %w", ErrNotFound)
	}
	return nil
}

// replayable refuses what would come back at once.
func (a *Account) replayable(ctx context.Context, r Replay, where string, args []any) error {
	var disabled int
	err := a.d.db.GetContext(ctx, &disabled, `SELECT count(*) FROM webhook_endpoint WHERE account = $1 AND NOT enabled
		AND id IN (SELECT endpoint FROM webhook_attempt WHERE `+where+`)`, append([]any{a.id}, args...)...)
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
	ID, Seq         int64
	Endpoint, Event string
}

// replayTx takes the outcome from a chunk of deliveries, so that they are
// pending again, and queues them.
func (a *Account) replayTx(ctx context.Context, tx *sqlx.Tx, where string, args []any) (int, error) {
	var rows []replayRow
	err := tx.SelectContext(ctx, &rows, `UPDATE webhook_attempt SET outcome = '' WHERE id IN (
			SELECT t.id FROM webhook_attempt t JOIN webhook_endpoint p ON p.id = t.endpoint JOIN webhook_event e ON e.id = t.event
			WHERE p.account = $1 AND t.id IN (SELECT id FROM webhook_attempt WHERE `+where+`) ORDER BY t.id LIMIT `+fmt.Sprint(replayChunk)+`)
		AND outcome <> '' RETURNING id, seq, endpoint, event`, append([]any{a.id}, args...)...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	slices.SortFunc(rows, func(x, y replayRow) int { return cmp.Compare(x.ID, y.ID) })
	keys, err := a.d.orderKeys(ctx, tx, rows)
	if err != nil {
		return 0, err
	}
	entries := make([]lane.Entry, len(rows))
	for i, r := range rows {
		entries[i] = lane.Entry{Consumer: r.Endpoint, Key: "replay " + keys[r.Event], Subject: subject(r.Event, r.Seq)}
	}
	return len(rows), a.d.queue.PutTx(ctx, tx, entries...)
}

// orderKeys are the keys of the events of rows.
func (d *Dispatcher) orderKeys(ctx context.Context, tx *sqlx.Tx, rows []replayRow) (map[string]string, error) {
	ids := map[string]bool{}
	for _, r := range rows {
		ids[r.Event] = true
	}
	var keys []struct {
		ID  string
		Key string `db:"order_key"`
	}
	err := tx.SelectContext(ctx, &keys, `SELECT id, order_key FROM webhook_event WHERE id IN `+d.among(len(ids)), keysOf(ids)...)
	byID := map[string]string{}
	for _, k := range keys {
		byID[k.ID] = k.Key
	}
	return byID, err
}
