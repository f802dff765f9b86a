package clockstep

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate upgrades the table of this package to the newest version.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	return database.Migrate(ctx, db, "clock", migrations)
}

const (
	// tolerance is the greatest step back that is ignored: what waits does so for as
	// much longer.
	tolerance = 2 * time.Second
	// markInterval is how often the time is noted while something is written.
	markInterval = 5 * time.Second
	// quietInterval is how often it is noted in PostgreSQL while nothing is. A process
	// that has SQLite sees by itself that the clock was set.
	quietInterval = time.Minute
)

// Step is a step back of the database's clock.
type Step struct {
	From int64 // the latest time that it has shown before, in microseconds
	To   int64 // the time now
}

// By returns how far the clock was set back.
func (s Step) By() time.Duration { return time.Duration(s.From-s.To) * time.Microsecond }

// Mend moves what waits with the clock, in the transaction of all of them. The order of
// their names is the order in which they lock rows.
type Mend func(ctx context.Context, tx *database.Tx, s Step) error

// Column returns a Mend for a column of times, in microseconds, until which rows wait.
// Where is a condition on the rows, "" for all.
func Column(table, column, where string) Mend {
	return func(ctx context.Context, tx *database.Tx, s Step) error {
		_, err := tx.ExecContext(ctx, s.Update(table, column, where))
		return err
	}
}

// All returns a Mend that does several things, one after the other.
func All(mends ...Mend) Mend {
	return func(ctx context.Context, tx *database.Tx, s Step) error {
		for _, mend := range mends {
			if err := mend(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// Update returns a statement that moves a column of times with the clock. What was to
// continue by now does so, and what was to wait longer has as long to wait as before.
func (s Step) Update(table, column, where string) string {
	if where != "" {
		where = " AND " + where
	}
	return strings.NewReplacer("{table}", table, "{column}", column, "{where}", where, "{from}", fmt.Sprint(s.From), "{to}", fmt.Sprint(s.To)).
		Replace(`UPDATE {table} SET {column} = CASE WHEN {column} <= {from} THEN {to} ELSE {column} - ({from} - {to}) END WHERE {column} > {to}{where}`)
}

// watcher looks after the clock of one database for all services of the process.
type watcher struct {
	db    *database.DB
	steps atomic.Int64
	clock clock
	local local // of SQLite

	mu      sync.Mutex
	mends   []named // by name
	alone   []named // likewise, of [RegisterAlone]
	watches int
	stop    context.CancelFunc // of the loop
}

type named struct {
	name string
	mend Mend
}

type watcherKey struct{}

func watcherOf(db *database.DB) *watcher {
	return db.Value(watcherKey{}, func() any { return &watcher{db: db} }).(*watcher)
}

// Register has mend called when the clock of db was set back, while something calls
// [Watch]. The name is that of what waits: all that wait under one name are moved by
// one mend, the first. Services register when they are made, so that all are known
// before the first of them runs.
func Register(db *database.DB, name string, mend Mend) {
	w := watcherOf(db)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mends = with(w.mends, name, mend)
}

// RegisterAlone is [Register] for a mend that has a transaction of its own, before that
// of the others, because it must not wait for their locks. It may be done several times.
func RegisterAlone(db *database.DB, name string, mend Mend) {
	w := watcherOf(db)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alone = with(w.alone, name, mend)
}

// with returns all with one more, unless its name is there.
func with(all []named, name string, mend Mend) []named {
	at, known := slices.BinarySearchFunc(all, name, func(n named, name string) int { return strings.Compare(n.name, name) })
	if known {
		return all
	}
	return slices.Insert(slices.Clone(all), at, named{name, mend})
}

// Watch watches the clock of db until ctx ends. [Migrate] has made the table.
func Watch(ctx context.Context, db *database.DB, log *slog.Logger) {
	w := watcherOf(db)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches++; w.stop == nil {
		loop, stop := context.WithCancel(context.WithoutCancel(ctx))
		w.stop = stop
		go w.run(loop, log)
	}
	context.AfterFunc(ctx, w.leave)
}

// leave ends a watch, and with the last one the loop.
func (w *watcher) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches--; w.watches == 0 {
		w.stop()
		w.stop = nil
	}
}

// Steps returns how often this process has seen the clock of db set back.
func Steps(db *database.DB) int64 { return watcherOf(db).steps.Load() }

// topic tells other processes that the clock was set back.
const topic = "clock"

// run watches until ctx ends.
func (w *watcher) run(ctx context.Context, log *slog.Logger) {
	stepped := w.db.Due(ctx, topic, w.steppedQuery)
	tick := time.NewTicker(markInterval)
	defer tick.Stop()
	var noted time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-stepped: // also when another process has found it
			err = w.step(ctx, log)
		case <-tick.C:
			if lite := w.db.Dialect == database.SQLite; lite && w.local.back() > tolerance {
				err = w.step(ctx, log)
				break
			} else if w.db.LastActive().Before(noted) && (lite || time.Since(noted) < quietInterval && !w.clock.drifted()) {
				continue
			}
			noted = time.Now()
			err = w.mark(ctx)
		}
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "watching the clock failed and is tried again", "error", err)
		}
	}
}

// step moves what waits with the clock if it was set back, and the clock of this
// process.
func (w *watcher) step(ctx context.Context, log *slog.Logger) error {
	by, err := w.mend(ctx)
	if err == nil && by > 0 {
		log.WarnContext(ctx, "the clock was set back, what waits moves with it", "by", by)
	}
	return errors.Join(err, w.ask(ctx))
}

// steppedQuery finds something if the clock was set back.
func (w *watcher) steppedQuery(first int, _ time.Duration) (text string, args []any) {
	return fmt.Sprintf(`SELECT 1 FROM clock_mark WHERE id = 1 AND seen_us > %s + CAST($%d AS BIGINT)`, w.db.Dialect.Now(), first),
		[]any{tolerance.Microseconds()}
}

// mark notes the time, if the clock was not set back.
func (w *watcher) mark(ctx context.Context) error {
	const write = `INSERT INTO clock_mark AS m (id, seen_us) VALUES (1, {now})
		ON CONFLICT (id) DO UPDATE SET seen_us = CASE WHEN m.seen_us < excluded.seen_us THEN excluded.seen_us ELSE m.seen_us END {lazy} RETURNING {now}`
	lazy := ""
	if w.db.Dialect == database.Postgres {
		lazy = `WHERE (SELECT ` + database.LazySQL + `) = 'off'`
	}
	text := strings.NewReplacer("{now}", w.db.Dialect.Now(), "{lazy}", lazy).Replace(write)
	return w.db.WriteLazy(database.Routine(ctx), func(tx *database.Tx) error {
		began := time.Now()
		var us int64
		if err := tx.GetContext(ctx, &us, text); err != nil {
			return fmt.Errorf("noting the time: %w", err)
		}
		w.clock.set(us, began, time.Now())
		return nil
	})
}

// lockTimeout is how long a mend waits for rows that others have locked. It is tried
// again, and meanwhile blocks no other.
const lockTimeout = `SET LOCAL lock_timeout = '3s'`

// mend moves what waits with the clock if it was set back, and returns how far.
func (w *watcher) mend(ctx context.Context) (by time.Duration, err error) {
	w.mu.Lock()
	mends, alone := w.mends, w.alone
	w.mu.Unlock()
	ctx = database.Chore(ctx)
	s, err := w.stepped(ctx, w.db, "")
	if err != nil || s.By() <= tolerance {
		return 0, err
	}
	for _, one := range alone {
		err := w.db.InTx(ctx, func(tx *database.Tx) error { return one.mend(ctx, tx, s) })
		if err != nil {
			return 0, fmt.Errorf("moving times of %s with the clock: %w", one.name, err)
		}
	}
	err = w.db.InTx(ctx, func(tx *database.Tx) (err error) {
		by = 0
		if w.db.Dialect == database.Postgres {
			if _, err := tx.ExecContext(ctx, lockTimeout); err != nil {
				return err
			}
		}
		s, err := w.stepped(ctx, tx, w.db.Dialect.ForUpdate())
		if err != nil || s.By() <= tolerance { // another node was first
			return err
		}
		for _, one := range mends {
			if err := one.mend(ctx, tx, s); err != nil {
				return fmt.Errorf("moving times of %s with the clock: %w", one.name, err)
			}
		}
		tx.NotifyAfter(topic)
		w.clock.reset(s.To) // before others see what has moved
		_, err = tx.ExecContext(ctx, `UPDATE clock_mark SET seen_us = $1 WHERE id = 1`, s.To)
		by = s.By()
		return err
	})
	if err == nil && by > 0 {
		w.steps.Add(1)
		w.local.reset()
	}
	return by, err
}

// stepped reads the last time and the time now. It is no step if no time was noted yet.
func (w *watcher) stepped(ctx context.Context, q database.Reader, lock string) (s Step, err error) {
	const mark = `SELECT seen_us AS "from", %s AS "to" FROM clock_mark WHERE id = 1`
	err = q.GetContext(ctx, &s, fmt.Sprintf(mark, w.db.Dialect.Now())+lock)
	if errors.Is(err, sql.ErrNoRows) {
		return Step{}, nil
	}
	if err != nil {
		return s, fmt.Errorf("reading the last time: %w", err)
	}
	if w.db.Dialect == database.SQLite {
		s.From = max(s.From, s.To+w.local.back().Microseconds())
	}
	return s, nil
}

// Check does at once what [Watch] does regularly. It is for tests.
func Check(ctx context.Context, db *database.DB) error {
	w := watcherOf(db)
	_, err := w.mend(ctx)
	return errors.Join(err, w.mark(ctx))
}
