package runtime

import (
	"context"
	"errors"
	"time"
)

// pollWatch is how often a watcher looks for turns of other nodes.
const pollWatch = 500 * time.Millisecond

// Watch returns a channel that gets a run as it is now, and again after its
// turns, on whatever node they are taken; who reads slowly misses some that lie
// between. It is closed after the run has ended, or was deleted, or when ctx
// ends, which must be some time. A run that is deleted while it goes on may be shown
// once more, as cancelled.
func (a *Account) Watch(ctx context.Context, id string) (<-chan Run, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make(chan Run)
	go func() {
		defer close(out)
		a.watch(ctx, row, out)
	}()
	return out, nil
}

func (a *Account) watch(ctx context.Context, row *runRow, out chan<- Run) {
	changed := a.r.waits.on(row.Seq)
	defer changed.leave()
	poll := time.NewTicker(pollWatch)
	defer poll.Stop()
	shown := int64(-1) // the turn after which the run was last given out
	for {
		now, err := a.row(ctx, row.ID)
		switch {
		case errors.Is(err, ErrNotFound):
			return
		case err == nil && now.Turn != shown:
			select {
			case out <- now.view():
			case <-ctx.Done():
				return
			}
			shown = now.Turn
			if now.EndedUS > 0 {
				return
			}
		}
		select {
		case <-changed.ch:
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}
