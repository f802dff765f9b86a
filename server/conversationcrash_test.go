package server_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// instance is a server from its beginning until its bots have committed something.
type instance struct {
	died  chan struct{} // something is committed, and nothing may follow from it
	over  chan struct{} // what hangs may end
	ended chan error
	once  sync.Once
	stop  context.CancelFunc
}

// commit stops the server. Whoever committed hangs until all is over.
func (l *instance) commit(string) {
	l.once.Do(func() {
		l.stop()
		close(l.died)
	})
	<-l.over
}

// begin has another server take over.
func (h *env) begin(t *testing.T) *instance {
	t.Helper()
	l := &instance{died: make(chan struct{}), over: make(chan struct{}), ended: make(chan error, 1)}
	cfg := server.Config{DB: h.db, Secrets: []server.Secret{secret}, Version: "1.2.3"}
	housed(h.clock, l.commit)(&cfg)
	s, err := server.New(context.WithoutCancel(t.Context()), cfg)
	if !assert.NoError(t, err) {
		return nil
	}
	h.mu.Lock()
	h.server = fixture{Server: s}
	h.mu.Unlock()
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.WithoutCancel(t.Context()))
	go func() { l.ended <- s.Run(ctx) }()
	return l
}

// mortal has servers live in the house, each until it has committed something,
// and returns a function that ends that and says how many died. A dead one
// hangs until the next has died, too, as a frozen process does.
func (h *env) mortal(t *testing.T) (end func() int) {
	t.Helper()
	first := h.begin(t)
	require.NotNil(t, first)
	ctx, cancel := context.WithCancel(t.Context())
	deaths := make(chan int)
	go func() { deaths <- h.lives(ctx, t, first) }()
	return func() int {
		cancel()
		return <-deaths
	}
}

func (h *env) lives(ctx context.Context, t *testing.T, l *instance) int {
	t.Helper()
	var before *instance
	var buried sync.WaitGroup
	bury := func(l *instance) {
		if l != nil {
			l.stop()
			close(l.over)
			buried.Go(func() { assert.NoError(t, <-l.ended) })
		}
	}
	defer buried.Wait()
	lost := 0
	for n := 0; ; n++ {
		select {
		case <-l.died:
		case err := <-l.ended:
			l.ended <- nil  // for who buries it
			if err != nil { // PostgreSQL drops who stands still in the middle of beginning
				lost++
			}
			if !assert.Less(t, lost, 5, "servers cannot begin: %v", err) {
				bury(before)
				bury(l)
				return n
			}
		case <-ctx.Done():
			bury(before)
			bury(l)
			return n
		}
		bury(before)
		before = l
		if l = h.begin(t); l == nil {
			bury(before)
			return n
		}
	}
}

// TestConversationsSurvive stops the server after every commit of a bot's turn,
// call, answer or timers, has another take over, and so on: the contact does
// not notice, and no call that must not be repeated is.
func TestConversationsSurvive(t *testing.T) {
	t.Parallel()
	all := conversations(t)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		h := &env{db: db, clock: newWallClock()}
		end := h.mortal(t)
		t.Cleanup(func() {
			t.Logf("promise: %d conversations with servers stopped after each of %d commits: the same messages, none twice", len(all), end())
		})
		eachConversation(t, all, func(t *testing.T, name string, c *conversation) {
			got := h.play(t, name, c)
			for i, m := range c.Steps {
				if m.Or == nil {
					m.Or = m.Shows
				}
				require.Contains(t, [][]string{m.Shows, m.Or}, got.Steps[i].Shows, "after step %d", i+1)
			}
			if c.certain() {
				got.Want.Calls = c.Want.Calls // others may be repeated
				c.same(t, got)
			}
		})
	})
}
