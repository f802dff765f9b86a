package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// retryBackup is the time after which a backup that failed is tried again, unless
// backups are more frequent.
const retryBackup = 5 * time.Minute

// repeat calls backup whenever the newest backup there is as old as every, until ctx
// ends. It reports errors to w and tries again; only a [settingError] ends it.
func repeat(ctx context.Context, every time.Duration, there destination.Destination, backup func(context.Context) error, w io.Writer) error {
	for {
		wait, err := untilDue(ctx, every, there)
		if err == nil && wait <= 0 {
			started := time.Now()
			err = backup(ctx)
			wait = time.Until(started.Add(every))
		}
		if ctx.Err() != nil {
			return nil
		}
		if _, wrong := errors.AsType[*settingError](err); wrong {
			return err
		}
		if err != nil {
			wait = min(every, retryBackup)
			_, _ = fmt.Fprintf(w, "trunkline: %s: the backup failed, it is tried again in %s: %s\n", time.Now().UTC().Format(time.RFC3339), wait, oneLine(err.Error()))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// untilDue returns the time until the next backup. Backups of the future, which the
// clock of another machine named, do not count.
func untilDue(ctx context.Context, every time.Duration, there destination.Destination) (time.Duration, error) {
	names, err := there.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Backward(names) {
		if at, _ := destination.Time(name); !at.After(time.Now()) {
			return time.Until(at.Add(every)), nil
		}
	}
	return 0, nil
}
