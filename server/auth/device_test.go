package auth_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// from is a login in a browser.
func from(t *testing.T, f fixture, email, pass, device string, at netip.Addr) (auth.Session, error) {
	t.Helper()
	return f.Login(t.Context(), auth.Credentials{Email: email, Password: pass, Address: at, Cookie: true, Device: device})
}

// TestLogin_KnownDeviceIsNotLockedOut has an attacker at the address of the
// user, as behind one NAT or a proxy that is not trusted.
func TestLogin_KnownDeviceIsNotLockedOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		s, err := from(t, f, "ana@example.org", password, "", home)
		require.NoError(t, err)
		require.NotEmpty(t, s.Device)
		for range 10 {
			_, err := login(t, f, "ana@example.org", "wrong password", home)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		_, err = login(t, f, "ana@example.org", password, home)
		var limited *auth.RateLimited
		require.ErrorAs(t, err, &limited, "the attacker has no further guess")
		require.Equal(t, 15*time.Minute, limited.After)
		for _, at := range []netip.Addr{home, netip.MustParseAddr("198.51.100.7")} {
			_, err = from(t, f, "ana@example.org", password, s.Device, at)
			require.NoError(t, err, "from a known device")
		}
		other := setup(t, f.db, auth.Options{}, "another secret, newer, of 32 bytes and more", secret)
		_, err = from(t, other, "ana@example.org", password, s.Device, home)
		require.NoError(t, err, "while the secret is replaced")
	})
}

// TestLogin_KnownDeviceGuessesNoMore limits who has got hold of a device.
func TestLogin_KnownDeviceGuessesNoMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		signUp(t, f, "ben@example.org")
		s, err := from(t, f, "ana@example.org", password, "", home)
		require.NoError(t, err)
		for range 10 {
			_, err := from(t, f, "ana@example.org", "wrong password", s.Device, home)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		_, err = from(t, f, "ana@example.org", password, s.Device, home)
		require.ErrorAs(t, err, new(*auth.RateLimited))
		_, err = login(t, f, "ana@example.org", password, home)
		require.NoError(t, err, "others are not kept out by it")
	})
}

// TestLogin_DeviceOfOthers takes a device for nobody but its users.
func TestLogin_DeviceOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		signUp(t, f, "ben@example.org")
		ben, err := from(t, f, "ben@example.org", password, "", home)
		require.NoError(t, err)
		at := netip.MustParseAddr("198.51.100.1")
		for range 10 {
			_, err := from(t, f, "ana@example.org", "wrong password", ben.Device, at)
			require.ErrorIs(t, err, auth.ErrCredentials)
		}
		for _, device := range []string{ben.Device, ben.Device + ".AAAA", "x", ".", strings.Repeat("a.", 2000)} {
			_, err = from(t, f, "ana@example.org", password, device, at)
			require.ErrorAs(t, err, new(*auth.RateLimited), "it is Ben's: %.20s", device)
		}
		both, err := from(t, f, "ana@example.org", password, ben.Device, home)
		require.NoError(t, err)
		require.NotEqual(t, ben.Device, both.Device)
		for _, email := range []string{"ana@example.org", "ben@example.org"} {
			_, err = from(t, f, email, password, both.Device, at)
			require.NoError(t, err, "both use this browser")
		}
		plain, err := login(t, f, "ana@example.org", password, home)
		require.NoError(t, err)
		require.Empty(t, plain.Device, "a program has no use for it")
	})
}
