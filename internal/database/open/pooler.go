package open

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// isPooled reports whether db leads to a pooler that gives each transaction another
// connection to PostgreSQL. Prepared statements and notifications belong to a connection:
// with such a pooler a statement could be another one.
//
// A client of such a pooler has one connection after another, if there are several; if
// there is one, or the last one is used first, two clients have the same.
func isPooled(ctx context.Context, db *sqlx.DB) (pooled bool, err error) {
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
	defer second.Close()                                              //nolint:errcheck // likewise
	if pid, err := backend(ctx, second); err != nil || pid == known { // also where no transaction can begin
		return err == nil, err
	}
	tx, err := second.BeginTxx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() {
		if undo := tx.Rollback(); !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
	}()
	pid, err := backend(ctx, tx)
	if err != nil || pid == known {
		return pid == known, err
	}
	pid, err = backend(ctx, first)
	return pid != known, err
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

// checkListener checks that what is notified through db arrives at the address for
// notifications: a pooler, or another database, would lose it silently.
func checkListener(ctx context.Context, db *sqlx.DB, dsn string) error {
	var last atomic.Pointer[error]
	l := pq.NewDialListener(&dialer{subscribed: true}, dsn, 100*time.Millisecond, time.Second, func(_ pq.ListenerEventType, err error) {
		if err != nil {
			last.Store(&err)
		}
	})
	defer l.Close() //nolint:errcheck // it was only read
	ctx, cancel := context.WithTimeout(ctx, listenWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // Listen waits without a limit
	defer stop()
	channel := "trunkline_" + rand.Text()
	err := l.Listen(channel)
	if err == nil {
		_, err = db.ExecContext(ctx, `SELECT pg_notify($1, '')`, channel)
	}
	if err == nil {
		err = l.Ping() // PostgreSQL answers it after the notification
	}
	if err != nil {
		if why := last.Load(); why != nil {
			err = *why
		}
		return fmt.Errorf("listening: %w", err)
	}
	select {
	case <-l.Notify:
		return nil
	case <-ctx.Done():
		return ErrListener
	}
}
