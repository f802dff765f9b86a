package middleware_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

func TestClientOf_TrustsProxiesOnly(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:1234", "198.51.100.7", "192.0.2.1"},
		{"10.0.0.1:1234", "", "10.0.0.1"},
		{"10.0.0.1:1234", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1:1234", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"},
		{"10.0.0.1:1234", "nonsense", "10.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		require.Equal(t, c.want, middleware.ClientOf(r, trusted).String(), c.forwarded)
	}
}

func TestTokenLimits_BeginAnewAfterTheWindow(t *testing.T) {
	t.Parallel()
	var limits middleware.TokenLimits
	now := time.Unix(1_700_000_000, 0)
	require.Equal(t, 1, limits.Take("a", 2, now).Remaining)
	require.False(t, limits.Take("a", 2, now).Over)
	over := limits.Take("a", 2, now.Add(10*time.Second))
	require.True(t, over.Over)
	require.Equal(t, 50*time.Second, over.Reset)
	require.False(t, limits.Take("b", 2, now).Over)
	require.False(t, limits.Take("a", 2, now.Add(time.Minute)).Over)
}
