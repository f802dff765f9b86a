package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

func operator(t *testing.T, f fixture) *auth.Operator {
	t.Helper()
	o, err := auth.NewOperator(t.Context(), f.db)
	require.NoError(t, err)
	return o
}

func TestOperatorCreates(t *testing.T) {
	t.Parallel()
	eachWith(t, auth.Options{Closed: true}, func(t *testing.T, f fixture) {
		o := operator(t, f)
		ana, err := o.Create(t.Context(), "", auth.NewUser{Email: "Ana@example.org", Name: "Ana", Password: password}, nil)
		require.NoError(t, err)
		require.Equal(t, auth.AllPermissions(), ana.Permissions)
		other, err := o.Create(t.Context(), "", auth.NewUser{Email: "cleo@example.org", Name: "Cleo", Password: password}, nil)
		require.NoError(t, err, "the operator is not kept out")
		require.NotEqual(t, ana.AccountID, other.AccountID)
		ben, err := o.Create(t.Context(), ana.AccountID, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password},
			[]auth.Permission{auth.ChatsRead})
		require.NoError(t, err)
		require.Equal(t, ana.AccountID, ben.AccountID)
		got, err := login(t, f, "ben@example.org", password, home)
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{auth.ChatsRead}, got.User.Permissions)

		users, err := o.Users(t.Context())
		require.NoError(t, err)
		require.Equal(t, []auth.User{ana, other, ben}, users)
	})
}

func TestOperatorIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		o := operator(t, f)
		signUp(t, f, "ana@example.org")
		create := func(account, email, name, pass string, ps ...auth.Permission) error {
			_, err := o.Create(t.Context(), account, auth.NewUser{Email: email, Name: name, Password: pass}, ps)
			return err
		}
		var bad *auth.Invalid
		for field, err := range map[string]error{
			"email":       create("", "ana", "Ana", password),
			"name":        create("", "ben@example.org", "", password),
			"password":    create("", "ben@example.org", "Ben", "short"),
			"permissions": create("", "ben@example.org", "Ben", password, "everything"),
			"account":     create("", "ben@example.org", "Ben", password, auth.ChatsRead),
		} {
			require.ErrorAs(t, err, &bad)
			require.Equal(t, field, bad.Field)
		}
		require.ErrorIs(t, create("", "ana@example.org", "Ana", password), auth.ErrEmailTaken)
		require.ErrorIs(t, create("nobody", "ben@example.org", "Ben", password), auth.ErrNotFound)
		require.ErrorIs(t, o.SetPassword(t.Context(), "ben@example.org", password), auth.ErrNotFound)
		require.ErrorAs(t, o.SetPassword(t.Context(), "ana@example.org", "short"), &bad)
		require.ErrorIs(t, o.SetDisabled(t.Context(), "ben@example.org", true), auth.ErrNotFound)
	})
}

func TestOperatorSetsPassword(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		o := operator(t, f)
		ana := signUp(t, f, "ana@example.org")
		require.NoError(t, o.SetPassword(t.Context(), "Ana@example.org", "another password"))
		_, err := login(t, f, "ana@example.org", password, home)
		require.ErrorIs(t, err, auth.ErrCredentials)
		_, err = login(t, f, "ana@example.org", "another password", home)
		require.NoError(t, err)
		_, err = f.Authenticate(t.Context(), ana.Token)
		require.ErrorIs(t, err, auth.ErrToken)
	})
}

// TestDisabled keeps a user out, and whatever he had: it counts again once he
// is enabled.
func TestDisabled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		o := operator(t, f)
		ana := signUp(t, f, "ana@example.org")
		cookie, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Cookie: true})
		require.NoError(t, err)
		caller, err := f.Authenticate(t.Context(), ana.Token)
		require.NoError(t, err)
		_, scoped, err := f.Tokens().Create(t.Context(), caller, auth.NewToken{
			Name: "CRM", Permissions: []auth.Permission{auth.ChatsRead}, ExpiresAt: f.clock.now().Add(time.Hour),
		})
		require.NoError(t, err)

		require.NoError(t, o.SetDisabled(t.Context(), "ana@example.org", true))
		require.NoError(t, o.SetDisabled(t.Context(), "ana@example.org", true), "again")
		_, err = login(t, f, "ana@example.org", password, home)
		require.ErrorIs(t, err, auth.ErrCredentials, "as if the password were wrong")
		for _, token := range []string{ana.Token, scoped} {
			_, err = f.Authenticate(t.Context(), token)
			require.ErrorIs(t, err, auth.ErrToken)
		}
		_, err = f.AuthenticateCookie(t.Context(), cookie.Cookie)
		require.ErrorIs(t, err, auth.ErrToken)
		users, err := o.Users(t.Context())
		require.NoError(t, err)
		require.True(t, users[0].Disabled)

		require.NoError(t, o.SetDisabled(t.Context(), "ana@example.org", false))
		_, err = login(t, f, "ana@example.org", password, home)
		require.NoError(t, err)
		for _, token := range []string{ana.Token, scoped} {
			_, err = f.Authenticate(t.Context(), token)
			require.NoError(t, err)
		}
	})
}
