package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

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
	tick := time.NewTicker(pruneInterval)
	defer tick.Stop()
	for {
		if err := d.pruneAll(ctx); err != nil && ctx.Err() == nil {
			d.opts.Logger.WarnContext(ctx, "deleting old deliveries failed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
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
