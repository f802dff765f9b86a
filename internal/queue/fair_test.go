package queue_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestBacklog puts 10,000 jobs, as often as ROUNDS says, for one subscriber, and then a
// few for each of many others. The others get all of their work done while the backlog
// gets no more than its share: half as much as they have is the bound, however many
// jobs wait. It counts jobs, so it says the same on any machine.
func TestBacklog(t *testing.T) {
	t.Parallel()
	const (
		others = 40
		jobs   = 5
		chunk  = 10_000
	)
	for name, keys := range map[string]int{"one key": 1, "many keys": 1000} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				var s sink
				putter := newQueue(t, db, queue.Options{Handle: done(&s)})
				backlog := chunk * testkit.Rounds(1)
				for range backlog / chunk {
					put(t, db, putter, jobArgs("busy", keys, chunk)...)
				}
				for i := range others {
					put(t, db, putter, jobArgs(fmt.Sprint("other", i), jobs, jobs)...)
				}
				var handled, busy atomic.Int64
				finished := make(chan int64, 1)
				q := newQueue(t, db, queue.Options{Workers: 4, Run: 1, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
					if it.Subscriber == "busy" {
						busy.Add(1)
					} else if handled.Add(1) == others*jobs {
						finished <- busy.Load()
					}
					return queue.Outcome{}
				}})
				start(t, q)
				n := <-finished
				t.Logf("of %d jobs of one subscriber %d came before the last of %d of others", backlog, n, others*jobs)
				require.LessOrEqual(t, n, int64(others*jobs/2))
			})
		})
	}
}
