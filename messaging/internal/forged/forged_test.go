package forged_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/internal/forged"
)

var (
	epoch    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stranger = netip.MustParseAddr("192.0.2.1")
	meta     = netip.MustParseAddr("2001:db8::1")
)

// hundred posts until it is refused, at most n times.
func hundred(l *forged.Limiter, from netip.Addr, bytes int64, n int, now time.Time) (taken int, wait time.Duration) {
	for taken < n {
		wait, ok := l.Take(from, bytes, now)
		if !ok {
			return taken, wait
		}
		taken++
	}
	return taken, 0
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	var l forged.Limiter
	taken, wait := hundred(&l, stranger, 4<<20, 1000, epoch)
	require.Equal(t, 8, taken, "few large bodies")
	require.Positive(t, wait)
	_, ok := l.Take(netip.MustParseAddr("::ffff:192.0.2.1"), 1, epoch)
	require.False(t, ok, "the same address in its other form")
	_, ok = l.Take(netip.MustParseAddr("192.0.2.2"), 1, epoch)
	require.True(t, ok, "another address")
	_, ok = l.Take(stranger, 1, epoch.Add(wait))
	require.True(t, ok)
	taken, _ = hundred(&l, netip.MustParseAddr("2001:db8:1::1"), 500, 1000, epoch)
	require.Equal(t, 1000, taken, "many small ones")
	taken, _ = hundred(&l, netip.MustParseAddr("2001:db8:1::ffff"), 500, 2000, epoch)
	require.Equal(t, 1000, taken, "of one /64")
}

// TestGood is a network, which also posts what is for references that are gone.
func TestGood(t *testing.T) {
	t.Parallel()
	var l forged.Limiter
	now := epoch
	for range 200 { // nine hundred a second, of which nine are good
		now = now.Add(10 * time.Millisecond)
		for i := range 100 {
			_, ok := l.Take(meta, 1000, now.Add(time.Duration(i)*100*time.Microsecond))
			require.True(t, ok)
			if i == 0 {
				l.Good(meta, 1000, now)
			}
		}
		now = now.Add(100 * time.Millisecond)
	}
	taken, _ := hundred(&l, meta, 4<<20, 10_000, now.Add(25*time.Hour))
	require.Equal(t, 8, taken, "not for ever")
	for range 10_000 {
		_, ok := l.Take(stranger, 1000, epoch)
		require.True(t, ok)
		l.Foreign(stranger, epoch)
	}
}

// TestWait_RestsAfterForgedBodies: large bodies of strangers are checked one
// after another, and after one that nobody signed there is a rest.
func TestWait_RestsAfterForgedBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l forged.Limiter
		started := time.Now()
		check := func(from netip.Addr, bytes int64, signed bool) time.Duration {
			done, err := l.Wait(t.Context(), from, bytes, time.Now())
			require.NoError(t, err)
			at := time.Since(started)
			<-time.After(20 * time.Millisecond) // what the check takes
			done(signed)
			return at
		}
		require.Zero(t, check(stranger, 4<<20, false))
		require.Equal(t, 20*time.Millisecond, check(stranger, 64<<10, false), "a small one does not wait")
		require.Equal(t, 200*time.Millisecond, check(stranger, 4<<20, true), "20 ms and a rest of 180")
		require.Equal(t, 220*time.Millisecond, check(meta, 4<<20, false), "no rest after a signed one")
		l.Good(meta, 1, time.Now())
		require.Equal(t, 240*time.Millisecond, check(meta, 4<<20, false), "whoever posted a signed one does not wait")
		require.Equal(t, 420*time.Millisecond, check(stranger, 4<<20, false))

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Wait(ctx, stranger, 4<<20, time.Now())
		require.ErrorIs(t, err, context.Canceled)
		<-time.After(time.Minute)
		require.Equal(t, time.Minute, check(stranger, 4<<20, false).Truncate(time.Minute), "the one that gave up holds no place")
	})
}

// TestWait_HoldsFewBodies: whoever waits holds a body in memory, so few may.
func TestWait_HoldsFewBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l forged.Limiter
		first, err := l.Wait(t.Context(), stranger, 4<<20, time.Now())
		require.NoError(t, err)
		checked := make(chan error)
		for range 16 {
			go func() {
				done, err := l.Wait(t.Context(), stranger, 4<<20, time.Now())
				if err == nil {
					done(true)
				}
				checked <- err
			}()
		}
		synctest.Wait()
		_, err = l.Wait(t.Context(), stranger, 4<<20, time.Now())
		require.ErrorIs(t, err, forged.ErrBusy, "at once, with 16 before it")
		done, err := l.Wait(t.Context(), stranger, 1<<10, time.Now())
		require.NoError(t, err, "a small one does not wait")
		done(false)
		first(true)
		for range 16 {
			require.NoError(t, <-checked)
		}
		done, err = l.Wait(t.Context(), stranger, 4<<20, time.Now())
		require.NoError(t, err, "all have left")
		done(true)
	})
}
