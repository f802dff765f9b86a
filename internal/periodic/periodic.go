// Package periodic repeats the chores of services: it deletes what is too old, or
// continues what another process left.
package periodic

import (
	"context"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// restAfter is how long after the last write a database is at rest.
	restAfter = 3 * time.Minute
	// restFactor is how many intervals RunActive lets pass at rest.
	restFactor = 10
)

// RunActive is like [Run] for a chore that follows what is written to db. While
// nothing is, it calls task only after every tenth interval: rows also get old.
func RunActive(ctx context.Context, db *database.DB, interval time.Duration, changed <-chan struct{}, log *slog.Logger, message string,
	task func(context.Context) error,
) error {
	var last time.Time
	return Run(ctx, interval, changed, log, message, func(ctx context.Context) error {
		now := time.Now()
		if now.Sub(db.LastActive()) >= restAfter && now.Sub(last) < restFactor*interval {
			return nil
		}
		last = now
		return task(ctx)
	})
}

// Run calls task at once, then after each interval and each value from changed,
// until ctx ends; changed may be nil. It logs the errors of task with message, and
// returns nil. What task writes makes nothing due: see [database.Routine].
func Run(ctx context.Context, interval time.Duration, changed <-chan struct{}, log *slog.Logger, message string, task func(context.Context) error) error {
	ctx = database.Chore(database.Routine(ctx))
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := task(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, message, slog.Any("error", err)) //nolint:sloglint // a constant of the caller
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
