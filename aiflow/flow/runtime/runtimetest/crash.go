package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Node is a process that has conversations. Both nodes of a conversation have
// the same database and the same clock.
type Node interface {
	Run(ctx context.Context) error
	// Say has a contact write.
	Say(t testing.TB, chat, text string)
	// Advance lets time pass on the clock of both nodes.
	Advance(t testing.TB, d time.Duration)
	// Publish gives an event to the runs that wait for one of this name.
	Publish(t testing.TB, name string)
	// Notify has the node look at the time and at what waits.
	Notify()
	// Shows is what the contact's phone shows, the oldest first.
	Shows(t testing.TB, chat string) []string
}

// Open makes a node that does not run yet. It must be the only one of its
// database as far as it knows, so that it takes over at once, and call
// afterCommit as [runtime.Options] says. first is nil for the first node of a
// conversation; the second shares its clock.
type Open func(t testing.TB, first Node, afterCommit func(what string)) Node

const (
	timeout = 2 * time.Minute
	pause   = 2 * time.Millisecond
)

// Crash plays a script in a chat of its own for each commit that a node makes
// in it, and stops the node there. It returns how many these were.
func Crash(t testing.TB, s Script, open Open) int {
	t.Helper()
	for at := 1; ; at++ {
		if !crash(t, s, open, at) {
			return at - 1
		}
	}
}

// crash reports whether the node has made at commits, and so died.
func crash(t testing.TB, s Script, open Open, at int) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	d := &death{at: at, died: make(chan struct{}), over: make(chan struct{}), stop: cancel}
	first := open(t, nil, d.commit)
	done := make(chan error, 1)
	next := func() *heir { return d.heir(t, open(t, first, func(string) {})) }
	second := next()
	go func() { done <- first.Run(ctx) }()
	last := play(t, s, fmt.Sprint("chat", at), first, second, next)
	close(d.over)
	cancel()
	require.NoError(t, errors.Join(<-done, last.end()))
	select {
	case <-d.died:
		return true
	default:
		return false
	}
}

// heir is a node that takes over when the first has died.
type heir struct {
	Node
	stop  func()
	ended chan error
}

func (d *death) heir(t testing.TB, node Node) *heir {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	h := &heir{Node: node, stop: stop, ended: make(chan error, 1)}
	go func() {
		select {
		case <-d.died:
			h.ended <- node.Run(ctx)
		case <-ctx.Done():
			h.ended <- nil
		}
	}()
	return h
}

func (h *heir) end() error {
	h.stop()
	return <-h.ended
}

// death stops a node after a number of commits.
type death struct {
	at         int
	died, over chan struct{}
	stop       func()

	mu sync.Mutex
	n  int
}

// commit is called after each commit. Nothing follows from the last one, nor
// from those that were on their way.
func (d *death) commit(string) {
	d.mu.Lock()
	d.n++
	if d.n == d.at {
		d.stop()
		close(d.died)
	}
	dead := d.n >= d.at
	d.mu.Unlock()
	if dead {
		<-d.over
	}
}

// play has a contact follow the script, and returns the last of the heirs.
// There is another when one cannot continue: the first was perhaps taking work
// while it was taken over from, as no process does that was killed.
func play(t testing.TB, s Script, chat string, first Node, second *heir, next func() *heir) *heir {
	t.Helper()
	var want, or []string
	for _, step := range s.Steps {
		if step.Advance != "" {
			d, err := time.ParseDuration(step.Advance)
			require.NoError(t, err)
			first.Advance(t, d)
			first.Notify()
			second.Notify()
		}
		if step.Send != "" {
			first.Say(t, chat, step.Send)
			second.Notify()
		}
		if step.Event != "" {
			first.Publish(t, step.Event)
			second.Notify()
		}
		if step.Or == nil {
			step.Or = step.Expect
		}
		want, or = append(want, step.Expect...), append(or, step.Or...)
		var got []string
		shown := func() bool {
			got = first.Shows(t, chat)
			return len(got) >= len(want)
		}
		if !soon(shown) {
			require.NoError(t, second.end())
			second = next()
		}
		require.Eventually(t, shown, timeout, pause, "%v", want)
		for i := range want {
			require.Contains(t, []string{want[i], or[i]}, got[i], "in %s", chat)
		}
		require.Len(t, got, len(want), "in %s", chat)
	}
	return second
}

// soon reports whether something becomes true in half of the time that there is.
func soon(ok func() bool) bool {
	for end := time.Now().Add(timeout / 2); time.Now().Before(end); <-time.After(pause) {
		if ok() {
			return true
		}
	}
	return false
}
