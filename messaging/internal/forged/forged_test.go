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

// postUnsigned posts bodies without a valid signature until one is refused, at most n times.
func postUnsigned(l *forged.Limiter, from netip.Addr, bytes int64, n int, now time.Time) (taken int, wait time.Duration, err error) {
	for ; taken < n; taken++ {
		if wait, err = l.Take(from, bytes, now); err != nil {
			return taken, wait, err
		}
		l.Checked(from, bytes, now, forged.Unsigned)
	}
	return taken, 0, nil
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	var l forged.Limiter
	taken, wait, err := postUnsigned(&l, stranger, 4<<20, 1000, epoch)
	require.ErrorIs(t, err, forged.ErrForged)
	require.Equal(t, 8, taken, "few large bodies")
	require.Positive(t, wait)
	_, err = l.Take(netip.MustParseAddr("::ffff:192.0.2.1"), 1, epoch)
	require.ErrorIs(t, err, forged.ErrForged, "the same address in its other form")
	_, err = l.Take(netip.MustParseAddr("192.0.2.2"), 1, epoch)
	require.NoError(t, err, "another address")
	_, err = l.Take(stranger, 1, epoch.Add(wait))
	require.NoError(t, err)
	taken, _, err = postUnsigned(&l, netip.MustParseAddr("2001:db8:1::1"), 500, 1000, epoch)
	require.NoError(t, err)
	require.Equal(t, 1000, taken, "many small ones")
	taken, _, err = postUnsigned(&l, netip.MustParseAddr("2001:db8:1::ffff"), 500, 2000, epoch)
	require.ErrorIs(t, err, forged.ErrForged)
	require.Equal(t, 1000, taken, "of one /64")
}

// TestLimiter_UncheckedBodies of an address make others wait, and do not count against
// it: the signatures of none of them can be checked while the database is out of reach.
func TestLimiter_UncheckedBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		is   forged.Result
		then int // how many more bodies the address may post at once
	}{
		"unsigned":  {forged.Unsigned, 0},
		"unchecked": {forged.Unchecked, 2000},
		"foreign":   {forged.Foreign, 2000},
		"signed":    {forged.Signed, 200_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l forged.Limiter
			for range 2000 {
				_, err := l.Take(stranger, 500, epoch)
				require.NoError(t, err)
			}
			for range 1000 {
				wait, err := l.Take(stranger, 500, epoch)
				require.ErrorIs(t, err, forged.ErrBusy)
				require.Equal(t, forged.BusyWait, wait)
			}
			_, err := l.Take(meta, 500, epoch)
			require.NoError(t, err, "another address does not wait")
			for range 2000 {
				l.Checked(stranger, 500, epoch, c.is)
			}
			taken, _, err := postUnsigned(&l, stranger, 500, 300_000, epoch)
			require.ErrorIs(t, err, forged.ErrForged)
			require.Equal(t, c.then, taken)
		})
	}
}

// TestLimiter_Signed is a network, which also posts what is for references that are gone.
func TestLimiter_Signed(t *testing.T) {
	t.Parallel()
	var l forged.Limiter
	now := epoch
	for range 200 { // nine hundred a second, of which nine are signed
		now = now.Add(10 * time.Millisecond)
		for i := range 100 {
			at := now.Add(time.Duration(i) * 100 * time.Microsecond)
			_, err := l.Take(meta, 1000, at)
			require.NoError(t, err)
			is := forged.Unsigned
			if i == 0 {
				is = forged.Signed
			}
			l.Checked(meta, 1000, at, is)
		}
		now = now.Add(100 * time.Millisecond)
	}
	taken, _, _ := postUnsigned(&l, meta, 4<<20, 10_000, now.Add(25*time.Hour))
	require.Equal(t, 8, taken, "not for ever")
	for range 10_000 {
		_, err := l.Take(stranger, 1000, epoch)
		require.NoError(t, err)
		l.Checked(stranger, 1000, epoch, forged.Foreign)
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
		l.Checked(meta, 1, time.Now(), forged.Signed)
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
