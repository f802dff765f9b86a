package auth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/auth"
)

// TestVerifiedToken_EndsAtOnce ends tokens that two nodes have verified. Both must
// refuse them with the next request.
func TestVerifiedToken_EndsAtOnce(t *testing.T) {
	t.Parallel()
	disabled, word := true, "battery staple"
	for name, end := range map[string]func(t *testing.T, f fixture, boss, ben auth.Caller){
		"log-out": func(t *testing.T, f fixture, _, ben auth.Caller) {
			require.NoError(t, f.Sessions().End(t.Context(), ben))
		},
		"revoked": func(t *testing.T, f fixture, boss, ben auth.Caller) {
			require.NoError(t, f.Sessions().Revoke(t.Context(), boss, ben.TokenID))
		},
		"all revoked": func(t *testing.T, f fixture, boss, ben auth.Caller) {
			require.NoError(t, f.Sessions().RevokeAll(t.Context(), boss, ben.User))
		},
		"user deleted": func(t *testing.T, f fixture, boss, ben auth.Caller) {
			require.NoError(t, f.Users().Delete(t.Context(), boss, ben.User))
		},
		"user disabled": func(t *testing.T, f fixture, boss, ben auth.Caller) {
			_, err := f.Users().Update(t.Context(), boss, ben.User, auth.UserChange{Disabled: &disabled})
			require.NoError(t, err)
		},
		"new password": func(t *testing.T, f fixture, boss, ben auth.Caller) {
			_, err := f.Users().Update(t.Context(), boss, ben.User, auth.UserChange{Password: &word})
			require.NoError(t, err)
		},
		"account closed": func(t *testing.T, f fixture, boss, _ auth.Caller) {
			require.NoError(t, f.Accounts().Close(t.Context(), boss.Account, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, migrated(t), auth.Options{}, secret)
			other := setup(t, f.db, auth.Options{}, secret)
			boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
			member(t, f, boss, "ben@example.org", auth.ChatsRead)
			s, err := login(t, f, "ben@example.org", password, home)
			require.NoError(t, err)
			for range 2 {
				caller(t, f, s.Token)
				caller(t, other, s.Token)
			}
			end(t, f, boss, caller(t, f, s.Token))
			for _, node := range []fixture{f, other} {
				_, err := node.Authenticate(t.Context(), s.Token)
				require.ErrorIs(t, err, auth.ErrToken)
			}
		})
	}
}

// TestVerifiedToken_HasCurrentRights changes the rights of a user whose token and
// scoped token two nodes have verified.
func TestVerifiedToken_HasCurrentRights(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		other := setup(t, f.db, auth.Options{}, secret)
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		user, ben := member(t, f, boss, "ben@example.org", auth.ChatsRead, auth.ChatsSend)
		s, err := login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
		id, scoped, err := f.Tokens().Create(t.Context(), ben, newToken(f, auth.ChatsRead, auth.ChatsSend))
		require.NoError(t, err)
		for _, token := range []string{s.Token, scoped} {
			require.True(t, caller(t, f, token).Can(auth.ChatsSend))
			require.True(t, caller(t, other, token).Can(auth.ChatsSend))
		}
		_, err = f.Users().Update(t.Context(), boss, user.ID, auth.UserChange{Permissions: []auth.Permission{auth.ChatsRead}})
		require.NoError(t, err)
		for _, token := range []string{s.Token, scoped} {
			require.Equal(t, []auth.Permission{auth.ChatsRead}, caller(t, f, token).Permissions)
			require.Equal(t, []auth.Permission{auth.ChatsRead}, caller(t, other, token).Permissions)
		}
		require.NoError(t, f.Tokens().Revoke(t.Context(), ben, id))
		for _, node := range []fixture{f, other} {
			_, err := node.Authenticate(t.Context(), scoped)
			require.ErrorIs(t, err, auth.ErrToken)
		}
	})
}

// TestVerifiedToken_Expires moves the clock to the second in which a verified token
// expires. Its session alone would still be valid.
func TestVerifiedToken_Expires(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	token := signUp(t, f, "ana@example.org").Token
	caller(t, f, token)
	require.Equal(t, 1, f.VerifiedTokens())
	f.db.MustExec(`UPDATE auth_session SET expires_us = expires_us * 2`)
	f.clock.move(auth.TokenTTL - time.Second)
	caller(t, f, token)
	f.clock.move(time.Second)
	_, err := f.Authenticate(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrToken)
	require.Zero(t, f.VerifiedTokens())
}

// TestVerifiedToken_IsExact changes a verified token and the keys of the server.
func TestVerifiedToken_IsExact(t *testing.T) {
	t.Parallel()
	const next = "another secret for tests of 32 bytes and more"
	f := setup(t, migrated(t), auth.Options{}, secret)
	token := signUp(t, f, "ana@example.org").Token
	caller(t, f, token)
	dot := strings.LastIndexByte(token, '.')
	for _, changed := range []string{token + " ", token + "=", token[:dot+1], token[:dot+1] + strings.ToUpper(token[dot+1:]), "x" + token[1:]} {
		_, err := f.Authenticate(t.Context(), changed)
		require.ErrorIs(t, err, auth.ErrToken, changed)
	}
	require.Equal(t, 1, f.VerifiedTokens(), "refused tokens are not remembered")
	caller(t, setup(t, f.db, auth.Options{}, next, secret), token)
	_, err := setup(t, f.db, auth.Options{}, next).Authenticate(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrToken, "its key is gone")
}

// TestVerifiedTokens_AreBounded shows more valid tokens than a node remembers.
func TestVerifiedTokens_AreBounded(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	first := signUp(t, f, "ana@example.org").Token
	claims := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(first, claims)
	require.NoError(t, err)
	keys, err := keyring.New("auth", []string{secret})
	require.NoError(t, err)
	largest := 0
	for i := range auth.MaxVerified + 10 {
		claims["iat"] = i
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(keys.Keys("jwt")[0])
		require.NoError(t, err)
		caller(t, f, token)
		largest = max(largest, f.VerifiedTokens())
	}
	require.Equal(t, auth.MaxVerified, largest)
	caller(t, f, first)
}
