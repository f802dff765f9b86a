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
	scrubInterval = time.Minute      // between scrubs that were not requested, while rows are written
	scrubRest     = 10 * time.Minute // between them while no rows are written here: other processes may write
	scrubRetry    = time.Second      // after a scrub that readers prevented
	scrubWait     = 20               // milliseconds that writers wait for readers during a scrub
)

// Erased requests that [DB.RunScrub] removes deleted rows from SQLite's log as soon
// as readers allow it. It is for erasures that must be complete soon; other
// deletions are scrubbed within a minute.
func (d *DB) Erased() {
	select {
	case d.erased <- struct{}{}:
	default:
	}
}

// RunScrub scrubs SQLite's log at once, after each [DB.Erased] and every minute in
// which something was written, until ctx ends. On PostgreSQL it does nothing.
func (d *DB) RunScrub(ctx context.Context, log *slog.Logger) error {
	if d.Dialect != SQLite {
		<-ctx.Done()
		return nil
	}
	var last time.Time // of the last complete one
	var writes int64   // before it
	for {
		next, before := scrubInterval, d.dues.writes.Load()
		joined := time.Unix(0, d.dues.joined.Load())
		if before != writes || time.Since(last) >= scrubRest || time.Since(joined) < scrubRest {
			switch done, err := d.Scrub(ctx); {
			case err != nil:
				if ctx.Err() == nil {
					log.WarnContext(ctx, "removing deleted rows from the log of the database", slog.Any("error", err))
				}
			case done:
				last, writes = time.Now(), before
			default:
				next = scrubRetry
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.erased:
			writes = -1
		case <-time.After(next):
		}
	}
}

// Scrub moves SQLite's log into the database file and empties it, so that the log
// has no older versions of rows. It reports whether that was possible: a reader of
// an older state needs the log. Writers wait for at most 20 ms.
func (d *DB) Scrub(ctx context.Context) (done bool, err error) {
	if d.Dialect != SQLite {
		return true, nil
	}
	conn, err := d.Connx(ctx)
	if err != nil {
		return false, cause(ctx, err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	// Do most of the work first, while others can write.
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

// isBusy reports whether SQLite could not get a lock.
func isBusy(err error) bool {
	var lite interface{ Code() int }
	return errors.As(err, &lite) && lite.Code()&0xff == 5
}
