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
	// Publish gives an event to whoever waits for one of this name.
	Publish(t testing.TB, name string)
	// Wake has the node look at the time and at what waits.
	Wake()
	// Shows is what the contact's phone shows, the oldest first.
	Shows(t testing.TB, chat string) []string
}

// Open makes a node that does not run yet. It must be the only one of its
// database as far as it knows, so that it takes over at once, and call
// afterCommit as [runtime.Options] says. first is nil for the first node of a
// conversation; the second shares its clock.
type Open func(t testing.TB, first Node, afterCommit func(what string)) Node

const (
	patience = 40 * time.Second
	pause    = 2 * time.Millisecond
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
	second := open(t, first, func(string) {})
	done, ended := make(chan error, 1), make(chan error, 1)
	go func() { done <- first.Run(ctx) }()
	after, end := context.WithCancel(context.WithoutCancel(t.Context()))
	defer end()
	go func() {
		select {
		case <-d.died:
			ended <- second.Run(after)
		case <-d.over:
			ended <- nil
		}
	}()
	play(t, s, fmt.Sprint("chat", at), first, second)
	close(d.over)
	cancel()
	end()
	require.NoError(t, errors.Join(<-done, <-ended))
	select {
	case <-d.died:
		return true
	default:
		return false
	}
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

// play has a contact follow the script.
func play(t testing.TB, s Script, chat string, first, second Node) {
	t.Helper()
	var want, or []string
	for _, step := range s.Steps {
		if step.Advance != "" {
			d, err := time.ParseDuration(step.Advance)
			require.NoError(t, err)
			first.Advance(t, d)
			first.Wake()
			second.Wake()
		}
		if step.Send != "" {
			first.Say(t, chat, step.Send)
			second.Wake()
		}
		if step.Event != "" {
			first.Publish(t, step.Event)
			second.Wake()
		}
		if step.Or == nil {
			step.Or = step.Expect
		}
		want, or = append(want, step.Expect...), append(or, step.Or...)
		var got []string
		require.Eventually(t, func() bool {
			got = first.Shows(t, chat)
			return len(got) >= len(want)
		}, patience, pause, "%v", want)
		for i := range want {
			require.Contains(t, []string{want[i], or[i]}, got[i], "in %s", chat)
		}
		require.Len(t, got, len(want), "in %s", chat)
	}
}
