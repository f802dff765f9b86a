package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// TestWeakPasswords tries passwords that everybody guesses at each way to set
// one.
func TestWeakPasswords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		boss := caller(t, f, signUp(t, f, "ana@example.org").Token)
		member(t, f, boss, "somebody.else@example.org", auth.ChatsRead)
		o, err := auth.NewOperator(t.Context(), f.db)
		require.NoError(t, err)
		own := auth.NewUser{Email: "benjamin@example.org", Name: "Benjamin"}
		set := func(p string) *string { return &p }
		for _, p := range []string{"password123", "QWERTYUIOP", "benjamin1985", "Benjamin@Example.org"} {
			n := own
			n.Password = p
			for way, err := range map[string]error{
				"sign-up":  second(f.SignUp(t.Context(), n)),
				"user":     second(f.Users().Create(t.Context(), boss, n, nil)),
				"operator": second(o.Create(t.Context(), "", n, nil)),
			} {
				refusesPassword(t, err, way)
			}
		}
		_, err = f.Users().Update(t.Context(), boss, boss.User, auth.UserChange{Password: set("ana@example.org"), CurrentPassword: password, Address: home})
		refusesPassword(t, err, "change")
		_, err = f.Users().Update(t.Context(), boss, boss.User, auth.UserChange{
			Password: set("benjamin@new"), Email: set("benjamin@new.example.org"), CurrentPassword: password, Address: home,
		})
		refusesPassword(t, err, "change of both")
		refusesPassword(t, o.SetPassword(t.Context(), "ana@example.org", "ana@example"), "operator's change")

		token, err := auth.IssueReset(t.Context(), f.db, "somebody.else@example.org")
		require.NoError(t, err)
		f.clock.move(time.Since(f.clock.now())) // that of the link
		refusesPassword(t, f.Reset(t.Context(), token, "somebodyelse"), "reset")
		require.NoError(t, f.Reset(t.Context(), token, "a kettle of fish"), "the link was not used up")
	})
}

// TestWeakPasswordStillLogsIn lets a user in whose password was set before it
// was refused.
func TestWeakPasswordStillLogsIn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		signUp(t, f, "password123@example.org")
		other := signUp(t, f, "ana@example.org")
		_, err := f.db.Exec(`UPDATE auth_user SET email = 'correcthorse@example.org' WHERE id = $1`, other.User.ID)
		require.NoError(t, err)
		_, err = login(t, f, "correcthorse@example.org", password, home)
		require.NoError(t, err)
	})
}

func second[T any](_ T, err error) error { return err }

func refusesPassword(t *testing.T, err error, way string) {
	t.Helper()
	var bad *auth.Invalid
	require.ErrorAs(t, err, &bad, way)
	require.Equal(t, "password", bad.Field, way)
}
