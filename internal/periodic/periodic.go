// Package periodic repeats the chores of services: it deletes what is too old, or
// continues what another process left.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Run calls task at once, then after each interval and each value from changed,
// until ctx ends; changed may be nil. It logs the errors of task with message, and
// returns nil.
func Run(ctx context.Context, interval time.Duration, changed <-chan struct{}, log *slog.Logger, message string, task func(context.Context) error) error {
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
