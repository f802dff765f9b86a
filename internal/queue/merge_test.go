package queue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// merged says that a key of the subscriber c has become one with another.
func merged(key, gone string) queue.JobArgs {
	return queue.JobArgs{Subscriber: "c", Key: key, Merged: gone}
}

func numbered(key string, from, to int) (es []queue.JobArgs) {
	for n := from; n <= to; n++ {
		es = append(es, queue.JobArgs{Subscriber: "c", Key: key, Subject: fmt.Sprint("M", n)})
	}
	return es
}

// inTurn handles everything once it is open, and keeps what and with which
// number.
type inTurn struct {
	open     atomic.Bool
	mu       sync.Mutex
	subjects []string
	seqs     []int64
	changed  testsignal.Signal
}

func (s *inTurn) handle(_ context.Context, it queue.Job) queue.Outcome {
	if !s.open.Load() {
		return queue.Outcome{Result: queue.OpenCircuit, After: 10 * time.Millisecond}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subjects, s.seqs = append(s.subjects, it.Subject), append(s.seqs, it.Seq)
	s.changed.Send()
	return queue.Outcome{}
}

func (s *inTurn) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.subjects)
}

// TestMergeKeepsOrder puts jobs under a key that becomes one with another while
// its subscriber is down, some of them not routed yet.
func TestMergeKeepsOrder(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		for _, routed := range []bool{true, false} {
			t.Run(fmt.Sprint("routed ", routed), func(t *testing.T) {
				s, name := &inTurn{}, fmt.Sprint("q", routed)
				q := newQueue(t, db, queue.Options{Name: name, Handle: s.handle})
				put(t, db, q, numbered("gone", 0, 4)...)
				if routed {
					start(t, q)
					untilStats(t, q, func(s queue.Stats) bool { return s.Paused == 1 })
				}
				put(t, db, q, merged("keep", "gone"))
				put(t, db, q, numbered("keep", 5, 6)...)
				put(t, db, q, numbered("gone", 7, 7)...) // by somebody who did not know of it yet
				if routed {
					waiting, err := q.Pending(t.Context(), []string{"c"}, queue.JobArgs{}, 10)
					require.NoError(t, err)
					require.Len(t, waiting, 8)
					for _, p := range waiting[:3] {
						require.True(t, p.Next.IsZero(), "%s waits behind others", p.Subject)
					}
				} else {
					start(t, q)
				}
				s.open.Store(true)
				until(t, &s.changed, func() bool { return len(s.all()) == 8 })
				idle(t, q)
				require.Equal(t, []string{"M0", "M1", "M2", "M3", "M4", "M5", "M6", "M7"}, s.all())
				require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8}, s.seqs)
			})
		}
	})
}

// TestMergeOfMerges has A become one with B, and B with C, while all have work.
func TestMergeOfMerges(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := &inTurn{}
		q := newQueue(t, db, queue.Options{Handle: s.handle})
		start(t, q)
		put(t, db, q, slices.Concat(numbered("a", 0, 2), numbered("b", 10, 10), numbered("c", 20, 21))...)
		put(t, db, q, merged("b", "a"))
		put(t, db, q, numbered("b", 30, 30)...)
		put(t, db, q, merged("c", "b"))
		put(t, db, q, merged("a", "c"), merged("c", "c")) // which says nothing new
		put(t, db, q, numbered("a", 40, 40)...)
		put(t, db, q, numbered("b", 41, 41)...)
		s.open.Store(true)
		idle(t, q)
		got := s.all()
		at := func(n int) int { return slices.Index(got, fmt.Sprint("M", n)) }
		require.Len(t, got, 9)
		for _, order := range [][]int{{0, 1, 2, 30, 40, 41}, {10, 30, 40, 41}, {20, 21, 40, 41}} {
			for i := range order[1:] {
				require.Less(t, at(order[i]), at(order[i+1]), "%v in %v", order, got)
				require.Less(t, s.seqs[at(order[i])], s.seqs[at(order[i+1])], "%v in %v", order, got)
			}
		}
	})
}

// TestMergeMeetsWorkInHand merges keys of which both are being worked on by
// another node: neither is disturbed, and what comes later waits for one only.
func TestMergeMeetsWorkInHand(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		var mu sync.Mutex
		var got []string
		var more testsignal.Signal
		started, goneMayEnd, keepMayEnd := make(chan string, 9), make(chan struct{}), make(chan struct{})
		letGo := sync.OnceFunc(func() { close(goneMayEnd) })
		o := queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			started <- it.Subject
			switch it.Subject {
			case "M0":
				<-goneMayEnd
			case "M10":
				<-keepMayEnd
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, it.Subject)
			more.Send()
			return queue.Outcome{}
		}}
		a, b := testkit.Open(t, url), testkit.Open(t, url)
		first, second := newQueue(t, a, o), newQueue(t, b, o)
		stop := start(t, first)
		t.Cleanup(letGo)
		put(t, a, first, append(numbered("gone", 0, 1), numbered("keep", 10, 10)...)...)
		require.ElementsMatch(t, []string{"M0", "M10"}, []string{<-started, <-started})
		start(t, second)
		put(t, b, second, append([]queue.JobArgs{merged("keep", "gone")}, numbered("keep", 11, 12)...)...)
		close(keepMayEnd)
		until(t, &more, func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 1 })
		require.Empty(t, started, "what came after the merge waits for the other partition")
		letGo()
		stop()
		idle(t, second)
		require.Equal(t, []string{"M10", "M0", "M1", "M11", "M12"}, got)
		require.Zero(t, first.Fenced()+second.Fenced())
	})
}

// TestMergeMeetsParked takes a job back to a partition that was merged: its
// subscriber was down all the while.
func TestMergeMeetsParked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var open, parked atomic.Bool
		s := &inTurn{}
		q := newQueue(t, db, queue.Options{Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
			if open.Load() {
				s.open.Store(true)
				return s.handle(ctx, it)
			}
			if it.Subject == "M0" && !parked.Swap(true) {
				return queue.Outcome{Result: queue.Park, After: time.Hour}
			}
			return queue.Outcome{Result: queue.OpenCircuit, After: 5 * time.Millisecond}
		}})
		put(t, db, q, numbered("gone", 0, 0)...)
		put(t, db, q, merged("keep", "gone"))
		put(t, db, q, numbered("keep", 1, 2)...)
		start(t, q)
		// M0 leaves its partition, so that M1 is tried, on which the subscriber is known to be down.
		testkit.UntilCommitted(t, db, func() bool {
			var n int
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM queue_partition l JOIN queue_subscriber c ON c.subscriber = l.subscriber
				WHERE l.key = 'keep' AND l.blockers > 0 AND l.head = 0`))
			return n == 1
		})
		open.Store(true)
		idle(t, q)
		require.Equal(t, []string{"M0", "M1", "M2"}, s.all())
	})
}

// put1 is a job of the random test, and what must be finished before it.
type put1 struct {
	after []int
	key   string
}

// crowd puts jobs for people who have several keys that become one, and checks
// what a subscriber gets.
type crowd struct {
	mu       sync.Mutex
	jobs     []put1
	finished map[string]map[int]int64 // by subscriber: the numbers of what is finished
	wrong    []string
}

func (c *crowd) add(it put1) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = append(c.jobs, it)
	return len(c.jobs) - 1
}

// handle takes a job, late or not at all for a while.
func (c *crowd) handle(ctx context.Context, it queue.Job) queue.Outcome {
	n, _ := strconv.Atoi(it.Subject)
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.finished[it.Subscriber]
	for _, before := range c.jobs[n].after {
		seq, is := done[before]
		if !is || seq >= it.Seq {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: %d (%s, number %d) came before %d (%s, number %d)",
				it.Subscriber, n, c.jobs[n].key, it.Seq, before, c.jobs[before].key, seq))
		}
	}
	switch dice := rand.IntN(40); {
	case dice < 4:
		return queue.Outcome{Result: queue.Retry, After: time.Duration(rand.IntN(5)) * time.Millisecond}
	case dice == 4 && it.Subscriber == "slow":
		return queue.Outcome{Result: queue.OpenCircuit, After: time.Duration(rand.IntN(20)) * time.Millisecond}
	case dice == 5 && ctx.Err() == nil:
		return queue.Outcome{Result: queue.Snooze}
	}
	done[n] = it.Seq
	return queue.Outcome{}
}

// TestMergeUnderLoad merges keys at random while jobs flow to two subscribers over
// two nodes, of which one is replaced again and again and loses its leases.
func TestMergeUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		const people, keys = 4, 6
		subscribers := []string{"quick", "slow"}
		c := &crowd{finished: map[string]map[int]int64{"quick": {}, "slow": {}}}
		// A probe whose lease is taken away below keeps its subscriber paused for a lease.
		o := queue.Options{Logger: quiet, Handle: c.handle, Run: 4, Lease: 3 * time.Second}
		db := testkit.Open(t, url)
		q := newQueue(t, db, o)
		start(t, q)
		other := testkit.Open(t, url)

		for round := range testkit.Rounds(10) {
			stop := start(t, newQueue(t, other, o))
			var all sync.WaitGroup
			for p := range people {
				all.Go(func() { // one writer holds the lock of a person's keys
					live := map[string][]int{} // by key: what was put under it and those that became one with it
					var names []string
					for k := range keys {
						names = append(names, fmt.Sprintf("%d.%d.%d", round, p, k))
					}
					for range 60 {
						var es []queue.JobArgs
						switch i, j := rand.IntN(len(names)), rand.IntN(len(names)); {
						case rand.IntN(8) == 0 && i != j:
							keep, gone := names[i], names[j]
							live[keep] = append(live[keep], live[gone]...)
							es = append(es, queue.JobArgs{Key: keep, Merged: gone})
							names = slices.Delete(names, j, j+1)
						default:
							key := names[i]
							n := c.add(put1{slices.Clone(live[key]), key})
							live[key] = append(live[key], n)
							es = append(es, queue.JobArgs{Key: key, Subject: fmt.Sprint(n)})
						}
						d := []*sqlx.DB{db, other}[rand.IntN(2)]
						assert.NoError(t, inTx(t, d, func(tx *database.Tx) error {
							for _, name := range subscribers {
								for i := range es {
									es[i].Subscriber = name
								}
								if err := q.PutTx(t.Context(), tx, es...); err != nil {
									return err
								}
							}
							return nil
						}))
						q.Notify()
					}
				})
			}
			all.Wait()
			if round%2 == 0 { // as when a node was frozen: what it has in hand is lost to it
				in(t, db, func(tx *database.Tx) error {
					_, err := tx.ExecContext(t.Context(), `UPDATE queue_partition SET epoch = epoch + 1, ready_us = 1, holder = '' WHERE holder <> ''`)
					return err
				})
			}
			stop()
			idle(t, q)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Empty(t, c.wrong)
		for _, name := range subscribers {
			require.Len(t, c.finished[name], len(c.jobs), name)
		}
		var stuck int
		require.NoError(t, db.GetContext(t.Context(), &stuck, `SELECT count(*) FROM queue_partition WHERE blockers <> 0 OR blocking <> 0`))
		require.Zero(t, stuck)
	})
}
