package webhook

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// Publish is [Dispatcher.PublishTx] in a transaction of its own: once it has
// returned nil the events are durable, all of them, and on their way.
func (d *Dispatcher) Publish(ctx context.Context, evs ...Event) error {
	err := d.db.InTx(ctx, func(tx *sqlx.Tx) error { return d.PublishTx(ctx, tx, evs...) })
	if err != nil {
		return err
	}
	d.Committed()
	return nil
}
