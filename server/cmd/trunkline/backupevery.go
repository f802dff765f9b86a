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

// repeated makes backups until it is stopped.
type repeated struct {
	every  time.Duration
	open   func(context.Context) (destination.Destination, error)
	backup func(context.Context, destination.Destination) error
	log    io.Writer

	there destination.Destination // nil until open has succeeded
}

// run makes a backup whenever the newest one there is as old as every, until ctx ends.
// It reports errors and tries again; only a [settingError] ends it.
func (r *repeated) run(ctx context.Context) error {
	for {
		wait, err := r.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if _, wrong := errors.AsType[*settingError](err); wrong {
			return err
		}
		if err != nil {
			wait = min(r.every, retryBackup)
			_, _ = fmt.Fprintf(r.log, "trunkline: %s: the backup failed, it is tried again in %s: %s\n", time.Now().UTC().Format(time.RFC3339), wait, oneLine(err.Error()))
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

// next makes a backup if one is due, and returns the time until the next one.
func (r *repeated) next(ctx context.Context) (wait time.Duration, err error) {
	if r.there == nil {
		if r.there, err = r.open(ctx); err != nil {
			return 0, err
		}
	}
	if wait, err = r.untilDue(ctx); err != nil || wait > 0 {
		return wait, err
	}
	started := time.Now()
	err = r.backup(ctx, r.there)
	return time.Until(started.Add(r.every)), err
}

// untilDue returns the time until the next backup. Backups of the future, which the
// clock of another machine named, do not count.
func (r *repeated) untilDue(ctx context.Context) (time.Duration, error) {
	names, err := r.there.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Backward(names) {
		if at, _ := destination.Time(name); !at.After(time.Now()) {
			return time.Until(at.Add(r.every)), nil
		}
	}
	return 0, nil
}
