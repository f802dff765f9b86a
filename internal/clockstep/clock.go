package clockstep

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// slack is how far a node's clock may be from that of the database. It is not set for
// less, so that the time does not jump with every answer that takes long.
const slack = time.Second

// clock shows the time of the database, on which all nodes agree. Nodes ask for it
// every few seconds, and count from there by the clock that is never set.
type clock struct {
	asked atomic.Pointer[answer]
	moved atomic.Pointer[time.Time] // when an answer was last another than expected, by this process
}

// answer is the time of the database at one moment.
type answer struct {
	shown time.Time // by the database
	at    time.Time // by this process
}

// Now returns the clock of db. That of a node may be wrong: with PostgreSQL it is set
// to the database's when ctx can reach it, and again while [Watch] does its work. With
// SQLite both are the same.
func Now(ctx context.Context, db *database.DB) func() time.Time {
	if db.Dialect != database.Postgres {
		return time.Now
	}
	w := watcherOf(db)
	if w.clock.asked.Load() == nil {
		_ = w.ask(ctx) // the next try is that of Watch
	}
	return w.clock.now
}

// ask asks PostgreSQL for the time.
func (w *watcher) ask(ctx context.Context) error {
	if w.db.Dialect != database.Postgres {
		return nil
	}
	began := time.Now()
	var us int64
	if err := w.db.GetContext(ctx, &us, `SELECT `+w.db.Dialect.Now()); err != nil {
		return err
	}
	w.clock.set(us, began, time.Now())
	return nil
}

// set notes a time that was asked for between two moments. An
// answer that took long says little, unless it is the first.
func (c *clock) set(us int64, began, ended time.Time) {
	if ended.Sub(began) > slack && c.asked.Load() != nil {
		return
	}
	a := &answer{database.Time(us), began.Add(ended.Sub(began) / 2)}
	if a.shown.Sub(a.at).Abs() <= slack { // then it is this machine's, to the microsecond
		a.shown = a.at.Round(0)
	}
	known := c.asked.Load()
	if known == nil {
		c.asked.Store(a)
	} else if a.shown.Sub(known.on(a.at)).Abs() > slack {
		c.asked.Store(a)
		c.moved.Store(&ended)
	}
}

// SetWithin asks for the time, and reports whether this process has noticed within d that
// the clock of db was set, in either direction. What seems to have happened long ago may
// then have happened just now. With SQLite it is false.
func SetWithin(ctx context.Context, db *database.DB, d time.Duration) (bool, error) {
	w := watcherOf(db)
	err := w.ask(ctx)
	moved := w.clock.moved.Load()
	return moved != nil && time.Since(*moved) < d, err
}

// reset sets the clock.
func (c *clock) reset(us int64) { c.asked.Store(&answer{database.Time(us), time.Now()}) }

// on returns what the clock of the database shows at a moment of this process.
func (a *answer) on(at time.Time) time.Time { return a.shown.Add(at.Sub(a.at)) }

func (c *clock) now() time.Time {
	a := c.asked.Load()
	if a == nil {
		return time.Now()
	}
	return a.on(time.Now())
}

// drifted reports whether this process's clock was set, or the machine was suspended,
// since it asked: the clock that is never set stands still then.
func (c *clock) drifted() bool {
	a := c.asked.Load()
	if a == nil {
		return false
	}
	now := time.Now()
	return (now.Round(0).Sub(a.at.Round(0)) - now.Sub(a.at)).Abs() > slack
}
