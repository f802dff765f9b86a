package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/queue"
)

// MergedTx makes keys of a scope one with another key: the events under each keep
// their order, and all of them go out before what is published under any of these
// keys later, which goes out under key. Events that are held go out in the order
// in which they happened. Replays under these keys keep their order among each
// other. The X-Trunkline-Sequence of what comes later is above those of all keys.
//
// A key belongs to one scope here. Hold the locks of the keys, and call
// [Dispatcher.Committed] after the commit.
func (d *Dispatcher) MergedTx(ctx context.Context, tx *sqlx.Tx, scope, key string, merged []string) error {
	keys := make([]any, len(merged))
	entries := make([]queue.JobArgs, 0, 2*len(merged))
	ev := Event{Scope: scope}
	note := ev.note()
	for i, k := range merged {
		keys[i] = k
		entries = append(entries, queue.JobArgs{Key: key, Merged: k, Metadata: note},
			queue.JobArgs{Key: replayKey(key), Merged: replayKey(k), Metadata: note})
	}
	// First what is held: who lets some of it go now is waited for, and it is
	// queued before the keys are one.
	in, args := d.db.Dialect.In("order_key", 2, keys)
	if _, err := tx.ExecContext(ctx, `UPDATE webhook_deferred SET order_key = $1 WHERE `+in, append([]any{key}, args...)...); err != nil {
		return fmt.Errorf("moving held events: %w", err)
	}
	if err := d.queue.PutTx(ctx, tx, entries...); err != nil {
		return fmt.Errorf("merging the order of events: %w", err)
	}
	d.queuedNow()
	return nil
}

// mergeRoutes are the endpoints that may have deliveries of the keys of merges,
// disabled ones among them, by their scopes.
func (d *Dispatcher) mergeRoutes(ctx context.Context, tx *sqlx.Tx, es []queue.JobArgs, addresses []address) (map[string][]string, error) {
	var scopes []any
	byScope := map[string][]string{}
	for i, e := range es {
		if _, known := byScope[addresses[i].Scope]; e.Merged != "" && !known {
			byScope[addresses[i].Scope] = nil
			scopes = append(scopes, addresses[i].Scope)
		}
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	var rows []endpointRow
	in, args := d.db.Dialect.In("scope", 1, scopes)
	if err := tx.SelectContext(ctx, &rows, `SELECT id, scope FROM webhook_endpoint WHERE `+in+` ORDER BY id`, args...); err != nil {
		return nil, fmt.Errorf("reading endpoints of merged keys: %w", err)
	}
	for _, r := range rows {
		byScope[r.Scope] = append(byScope[r.Scope], r.ID)
	}
	return byScope, nil
}
