package wait

import (
	"context"
	"database/sql"
	"errors"
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
	by map[int64][]chan struct{} // by message
}

// New returns Waiters for the messages of a database.
func New(db *database.DB) *Waiters { return &Waiters{db: db, by: map[int64][]chan struct{}{}} }

// Attempt waits until the first attempt to send a message is over, at
// most for d. It reports whether it is.
func (w *Waiters) Attempt(ctx context.Context, seq int64, d time.Duration) bool {
	return w.await(ctx, seq, d, `SELECT tried OR announced FROM messaging_outbound WHERE message = $1`)
}

// File waits until the file of a message is fetched, or will not come, at most
// for d. It reports whether that is so.
func (w *Waiters) File(ctx context.Context, seq int64, d time.Duration) bool {
	return w.await(ctx, seq, d, `SELECT NOT waiting FROM messaging_media WHERE message = $1`)
}

// await waits until query, which is about a message, says true or finds
// nothing.
func (w *Waiters) await(ctx context.Context, seq int64, d time.Duration, query string) bool {
	if d <= 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	over, leave := w.wait(seq)
	defer leave()
	poll := time.NewTicker(attemptPollInterval)
	defer poll.Stop()
	for {
		var is bool
		err := w.db.GetContext(ctx, &is, query, seq)
		if err != nil || is {
			return is || errors.Is(err, sql.ErrNoRows) // over or deleted, else out of time
		}
		select {
		case <-over:
		case <-poll.C:
		case <-ctx.Done():
			return false
		}
	}
}

// wait registers for the end of an attempt, or of a fetch, on this node.
func (w *Waiters) wait(seq int64) (over <-chan struct{}, leave func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[seq] = append(w.by[seq], ch)
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		var rest []chan struct{}
		for _, c := range w.by[seq] {
			if c != ch {
				rest = append(rest, c)
			}
		}
		if len(rest) == 0 {
			delete(w.by, seq)
			return
		}
		w.by[seq] = rest
	}
}

// Over tells those who wait for a message's first attempt, or its file.
func (w *Waiters) Over(seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.by[seq] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
