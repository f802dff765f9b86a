package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// TestNodes makes changes on one node that another has to see with the next
// request, although it has just let the same callers in.
func TestNodes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		other := setup(t, f.db, auth.Options{}, secret)
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		benUser, ben := member(t, f, boss, "ben@example.org", auth.ChatsRead, auth.ChatsSend)
		s, err := login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
		cookie := browse(t, f, "ben@example.org")
		id, token, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsSend))
		require.NoError(t, err)
		permissions := func(token string) []auth.Permission {
			c, err := other.Authenticate(t.Context(), token)
			if err != nil {
				require.ErrorIs(t, err, auth.ErrToken)
				return nil
			}
			return c.Permissions
		}
		byCookie := func() error {
			_, err := other.AuthenticateCookie(t.Context(), cookie)
			return err
		}
		require.Equal(t, []auth.Permission{auth.ChatsRead, auth.ChatsSend}, permissions(s.Token))
		require.Equal(t, []auth.Permission{auth.ChatsSend}, permissions(token))
		require.NoError(t, byCookie())

		_, err = f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead}})
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{auth.ChatsRead}, permissions(s.Token), "a change of rights")
		require.Empty(t, permissions(token))

		require.NoError(t, f.Tokens().Revoke(t.Context(), ben, id))
		require.Nil(t, permissions(token), "a revocation")

		_, fresh, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		require.NotNil(t, permissions(fresh))
		pass := "another password"
		_, err = f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Password: &pass})
		require.NoError(t, err)
		require.Nil(t, permissions(s.Token), "a new password")
		require.Nil(t, permissions(fresh))
		require.ErrorIs(t, byCookie(), auth.ErrToken)

		s, err = login(t, f, "ben@example.org", pass, home)
		require.NoError(t, err)
		up, err := f.Login(t.Context(), auth.Credentials{Email: "ben@example.org", Password: pass, Address: home, Cookie: true})
		require.NoError(t, err)
		cookie = up.Cookie
		require.NoError(t, byCookie())
		require.NoError(t, f.Sessions().EndCookie(t.Context(), cookie))
		require.ErrorIs(t, byCookie(), auth.ErrToken, "a log-out")
		require.NotNil(t, permissions(s.Token))
		require.NoError(t, f.Users().Delete(t.Context(), boss, benUser.ID))
		require.Nil(t, permissions(s.Token), "a deletion")
	})
}
