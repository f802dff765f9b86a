package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

func browse(t *testing.T, f fixture, email string) string {
	t.Helper()
	s, err := f.Login(t.Context(), auth.Credentials{Email: email, Password: password, Address: home, Cookie: true})
	require.NoError(t, err)
	require.NotEmpty(t, s.Cookie)
	return s.Cookie
}

func TestCookie(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		up, err := f.SignUp(t.Context(), auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: password, Cookie: true})
		require.NoError(t, err)
		s := signUp(t, f, "ben@example.org")
		require.Empty(t, s.Cookie, "none was wanted")
		one, two := up.Cookie, browse(t, f, "ana@example.org")
		require.NotEqual(t, one, two)
		c, err := f.AuthenticateCookie(t.Context(), one)
		require.NoError(t, err)
		require.Equal(t, up.User.ID, c.User)
		require.Equal(t, up.User.AccountID, c.Account)
		require.True(t, c.Cookie)
		require.False(t, c.Scoped)
		require.True(t, c.Can(auth.UsersManage))
		var stored []string
		require.NoError(t, f.db.Select(&stored, `SELECT cookie FROM auth_session WHERE kind = 'cookie'`))
		require.Len(t, stored, 2)
		require.NotContains(t, stored, one, "kept hashed")

		require.NoError(t, f.Sessions().EndCookie(t.Context(), one))
		require.NoError(t, f.Sessions().EndCookie(t.Context(), one), "it may be repeated")
		for _, value := range []string{one, "", "x", two + "x", up.Token, c.TokenID} {
			_, err := f.AuthenticateCookie(t.Context(), value)
			require.ErrorIs(t, err, auth.ErrToken)
			_, err = f.Authenticate(t.Context(), two)
			require.ErrorIs(t, err, auth.ErrToken, "a cookie is no token")
		}
		_, err = f.AuthenticateCookie(t.Context(), two)
		require.NoError(t, err, "the other browser")
	})
}

// request is a request with a cookie.
func request(t *testing.T, f fixture, value string) error {
	t.Helper()
	c, err := f.AuthenticateCookie(t.Context(), value)
	if err == nil {
		f.Sessions().Seen(t.Context(), c, auth.Client{Address: home})
	}
	return err
}

// TestCookieSlides lets a session lie still, and continue for too long.
func TestCookieSlides(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "ana@example.org")
		other := setup(t, f.db, auth.Options{}, secret)
		move := func(d time.Duration) { f.clock.move(d); other.clock.move(d) }
		value, idle := browse(t, f, "ana@example.org"), browse(t, f, "ana@example.org")
		nodes, i := []fixture{f, other}, 0
		for left := auth.CookieTTL; left > 0; left -= 10 * time.Hour {
			require.NoError(t, request(t, nodes[i%2], value), "%s are left", left)
			i++
			move(10 * time.Hour)
		}
		_, err := f.AuthenticateCookie(t.Context(), value)
		require.ErrorIs(t, err, auth.ErrToken, "seven days are over")
		_, err = f.AuthenticateCookie(t.Context(), idle)
		require.ErrorIs(t, err, auth.ErrToken)

		value = browse(t, f, "ana@example.org")
		move(auth.CookieIdle - time.Second)
		require.NoError(t, request(t, f, value))
		move(auth.CookieIdle - time.Second)
		require.NoError(t, request(t, f, value), "twelve hours from the last request")
		move(auth.CookieIdle)
		_, err = f.AuthenticateCookie(t.Context(), value)
		require.ErrorIs(t, err, auth.ErrToken)
	})
}
