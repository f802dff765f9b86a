package auth_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

func TestLoginLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		other := setup(t, f.db, auth.Options{}, secret) // a second node counts the same
		for range 20 {
			_, err := login(t, f, "ana@example.org", password, home)
			require.NoError(t, err, "a success is no failure")
		}
		for i := range 10 {
			node := f
			if i%2 == 1 {
				node = other
			}
			_, err := login(t, node, "nobody@example.org", password, home)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		signUp(t, f, "ben@example.org")
		_, err := login(t, other, "ben@example.org", password, home)
		var limited *auth.RateLimited
		require.ErrorAs(t, err, &limited, "also with the right password")
		require.Equal(t, 15*time.Minute, limited.After)
		_, err = login(t, other, "ana@example.org", password, home)
		require.NoError(t, err, "she has logged in from there before")

		_, err = login(t, f, "ben@example.org", password, netip.MustParseAddr("192.0.2.2"))
		require.NoError(t, err, "another address")
		f.clock.move(15 * time.Minute)
		_, err = login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
	})
}

// TestLoginLimitTogether tries many passwords at once.
func TestLoginLimitTogether(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		const n = 14
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { _, errs[i] = login(t, f, "nobody@example.org", password, home) })
		}
		wg.Wait()
		tried := 0
		for _, err := range errs {
			var limited *auth.RateLimited
			if !isLimited(err, &limited) {
				require.ErrorIs(t, err, auth.ErrCredentials)
				tried++
			}
		}
		require.Equal(t, 10, tried)
	})
}

// TestEmailLimit attacks one e-mail from many addresses.
func TestEmailLimit(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	signedUp := netip.MustParseAddr("192.0.2.200")
	_, err := f.SignUp(t.Context(), auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: password, Address: signedUp})
	require.NoError(t, err)
	_, err = login(t, f, "ana@example.org", password, home)
	require.NoError(t, err)
	at := netip.MustParseAddr("198.51.100.1")
	for i := range 101 {
		_, err := login(t, f, "ana@example.org", "wrong password", at)
		require.ErrorIs(t, err, auth.ErrCredentials)
		if i%9 == 8 {
			at = at.Next()
		}
	}
	var limited *auth.RateLimited
	_, err = login(t, f, "ana@example.org", password, at.Next())
	require.ErrorAs(t, err, &limited)
	for _, known := range []netip.Addr{home, signedUp} {
		_, err = login(t, f, "ana@example.org", password, known)
		require.NoError(t, err, "from where she has logged in before")
	}
	f.clock.move(time.Hour)
	_, err = login(t, f, "ana@example.org", password, at.Next())
	require.NoError(t, err)
}

func TestPublicLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		for i := range 60 {
			q, err := f.TakePublic(t.Context(), home)
			require.NoError(t, err)
			require.Equal(t, auth.Quota{Limit: 60, Remaining: 59 - i, Reset: time.Minute}, q)
		}
		f.clock.move(20 * time.Second)
		q, err := f.TakePublic(t.Context(), home)
		require.NoError(t, err)
		require.Equal(t, auth.Quota{Limit: 60, Reset: 40 * time.Second, Over: true}, q)

		mapped := netip.MustParseAddr("::ffff:192.0.2.1")
		q, err = f.TakePublic(t.Context(), mapped)
		require.NoError(t, err)
		require.True(t, q.Over, "the same address in its other form")
		f.clock.move(time.Minute)
		q, err = f.TakePublic(t.Context(), home)
		require.NoError(t, err)
		require.False(t, q.Over)
	})
}

func TestLimitIPv6(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	for _, c := range []struct {
		address   string
		remaining int
	}{
		{"2001:db8::1", 59}, {"2001:db8::ffff:1%eth0", 58}, {"2001:db8:0:1::1", 59},
	} {
		q, err := f.TakePublic(t.Context(), netip.MustParseAddr(c.address))
		require.NoError(t, err)
		require.Equal(t, c.remaining, q.Remaining, c.address)
	}
}

func TestRunPurges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		_, err := f.TakePublic(t.Context(), home)
		require.NoError(t, err)
		f.clock.move(time.Hour)
		done := make(chan error)
		ctx, stop := cancellable(t)
		go func() { done <- f.Run(ctx) }()
		testkit.UntilCommitted(t, f.db, func() bool {
			var n int
			return f.db.Get(&n, `SELECT count(*) FROM auth_limit`) == nil && n == 0
		})
		stop()
		require.NoError(t, <-done)
	})
}
