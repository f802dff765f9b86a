package database

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDueTiming(t *testing.T) {
	t.Parallel()
	var p dueTiming
	next := func() [2]time.Duration {
		wait, ahead := p.next()
		return [2]time.Duration{wait, ahead}
	}
	often, seldom := [2]time.Duration{dueInterval, 0}, [2]time.Duration{dueQuiet, dueAhead}
	for range dueLooks {
		require.Equal(t, often, next())
		p.looked(false)
	}
	require.Equal(t, seldom, next())
	p.looked(false)
	require.Equal(t, seldom, next())
	p.looked(true)
	require.Equal(t, often, next(), "something happened")
}

// TestTouch: what happens ends the wait of a quiet process, and does not wait for it.
func TestTouch(t *testing.T) {
	t.Parallel()
	a := dues{events: make(chan struct{}, 1)}
	a.touch()
	a.touch()
	happened, ok := a.await(t.Context(), time.Hour, true)
	require.True(t, happened && ok)
	require.True(t, a.active.Swap(false))
	a.touch()
	happened, ok = a.await(t.Context(), time.Microsecond, false)
	require.True(t, !happened && ok, "one that is not quiet looks soon anyway")
	d := DB{shared: &shared{dues: dues{events: make(chan struct{}, 1)}}}
	d.touch(Routine(t.Context()))
	require.False(t, d.dues.active.Load())
	d.touch(t.Context())
	require.True(t, d.dues.active.Load())
}

// TestReceive_Touches: what another node notifies ends the quiet of this one; what
// this node has sent comes back and does not.
func TestReceive_Touches(t *testing.T) {
	t.Parallel()
	n := 0
	b := bus{id: "me", touch: func() { n++ }}
	b.receive("me topic")
	require.Zero(t, n)
	b.receive("other topic")
	b.receive("") // the connection was lost: something may have been missed
	require.Equal(t, 2, n)
}
