package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// caller is who has a token.
func caller(t *testing.T, f fixture, token string) auth.Caller {
	t.Helper()
	c, err := f.Authenticate(t.Context(), token)
	require.NoError(t, err)
	return c
}

// member adds a user to an account and logs him in.
func member(t *testing.T, f fixture, by auth.Caller, email string, ps ...auth.Permission) (auth.User, auth.Caller) {
	t.Helper()
	u, err := f.Users().Create(t.Context(), by, auth.NewUser{Email: email, Name: "Member", Password: password}, ps)
	require.NoError(t, err)
	s, err := login(t, f, email, password, home)
	require.NoError(t, err)
	return u, caller(t, f, s.Token)
}

func TestUsers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := signUp(t, f, "ana@example.org")
		by := caller(t, f, ana.Token)
		ben, _ := member(t, f, by, "Ben@example.org", auth.ChatsSend, auth.ChatsRead, auth.ChatsSend)
		require.Equal(t, "ben@example.org", ben.Email)
		require.Equal(t, by.Account, ben.AccountID)
		require.Equal(t, []auth.Permission{auth.ChatsRead, auth.ChatsSend}, ben.Permissions)
		_, err := f.Users().Create(t.Context(), by, auth.NewUser{Email: "BEN@example.org", Name: "B", Password: password}, nil)
		require.ErrorIs(t, err, auth.ErrEmailTaken)
		cleo, none := member(t, f, by, "cleo@example.org")
		require.Empty(t, none.Permissions)
		signUp(t, f, "other@example.org")

		first, err := f.Users().List(t.Context(), by.Account, auth.List{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, []auth.User{ana.User, ben}, first.Items)
		rest, err := f.Users().List(t.Context(), by.Account, auth.List{Limit: 2, Cursor: first.Next})
		require.NoError(t, err)
		require.Equal(t, auth.Page[auth.User]{Items: []auth.User{cleo}}, rest)
		for _, l := range []auth.List{{Limit: -1}, {Cursor: "!"}, {Cursor: "AAAA"}, {Cursor: "-1"}} {
			_, err := f.Users().List(t.Context(), by.Account, l)
			require.ErrorAs(t, err, new(*auth.Invalid))
		}

		require.NoError(t, f.Users().Delete(t.Context(), by, ben.ID))
		require.ErrorIs(t, f.Users().Delete(t.Context(), by, ben.ID), auth.ErrNotFound)
		_, err = login(t, f, "ben@example.org", password, home)
		require.ErrorIs(t, err, auth.ErrCredentials)
	})
}

// TestGrants has people give what they have and what they lack.
func TestGrants(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := signUp(t, f, "ana@example.org")
		boss := caller(t, f, ana.Token)
		benUser, ben := member(t, f, boss, "ben@example.org", auth.UsersManage, auth.ChatsRead)
		cleoUser, cleo := member(t, f, boss, "cleo@example.org", auth.ChatsRead)
		update := func(by auth.Caller, id string, ch auth.UserChange) error {
			_, err := f.Users().Update(t.Context(), by, id, ch)
			return err
		}
		grant := func(ps ...auth.Permission) auth.UserChange {
			return auth.UserChange{Permissions: append([]auth.Permission{}, ps...)}
		}
		name, email, pass := "New name", "new@example.org", "another password"

		_, err := f.Users().Create(t.Context(), ben, auth.NewUser{Email: "d@example.org", Name: "D", Password: password}, []auth.Permission{auth.ChatsSend})
		require.ErrorIs(t, err, auth.ErrGrant)
		require.ErrorIs(t, update(ben, cleoUser.ID, grant(auth.ChatsRead, auth.ChatsSend)), auth.ErrGrant)
		require.ErrorIs(t, update(ben, benUser.ID, grant(auth.UsersManage, auth.ChatsSend)), auth.ErrGrant, "nor to himself")
		require.NoError(t, update(ben, cleoUser.ID, auth.UserChange{Password: &pass}))
		require.NoError(t, update(ben, cleoUser.ID, grant()))
		require.NoError(t, update(ben, cleoUser.ID, grant(auth.ChatsRead)))
		require.NoError(t, update(ben, cleoUser.ID, auth.UserChange{Email: &email}))
		require.NoError(t, update(boss, benUser.ID, grant(auth.UsersManage, auth.ChatsSend)))
		require.NoError(t, update(boss, benUser.ID, grant(auth.UsersManage)), "what he has may stay")

		require.ErrorIs(t, update(cleo, boss.User, auth.UserChange{Name: &name}), auth.ErrForbidden)
		require.ErrorIs(t, update(cleo, "nobody", auth.UserChange{Name: &name}), auth.ErrForbidden, "before it is looked for")
		require.ErrorIs(t, update(cleo, cleo.User, grant()), auth.ErrForbidden)
		require.NoError(t, update(cleo, cleo.User, auth.UserChange{Name: &name}))
		other := caller(t, f, signUp(t, f, "other@example.org").Token)
		require.ErrorIs(t, update(other, boss.User, auth.UserChange{Name: &name}), auth.ErrNotFound)
		require.ErrorIs(t, f.Users().Delete(t.Context(), other, boss.User), auth.ErrNotFound)
		require.ErrorAs(t, update(boss, cleoUser.ID, grant("chats.fly")), new(*auth.Invalid))
		taken := "ben@example.org"
		require.ErrorIs(t, update(boss, cleoUser.ID, auth.UserChange{Email: &taken}), auth.ErrEmailTaken)
	})
}

// TestOwnPassword changes a password: it takes the old one, and ends what it
// had opened.
func TestOwnPassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s := signUp(t, f, "ana@example.org")
		by := caller(t, f, s.Token)
		_, program, err := f.Tokens().Create(t.Context(), by, auth.NewToken{Name: "p", Permissions: []auth.Permission{auth.ChatsRead}, ExpiresAt: f.clock.now().Add(time.Hour)})
		require.NoError(t, err)
		browser, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Cookie: true})
		require.NoError(t, err)
		pass, email := "another password", "ana@example.com"
		change := func(current string, ch auth.UserChange) error {
			ch.CurrentPassword, ch.Address = current, home
			_, err := f.Users().Update(t.Context(), by, by.User, ch)
			return err
		}
		for _, current := range []string{"", "wrong password"} {
			for _, ch := range []auth.UserChange{{Password: &pass}, {Email: &email}} {
				var bad *auth.Invalid
				require.ErrorAs(t, change(current, ch), &bad)
				require.Equal(t, "currentPassword", bad.Field)
			}
		}
		require.NoError(t, change(password, auth.UserChange{Email: &email}))
		caller(t, f, program)
		_, err = f.AuthenticateCookie(t.Context(), browser.Cookie)
		require.NoError(t, err, "a new e-mail ends nothing")

		require.NoError(t, change(password, auth.UserChange{Password: &pass}))
		for _, token := range []string{s.Token, program, browser.Token} {
			_, err := f.Authenticate(t.Context(), token)
			require.ErrorIs(t, err, auth.ErrToken)
		}
		_, err = f.AuthenticateCookie(t.Context(), browser.Cookie)
		require.ErrorIs(t, err, auth.ErrToken)
		_, err = login(t, f, email, password, home)
		require.ErrorIs(t, err, auth.ErrCredentials)
		s, err = login(t, f, email, pass, home)
		require.NoError(t, err)

		by = caller(t, f, s.Token)
		var limited *auth.RateLimited
		for range 10 { // a stolen token does not help to guess
			if err = change("wrong password", auth.UserChange{Password: &pass}); isLimited(err, &limited) {
				break
			}
		}
		require.ErrorAs(t, change(pass, auth.UserChange{Password: &pass}), &limited)
	})
}
