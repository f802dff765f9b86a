package groupcommit_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/groupcommit"
)

var errOdd = errors.New("odd")

// TestDo gives every call its own result, whichever batch it was in.
func TestDo(t *testing.T) {
	t.Parallel()
	for _, tokens := range []int{1, 3} {
		var batches, largest atomic.Int32
		g := groupcommit.Group[int]{Gate: make(chan struct{}, tokens), Limit: 10, Run: func(_ context.Context, items []int) []error {
			batches.Add(1)
			largest.Store(max(largest.Load(), int32(len(items))))
			errs := make([]error, len(items))
			for i, n := range items {
				if n%2 == 1 {
					errs[i] = errOdd
				}
			}
			return errs
		}}
		for range tokens {
			g.Gate <- struct{}{}
		}
		var wg sync.WaitGroup
		for n := range 500 {
			wg.Go(func() {
				err := g.Do(t.Context(), n)
				if (n%2 == 1) != errors.Is(err, errOdd) {
					t.Errorf("%d: %v", n, err)
				}
			})
		}
		for range tokens {
			<-g.Gate
		}
		wg.Wait()
		require.LessOrEqual(t, largest.Load(), int32(10))
		require.GreaterOrEqual(t, batches.Load(), int32(50))
		require.Empty(t, g.Gate)
	}
}

// TestDoCancelled gives up before a batch has the call, and not after.
func TestDoCancelled(t *testing.T) {
	t.Parallel()
	var seen []int
	started, end := make(chan struct{}), make(chan struct{})
	g := groupcommit.Group[int]{Gate: make(chan struct{}, 1), Run: func(ctx context.Context, items []int) []error {
		seen = append(seen, items...)
		if slices.Contains(items, 1) {
			close(started)
			<-end
		}
		return make([]error, len(items))
	}}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() { first <- g.Do(ctx, 1) }()
	<-started
	second := make(chan error)
	go func() { second <- g.Do(ctx, 2) }()
	cancel()
	require.ErrorIs(t, <-second, context.Canceled)
	require.ErrorIs(t, g.Do(ctx, 3), context.Canceled)
	close(end)
	require.NoError(t, <-first, "it was under way")
	require.NoError(t, g.Do(t.Context(), 4))
	require.Equal(t, []int{1, 4}, seen)
}

// TestDoSurvivesPanic has Run panic in the hands of one caller while another
// waits: neither blocks those after them.
func TestDoSurvivesPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started, gathered := make(chan struct{}), make(chan struct{})
		var batches atomic.Int32
		g := groupcommit.Group[int]{Gate: make(chan struct{}, 1), Run: func(_ context.Context, items []int) []error {
			switch batches.Add(1) {
			case 1:
				close(started)
				<-gathered
			case 2:
				panic("at the disk")
			}
			return make([]error, len(items))
		}}
		first := make(chan error)
		go func() { first <- g.Do(t.Context(), 1) }()
		<-started
		results := make(chan any, 2)
		for n := range 2 {
			go func() {
				defer func() {
					if v := recover(); v != nil {
						results <- v
					}
				}()
				results <- g.Do(t.Context(), n)
			}()
		}
		synctest.Wait()
		require.Equal(t, 2, g.Waiting())
		close(gathered)
		require.NoError(t, <-first)
		require.ElementsMatch(t, []any{"at the disk", groupcommit.ErrPanicked}, []any{<-results, <-results})
		require.NoError(t, g.Do(t.Context(), 3))
	})
}

// TestLetsGo: an idle group holds on to nothing of the calls that were.
func TestLetsGo(t *testing.T) {
	t.Parallel()
	type large [1 << 10]byte
	g := groupcommit.Group[*large]{Gate: make(chan struct{}, 1), Run: func(_ context.Context, items []*large) []error {
		return make([]error, len(items))
	}}
	call := func() (stored func() bool) {
		item := new(large)
		require.NoError(t, g.Do(t.Context(), item))
		was := weak.Make(item)
		return func() bool { return was.Value() != nil }
	}
	stored := call()
	runtime.GC()
	require.False(t, stored())
	runtime.KeepAlive(&g)
}
