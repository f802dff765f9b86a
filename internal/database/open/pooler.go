package open

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// isPooled reports whether db, which was opened with dsn, leads to a pooler that gives
// each transaction another connection to PostgreSQL. Prepared statements and notifications
// belong to a connection: with such a pooler a statement could be another one.
func isPooled(ctx context.Context, db *sqlx.DB, dsn string) (bool, error) {
	seen, err := seesOthers(ctx, db)
	if err != nil || seen {
		return seen, err
	}
	// Among others, a client may have had the same connection by chance. A notification
	// for a client that asks nothing never arrives through such a pooler.
	switch err := checkListener(ctx, db, dsn); {
	case errors.Is(err, ErrListener):
		return true, nil
	case errors.Is(err, errListening): // no other connection is to be had, which proves nothing
		return false, nil
	default:
		return false, err
	}
}

// seesOthers reports whether a connection of db is seen to have several processes of
// PostgreSQL behind it, or one that it shares.
func seesOthers(ctx context.Context, db *sqlx.DB) (bool, error) {
	first, err := db.Connx(ctx)
	if err != nil {
		return false, err
	}
	defer first.Close() //nolint:errcheck // it only goes back
	var known int64
	for i := range 4 {
		pid, err := backend(ctx, first)
		if err != nil {
			return false, err
		}
		if i > 0 && pid != known {
			return true, nil
		}
		known = pid
	}
	second, err := db.Connx(ctx)
	if err != nil {
		return false, err
	}
	defer second.Close() //nolint:errcheck // likewise
	pid, err := backend(ctx, second)
	return err == nil && pid == known, err
}

// canBegin reports an error if no transaction can begin although statements are answered,
// as with pool_mode=statement. PgBouncer then ends the connection.
func canBegin(ctx context.Context, db *sqlx.DB) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err == nil {
		return tx.Rollback()
	}
	if _, away := backend(ctx, db); away != nil {
		return err
	}
	return errors.New("the pooler refuses transactions (pool_mode=statement)")
}

// backend returns the process of PostgreSQL that answers.
func backend(ctx context.Context, db sqlx.QueryerContext) (pid int64, err error) {
	err = sqlx.GetContext(ctx, db, &pid, `SELECT pg_backend_pid()`)
	return pid, err
}

// errListening is that a connection for notifications cannot be opened.
var errListening = errors.New("listening")

// checkListener checks that what is notified through db arrives at the address for
// notifications: a pooler, or another database, would lose it silently. It returns
// [ErrListener] after several that db has taken, and not because it was waited for db.
func checkListener(ctx context.Context, db *sqlx.DB, dsn string) error {
	var last atomic.Pointer[error]
	l := pq.NewDialListener(&dialer{subscribed: true}, dsn, 100*time.Millisecond, time.Second, func(_ pq.ListenerEventType, err error) {
		if err != nil {
			last.Store(&err)
		}
	})
	defer l.Close()                                                //nolint:errcheck // it was only read
	stop := time.AfterFunc(listenWithin, func() { _ = l.Close() }) // Listen waits without a limit
	channel := "trunkline_" + rand.Text()
	err := l.Listen(channel)
	if !stop.Stop() && err == nil {
		err = context.DeadlineExceeded
	}
	if err != nil {
		if why := last.Load(); why != nil {
			err = *why
		}
		return fmt.Errorf("%w: %w", errListening, err)
	}
	for range notifications {
		if err := notify(ctx, db, channel); err != nil {
			return err
		}
		again := time.NewTimer(listenWithin / notifications)
		select {
		case n := <-l.Notify:
			again.Stop()
			if n != nil { // else the connection is another
				return nil
			}
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return ErrListener
}

// notifications are sent one after the other, the next when none has arrived.
const notifications = 5

func notify(ctx context.Context, db *sqlx.DB, channel string) error {
	ctx, cancel := context.WithTimeout(ctx, listenWithin)
	defer cancel()
	if _, err := db.ExecContext(ctx, `SELECT pg_notify($1, '')`, channel); err != nil {
		return fmt.Errorf("notifying: %w", err)
	}
	return nil
}
