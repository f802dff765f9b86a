package auth_test

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

func newToken(f fixture, ps ...auth.Permission) auth.NewToken {
	return auth.NewToken{Name: "Shop", Permissions: ps, ExpiresAt: f.clock.now().Add(24 * time.Hour)}
}

func TestScopedToken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		benUser, ben := member(t, f, boss, "ben@example.org", auth.ChatsRead, auth.ChatsSend, auth.UsageRead)
		id, token, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsSend, auth.ChatsRead))
		require.NoError(t, err)
		c := caller(t, f, token)
		require.Equal(t, []any{benUser.ID, boss.Account, id, true, false}, []any{c.User, c.Account, c.TokenID, c.Scoped, c.Owner})
		require.Equal(t, []auth.Permission{auth.ChatsRead, auth.ChatsSend}, c.Permissions)
		claims := jwt.MapClaims{}
		_, _, err = jwt.NewParser().ParseUnverified(token, claims)
		require.NoError(t, err)
		require.Equal(t, []any{"chats.read", "chats.send"}, claims["scp"])
		require.Equal(t, id, claims["jti"])

		listed, err := f.Tokens().List(t.Context(), ben, auth.List{})
		require.NoError(t, err)
		require.Len(t, listed.Items, 1)
		require.Equal(t, auth.Token{
			ID: id, Name: "Shop", Permissions: c.Permissions, ExpiresAt: f.clock.now().Add(24 * time.Hour).UTC(), CreatedAt: f.clock.now().UTC(),
		}, listed.Items[0])
		others, err := f.Tokens().List(t.Context(), boss, auth.List{})
		require.NoError(t, err)
		require.Empty(t, others.Items)

		_, err = f.Users().Update(t.Context(), boss, benUser.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead, auth.BotsManage}})
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{auth.ChatsRead}, caller(t, f, token).Permissions, "what he has of what it names")

		require.ErrorIs(t, f.Tokens().Revoke(t.Context(), boss, id), auth.ErrNotFound, "it is not hers")
		require.NoError(t, f.Tokens().Revoke(t.Context(), ben, id))
		_, err = f.Authenticate(t.Context(), token)
		require.ErrorIs(t, err, auth.ErrToken)
		require.ErrorIs(t, f.Tokens().Revoke(t.Context(), ben, id), auth.ErrNotFound)
	})
}

func TestScopedTokenEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		benUser, ben := member(t, f, boss, "ben@example.org", auth.ChatsRead)
		_, day, err := f.Tokens().Create(t.Context(), boss, newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		_, his, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead))
		require.NoError(t, err)
		caller(t, f, his)
		require.NoError(t, f.Users().Delete(t.Context(), boss, benUser.ID))
		_, err = f.Authenticate(t.Context(), his)
		require.ErrorIs(t, err, auth.ErrToken, "its owner is gone")
		f.clock.move(24*time.Hour - time.Second)
		caller(t, f, day)
		f.clock.move(time.Second)
		_, err = f.Authenticate(t.Context(), day)
		require.ErrorIs(t, err, auth.ErrToken)
		listed, err := f.Tokens().List(t.Context(), boss, auth.List{})
		require.NoError(t, err)
		require.Empty(t, listed.Items)
	})
}

func TestScopedTokenRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
	_, ben := member(t, f, boss, "ben@example.org", auth.ChatsRead)
	_, _, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead, auth.ChatsSend))
	require.ErrorIs(t, err, auth.ErrGrant)
	for field, change := range map[string]func(*auth.NewToken){
		"name":        func(n *auth.NewToken) { n.Name = " " },
		"permissions": func(n *auth.NewToken) { n.Permissions = nil },
		"expiresAt":   func(n *auth.NewToken) { n.ExpiresAt = f.clock.now() },
	} {
		n := newToken(f, auth.ChatsRead)
		change(&n)
		_, _, err := f.Tokens().Create(t.Context(), ben, n)
		var bad *auth.Invalid
		require.ErrorAs(t, err, &bad)
		require.Equal(t, field, bad.Field)
	}
	far := newToken(f, auth.ChatsRead)
	far.ExpiresAt = f.clock.now().Add(auth.MaxTokenTTL + time.Second)
	_, _, err = f.Tokens().Create(t.Context(), ben, far)
	require.ErrorAs(t, err, new(*auth.Invalid))
}
