package wait

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// attemptPollInterval is how often a waiting caller looks for an attempt that another
// node makes.
const attemptPollInterval = 250 * time.Millisecond

// Waiters are the callers on this node that wait for messages. It is safe for
// concurrent use.
type Waiters struct {
	db *database.DB

	mu sync.Mutex
	by map[end][]*Waiter
}

// end is what is waited for.
type end struct {
	query   string // says whether it has come, of a message; finds nothing when that was deleted
	message int64
}

const (
	attempted = `SELECT tried OR announced FROM messaging_outbound WHERE message = $1`
	fetched   = `SELECT NOT waiting FROM messaging_media WHERE message = $1`
)

// New returns Waiters for the messages of a database.
func New(db *database.DB) *Waiters { return &Waiters{db: db, by: map[end][]*Waiter{}} }

// Attempt waits until the first attempt to send a message is over, at
// most for d. It reports whether it is.
func (w *Waiters) Attempt(ctx context.Context, seq int64, d time.Duration) bool {
	return w.look(ctx, end{attempted, seq}, d)
}

// File waits until the file of a message is fetched, or will not come, at most
// for d. It reports whether that is so.
func (w *Waiters) File(ctx context.Context, seq int64, d time.Duration) bool {
	return w.look(ctx, end{fetched, seq}, d)
}

// look waits for what may have come already.
func (w *Waiters) look(ctx context.Context, e end, d time.Duration) bool {
	if d <= 0 {
		return false
	}
	one := w.register(e)
	defer one.Leave()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if is, known := w.has(ctx, e); known {
		return is || one.wait(ctx)
	}
	return false
}

// has asks the database. When the time is over, the answer is not known.
func (w *Waiters) has(ctx context.Context, e end) (is, known bool) {
	err := w.db.GetContext(ctx, &is, e.query, e.message)
	if errors.Is(err, sql.ErrNoRows) {
		return true, true // it was deleted
	}
	return is, err == nil
}

// Waiter waits for one message.
type Waiter struct {
	all  *Waiters
	end  end
	over chan struct{}
}

// Expect registers for the first attempt to send a message. Call it before the
// message is committed, so that the attempt cannot be over before.
func (w *Waiters) Expect(seq int64) *Waiter { return w.register(end{attempted, seq}) }

func (w *Waiters) register(e end) *Waiter {
	one := &Waiter{w, e, make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[e] = append(w.by[e], one)
	return one
}

// Wait waits until what is expected has come, at most for d.
func (o *Waiter) Wait(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	o.wait(ctx)
}

// wait reports whether it has come before ctx ends.
func (o *Waiter) wait(ctx context.Context) bool {
	poll := time.NewTicker(attemptPollInterval)
	defer poll.Stop()
	for {
		select {
		case <-o.over:
			return true
		case <-poll.C:
			if is, known := o.all.has(ctx, o.end); is || !known {
				return is
			}
		case <-ctx.Done():
			return false
		}
	}
}

// Leave ends the registration. A nil Waiter has none.
func (o *Waiter) Leave() {
	if o == nil {
		return
	}
	w := o.all
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := slices.DeleteFunc(w.by[o.end], func(other *Waiter) bool { return other == o })
	if len(rest) == 0 {
		delete(w.by, o.end)
		return
	}
	w.by[o.end] = rest
}

// Attempted tells those who wait for the first attempt to send a message.
func (w *Waiters) Attempted(seq int64) { w.signal(end{attempted, seq}) }

// Fetched tells those who wait for the file of a message.
func (w *Waiters) Fetched(seq int64) { w.signal(end{fetched, seq}) }

func (w *Waiters) signal(e end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.by[e] {
		select {
		case o.over <- struct{}{}:
		default:
		}
	}
}
