package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// pollRun is how often a waiting caller looks for turns of other nodes.
const pollRun = 250 * time.Millisecond

// waits tells callers of the turns of runs.
type waits struct {
	db    *database.DB
	mu    sync.Mutex
	byRun map[int64]map[*runWatcher]struct{}
}

// runWatcher is a caller that waits for turns of a run.
type runWatcher struct {
	w   *waits
	run int64
	ch  chan struct{}
}

// on registers for the turns of a run on this node.
func (w *waits) on(run int64) *runWatcher {
	t := &runWatcher{w: w, run: run, ch: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byRun == nil {
		w.byRun = map[int64]map[*runWatcher]struct{}{}
	}
	if w.byRun[run] == nil {
		w.byRun[run] = map[*runWatcher]struct{}{}
	}
	w.byRun[run][t] = struct{}{}
	return t
}

func (t *runWatcher) leave() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	delete(t.w.byRun[t.run], t)
	if len(t.w.byRun[t.run]) == 0 {
		delete(t.w.byRun, t.run)
	}
}

// notify wakes those who wait for a turn of a run.
func (w *waits) notify(run int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.byRun[run] {
		select {
		case t.ch <- struct{}{}:
		default:
		}
	}
}

// await waits until a run waits for something or has ended, at most for d.
func (w *waits) await(ctx context.Context, run int64, d time.Duration) {
	t := w.on(run)
	defer t.leave()
	w.awaitQuery(ctx, t, d, `SELECT status <> 'running' FROM flow_run WHERE seq = $1`, run)
}

// awaitTaken waits until a run has taken an input, or it was dropped, and the
// run does not continue by itself.
func (w *waits) awaitTaken(ctx context.Context, t *runWatcher, run, input int64, d time.Duration) {
	w.awaitQuery(ctx, t, d, `SELECT r.status <> 'running' AND NOT EXISTS (SELECT 1 FROM flow_input i WHERE i.id = $1)
		FROM flow_run r WHERE r.seq = $2`, input, run)
}

// awaitQuery waits until query says true, finds nothing, or fails.
func (w *waits) awaitQuery(ctx context.Context, t *runWatcher, d time.Duration, query string, args ...any) {
	if d <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	poll := time.NewTicker(pollRun)
	defer poll.Stop()
	for {
		var is bool
		if err := w.db.GetContext(ctx, &is, query, args...); is || err != nil && !database.Failed(err) {
			return
		}
		select {
		case <-t.ch:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}
