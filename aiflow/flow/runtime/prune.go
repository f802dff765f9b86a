package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/periodic"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	pruneInterval = 10 * time.Minute
	// documentTTL is how long a document is kept that no run has: one may be
	// about to begin.
	documentTTL = 24 * time.Hour
)

// prune deletes what is older than the retention until ctx ends.
func (r *Runtime) prune(ctx context.Context) error {
	return periodic.Run(ctx, pruneInterval, nil, r.opts.Logger, "deleting old runs failed", r.Prune)
}

// Prune deletes the runs that ended before the retention, and documents that
// no run has. [Runtime.Run] does so by itself.
func (r *Runtime) Prune(ctx context.Context) error {
	now := r.opts.Now()
	if r.opts.Retention > 0 {
		before := database.Micros(now.Add(-r.opts.Retention))
		for n := runsAtOnce; n == runsAtOnce; {
			var err error
			if n, err = r.eraser.deleteRuns(ctx, `ended_us > 0 AND ended_us < $1`, before); err != nil {
				return fmt.Errorf("deleting runs from before %s: %w", database.Time(before).Format(time.RFC3339), err)
			}
		}
	}
	ttl := routeTTL
	if r.opts.Retention > 0 {
		ttl = min(ttl, r.opts.Retention)
	}
	if err := r.eraser.pruneRoutes(ctx, now.Add(-ttl)); err != nil {
		return err
	}
	return r.eraser.dropDocuments(ctx, now.Add(-documentTTL))
}

// dropDocuments deletes documents from before a time that no run has. A run
// that is about to begin stores its own again.
func (e *eraser) dropDocuments(ctx context.Context, before time.Time) error {
	err := e.inSteps(ctx, `DELETE FROM flow_document WHERE hash IN (SELECT d.hash FROM flow_document d WHERE d.created_us <= $1
		AND NOT EXISTS (SELECT 1 FROM flow_run r WHERE r.document = d.hash) LIMIT %d)`, database.Micros(before))
	if err != nil {
		return fmt.Errorf("deleting documents that no run has: %w", err)
	}
	return nil
}
