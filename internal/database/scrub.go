package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	scrubInterval = time.Minute // between scrubs that nothing asked for
	scrubRetry    = time.Second // after one that readers kept from finishing
	scrubWait     = 20          // milliseconds that writers wait for readers meanwhile
)

// Erased asks [DB.RunScrub] to take what was just deleted out of SQLite's log,
// too, as soon as its readers let it. It is for erasures that someone relies
// on; everything else is scrubbed within a minute.
func (d *DB) Erased() {
	select {
	case d.erased <- struct{}{}:
	default:
	}
}

// RunScrub scrubs SQLite's log at once, whenever [DB.Erased] asks for it and
// every minute, until ctx ends. On PostgreSQL there is nothing to do: it cleans
// up by itself.
func (d *DB) RunScrub(ctx context.Context, log *slog.Logger) error {
	if d.Dialect != SQLite {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		next := scrubInterval
		done, err := d.Scrub(ctx)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "taking what was deleted out of the log of the database", slog.Any("error", err))
		} else if !done {
			next = scrubRetry
		}
		select {
		case <-ctx.Done():
		case <-d.erased:
		case <-time.After(next):
		}
	}
	return nil
}

// Scrub moves SQLite's log into the database file and empties it, so that no
// older version of a row stays in the log. It reports whether it could: a
// reader that looks at an older state needs the log. Writers wait for 20 ms at
// most.
func (d *DB) Scrub(ctx context.Context) (done bool, err error) {
	if d.Dialect != SQLite {
		return true, nil
	}
	conn, err := d.Connx(ctx)
	if err != nil {
		return false, cause(ctx, err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	// Most of the work first, while others write.
	if _, err := conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil && !isBusy(err) {
		return false, cause(ctx, fmt.Errorf("moving the log: %w", err))
	}
	var timeout int
	if err := conn.GetContext(ctx, &timeout, "PRAGMA busy_timeout"); err != nil {
		return false, cause(ctx, fmt.Errorf("reading pragma busy_timeout: %w", err))
	}
	err = d.Alone(ctx, func() error {
		always := context.WithoutCancel(ctx)
		if _, err := conn.ExecContext(always, fmt.Sprintf("PRAGMA busy_timeout(%d)", scrubWait)); err != nil {
			return err
		}
		var result struct {
			Busy         int `db:"busy"`
			Log          int `db:"log"`
			Checkpointed int `db:"checkpointed"`
		}
		err := conn.GetContext(always, &result, "PRAGMA wal_checkpoint(TRUNCATE)")
		_, restored := conn.ExecContext(always, fmt.Sprintf("PRAGMA busy_timeout(%d)", timeout))
		if isBusy(err) || errors.Is(err, sql.ErrNoRows) {
			return restored
		}
		done = err == nil && result.Busy == 0
		return errors.Join(err, restored)
	})
	if err != nil {
		return false, fmt.Errorf("emptying the log: %w", err)
	}
	return done, nil
}

// isBusy reports that SQLite did not get a lock.
func isBusy(err error) bool {
	var lite interface{ Code() int }
	return errors.As(err, &lite) && lite.Code()&0xff == 5
}
