package webhook_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

func (f *fixture) merge(t testing.TB, key string, gone ...string) {
	t.Helper()
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.MergedTx(t.Context(), tx, scope, key, gone) }))
}

// numbers are the numbers of events that were answered 200, and how they were
// counted.
func numbers(t testing.TB, rs []request) (ns []int, seqs []int64) {
	t.Helper()
	for _, r := range rs {
		_, rest, _ := strings.Cut(r.body, `"n":`)
		var n int
		_, err := fmt.Sscan(strings.TrimSuffix(rest, "}"), &n)
		require.NoError(t, err)
		ns, seqs = append(ns, n), append(seqs, r.seq())
	}
	return ns, seqs
}

// TestMergedKeysKeepTheirOrder has two chats become one while their endpoint is
// down; then it comes back, and is sent all of it once more.
func TestMergedKeysKeepTheirOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var up atomic.Bool
		var mu sync.Mutex
		var taken []request
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			if !up.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, r)
		})
		f := running(t, db, webhook.Options{Policy: fast})
		ep := f.put(t, rec.URL)
		f.publish(t, event("old", 0), event("old", 1), event("old", 2), event("old", 3), event("old", 4))
		rec.wait(t, 1)
		f.merge(t, "new", "old")
		f.publish(t, event("new", 5), event("new", 6))
		f.publish(t, event("old", 7)) // by somebody who has read the key before
		up.Store(true)
		got := func() []request {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(taken)
		}
		f.until(t, func() bool { return len(got()) == 8 })
		ns, seqs := numbers(t, got())
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, ns)
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8}, seqs)

		f.until(t, func() bool {
			p, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Endpoint: ep.ID, State: "delivered", Limit: 20})
			return err == nil && len(p.Items) == 8
		})
		n, err := f.Replay(t.Context(), webhook.Replay{Endpoint: ep.ID, State: "delivered"})
		require.NoError(t, err)
		require.Equal(t, 8, n)
		f.until(t, func() bool { return len(got()) == 16 })
		again, same := numbers(t, got()[8:])
		require.Equal(t, ns, again)
		require.Equal(t, seqs, same, "a replay repeats the old numbers")
		for i, r := range got()[8:] {
			require.Equal(t, got()[i].header.Get("webhook-id"), r.header.Get("webhook-id"))
		}
	})
}

// TestMergedKeysUnderLoad has chats become one at random while events flow from
// two nodes to two endpoints, of which one hangs, refuses and is down by turns.
// One node is replaced in each round.
func TestMergedKeysUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		const people, keys, steps = 4, 4, 30
		check := &mergeCheck{taken: map[string]map[int]int64{"/good": {}, "/bad": {}}}
		rec := receive(t, check.answer)
		opts := webhook.Options{Policy: fast, Timeout: 200 * time.Millisecond}
		f := running(t, testkit.Open(t, url), opts)
		f.put(t, rec.URL+"/good")
		f.put(t, rec.URL+"/bad")
		other := testkit.Open(t, url)
		for round := range testkit.Rounds(10) {
			second := running(t, other, opts)
			var all sync.WaitGroup
			for p := range people {
				all.Go(func() { // one writer holds the lock of a person's chats
					var names []string
					for k := range keys {
						names = append(names, fmt.Sprintf("%d.%d.%d", round, p, k))
					}
					before := map[string][]int{}
					for range steps {
						node := []*fixture{f, second}[rand.IntN(2)]
						i, j := rand.IntN(len(names)), rand.IntN(len(names))
						key, gone := names[i], names[j]
						merge, n := rand.IntN(8) == 0 && i != j, 0
						if merge {
							before[key] = append(before[key], before[gone]...)
							names = slices.Delete(names, j, j+1)
						} else {
							n = check.add(before[key])
							before[key] = append(before[key], n)
						}
						assert.NoError(t, node.db.InTx(t.Context(), func(tx *database.Tx) error {
							if merge {
								return node.MergedTx(t.Context(), tx, scope, key, []string{gone})
							}
							return node.PublishTx(t.Context(), tx, event(key, n))
						}))
					}
				})
			}
			all.Wait()
			second.stop()
		}
		f.until(t, func() bool { return check.complete() })
		require.Empty(t, check.errors())
	})
}

// mergeCheck knows what must come before an event, and checks what endpoints get.
type mergeCheck struct {
	mu    sync.Mutex
	after [][]int                  // by event: those before it
	taken map[string]map[int]int64 // by endpoint: the numbers of what was taken
	wrong []string
}

func (c *mergeCheck) add(before []int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.after = append(c.after, slices.Clone(before))
	return len(c.after) - 1
}

func (c *mergeCheck) answer(_ int, r request, w http.ResponseWriter) {
	var n int
	_, rest, _ := strings.Cut(r.body, `"n":`)
	_, _ = fmt.Sscan(strings.TrimSuffix(rest, "}"), &n)
	c.mu.Lock()
	for _, before := range c.after[n] {
		if seq, is := c.taken[r.path][before]; !is || seq >= r.seq() {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: event %d, number %d, came before event %d, number %d", r.path, n, r.seq(), before, seq))
		}
	}
	dice := rand.IntN(100)
	if r.path == "/good" || dice >= 13 {
		c.taken[r.path][n] = r.seq()
	}
	c.mu.Unlock()
	switch {
	case r.path == "/good" || dice >= 13:
	case dice == 0:
		reply{hang: true}.write(r, w)
	case dice < 6:
		reply{cut: true}.write(r, w)
	case dice < 10:
		reply{status: http.StatusServiceUnavailable}.write(r, w)
	default:
		reply{status: http.StatusBadRequest}.write(r, w)
	}
}

func (c *mergeCheck) complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.taken["/good"]) == len(c.after) && len(c.taken["/bad"]) == len(c.after)
}

func (c *mergeCheck) errors() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}
