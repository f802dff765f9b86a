package groupcommit_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/groupcommit"
)

// TestReads reads keys of many callers at once, each key once.
func TestReads(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	var mu sync.Mutex
	var asked [][]int
	started, end := make(chan struct{}, 2), make(chan struct{})
	r := groupcommit.NewReads(func(_ context.Context, keys []int) (map[int]string, error) {
		mu.Lock()
		asked = append(asked, slices.Sorted(slices.Values(keys)))
		mu.Unlock()
		if keys[0] < 0 { // one of those that keep the reads busy
			started <- struct{}{}
			<-end
			return nil, errBroken
		}
		return map[int]string{1: "one", 2: "two"}, nil
	})
	var wg sync.WaitGroup
	for busy := range 2 {
		wg.Go(func() {
			_, found, err := r.Get(t.Context(), -1-busy)
			if !errors.Is(err, errBroken) || found {
				t.Error(found, err)
			}
		})
		<-started
	}
	want := map[int]string{1: "one", 2: "two", 3: ""}
	for range 5 {
		for key, value := range want {
			wg.Go(func() {
				got, found, err := r.Get(t.Context(), key)
				if err != nil || got != value || found != (value != "") {
					t.Error(key, got, found, err)
				}
			})
		}
	}
	for r.Waiting() < 15 {
		runtime.Gosched() // the callers are on their way
	}
	close(end)
	wg.Wait()
	require.Equal(t, []int{1, 2, 3}, asked[2], "what waited is read together, each key once")
}
