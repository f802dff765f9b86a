package auth_test

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/auth"
)

// TestBruteForce tries 10,000 passwords from 1,000 addresses at once. As many
// are tried as the e-mail allows, and its owner gets in all the while, from
// where she has logged in before.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		const attempts, addresses, attackers = 10_000, 1_000, 16
		signUp(t, f, "ana@example.org")
		_, err := login(t, f, "ana@example.org", password, home)
		require.NoError(t, err)

		var next, tried, refused atomic.Int64
		attack := func() {
			for n := next.Add(1); n <= attempts; n = next.Add(1) {
				from := netip.AddrFrom4([4]byte{198, 18, byte(n % addresses / 250), byte(n % addresses % 250)})
				_, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: "wrong password", Address: from})
				switch {
				case errors.Is(err, auth.ErrCredentials):
					tried.Add(1)
				case errors.As(err, new(*auth.RateLimited)):
					refused.Add(1)
				}
			}
		}
		var wg sync.WaitGroup
		for range attackers {
			wg.Go(attack)
		}
		for next.Load() < attempts {
			_, err := login(t, f, "ana@example.org", password, home)
			require.NoError(t, err, "after %d attempts", next.Load())
		}
		wg.Wait()
		require.Equal(t, int64(attempts), tried.Load()+refused.Load())
		// An attempt of her own counts as long as it runs.
		require.Contains(t, []int64{100, 101}, tried.Load(), "so many passwords were tried")
		_, err = login(t, f, "ana@example.org", password, netip.MustParseAddr("203.0.113.1"))
		require.ErrorAs(t, err, new(*auth.RateLimited))
		f.clock.move(time.Hour)
		_, err = login(t, f, "ana@example.org", password, netip.MustParseAddr("203.0.113.1"))
		require.NoError(t, err)
	})
}

// TestLoginTiming reports how long a refusal takes when there is no such user,
// and when the password is wrong. It says, and proves nothing: a busy machine
// would.
func TestLoginTiming(t *testing.T) {
	t.Parallel()
	db := migrated(t)
	s, err := auth.New(t.Context(), db, &auth.Options{Secrets: []string{secret}})
	require.NoError(t, err)
	f := fixture{s, db, nil}
	signUp(t, f, "ana@example.org")
	elapsed := map[string][]time.Duration{}
	from := netip.MustParseAddr("198.18.0.1")
	emails := []string{"ana@example.org", "nobody@example.org"}
	for range testkit.Rounds(10) {
		slices.Reverse(emails)
		for _, email := range emails {
			from = from.Next()
			start := time.Now()
			_, err := login(t, f, email, "wrong password", from)
			elapsed[email] = append(elapsed[email], time.Since(start))
			require.Error(t, err)
		}
	}
	for _, email := range emails {
		ds := elapsed[email]
		slices.Sort(ds)
		t.Logf("%-20s n=%d quartiles %s %s %s", email, len(ds), ds[len(ds)/4], ds[len(ds)/2], ds[len(ds)*3/4])
	}
}
