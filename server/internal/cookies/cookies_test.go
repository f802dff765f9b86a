package cookies_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
)

func TestJar_HostPrefixNeedsHTTPS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, name string
		secure     bool
	}{{"https://chat.example.org", "__Host-trunkline", true}, {"http://localhost:3000", "trunkline", false}} {
		jar := cookies.Jar{BaseURL: c.base}
		made := jar.New("value")
		require.Equal(t, c.name, made.Name)
		require.Equal(t, c.secure, made.Secure)
		require.True(t, made.HttpOnly)
		require.Positive(t, made.MaxAge)
		ended := jar.New("")
		require.Negative(t, ended.MaxAge)
	}
}

func TestJar_SessionWithoutCookieSetsNone(t *testing.T) {
	t.Parallel()
	jar := cookies.Jar{BaseURL: "https://chat.example.org"}
	require.Empty(t, jar.Session(auth.Session{Token: "t"}))
	both := jar.Session(auth.Session{Cookie: "c", Device: "d"})
	require.Len(t, both, 2)
	require.Equal(t, "c", both[0].Value)
	require.Equal(t, jar.DeviceName(), both[1].Name)
	require.Equal(t, "d", both[1].Value)
}
