package auth_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

// eachFailing runs fn with a service whose statements [testkit.Asked.FailEach] fails.
// each calls an operation until none of its statements fails.
func eachFailing(t *testing.T, fn func(t *testing.T, f fixture, each func(do func(ctx context.Context) error, optional ...string))) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, auth.Migrate(t.Context(), db))
		seen, n := testkit.Counting(t, db)
		letter := func(context.Context, auth.User, string) error { return nil }
		f := setup(t, seen, auth.Options{SendReset: letter, HasReferences: refs(7)}, secret)
		fn(t, f, func(do func(ctx context.Context) error, optional ...string) {
			t.Helper()
			n.FailEach(t, func() error {
				f.clock.move(time.Minute) // for the limits
				return do(t.Context())
			}, optional...)
		})
	})
}

// TestStatementsOfUsersFail has each statement fail of each operation on users: the
// operation fails, and then it can be done.
func TestStatementsOfUsersFail(t *testing.T) {
	t.Parallel()
	eachFailing(t, func(t *testing.T, f fixture, each func(func(context.Context) error, ...string)) {
		tries := 0
		each(func(ctx context.Context) error { // the user may remain when only the session fails
			tries++
			_, err := f.SignUp(ctx, auth.NewUser{Email: fmt.Sprintf("dora%d@example.org", tries), Name: "Dora", Password: password, Address: home})
			return err
		})
		s := signUp(t, f, "ana@example.org")
		each(func(ctx context.Context) (err error) {
			s, err = f.Login(ctx, auth.Credentials{Email: "ana@example.org", Password: password, Address: home})
			return err
		})
		ana := caller(t, f, s.Token)
		var ben auth.User
		each(func(ctx context.Context) (err error) {
			ben, err = f.Users().Create(ctx, ana, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password}, []auth.Permission{auth.ChatsRead})
			return err
		})
		name, disabled := "Benjamin", true
		each(func(ctx context.Context) error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Name: &name, Permissions: []auth.Permission{auth.ChatsRead.On(7)}})
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Users().Update(ctx, ana, ben.ID, auth.UserChange{Disabled: &disabled})
			return err
		})
		each(func(ctx context.Context) error { return f.Users().ConfirmPassword(ctx, ana, password, home) })
		each(func(ctx context.Context) error {
			_, err := f.Users().Get(ctx, ana.Account, ben.ID)
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Users().List(ctx, ana.Account, auth.List{})
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Users().Count(ctx, ana.Account)
			return err
		})
		each(func(ctx context.Context) error { return f.Users().Delete(ctx, ana, ben.ID) })

		var invited auth.Invitation
		invitation := auth.NewInvitation{Email: "cleo@example.org", Permissions: []auth.Permission{auth.ChatsRead}}
		each(func(ctx context.Context) (err error) {
			invited, _, err = f.Invitations().Create(ctx, ana, invitation)
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Invitations().List(ctx, ana.Account, auth.List{})
			return err
		})
		each(func(ctx context.Context) error { return f.Invitations().Revoke(ctx, ana, invited.ID) })
		each(func(ctx context.Context) error {
			tries++
			invitation.Email = fmt.Sprintf("cleo%d@example.org", tries)
			_, token, err := f.Invitations().Create(ctx, ana, invitation)
			if err == nil {
				_, err = f.Invitations().Accept(ctx, token, auth.NewUser{Name: "Cleo", Password: password, Address: home})
			}
			return err
		})
		each(func(ctx context.Context) error { return f.RequestReset(ctx, invitation.Email) })

		each(func(ctx context.Context) error {
			d, err := database.Of(ctx, f.db)
			require.NoError(t, err)
			return d.InTx(ctx, func(tx *database.Tx) error {
				open, err := f.Accounts().LockTx(ctx, tx, ana.Account)
				if err == nil {
					require.True(t, open)
				}
				return err
			})
		})
		each(func(ctx context.Context) error { return f.Accounts().Close(ctx, ana.Account, nil) }, "DELETE")
		each(func(ctx context.Context) error { return f.Accounts().EraseUsers(ctx, ana.Account) })
		each(func(ctx context.Context) error {
			_, _, err := f.Accounts().TakeClosed(ctx, time.Minute)
			return err
		})
		each(func(ctx context.Context) error { return f.Accounts().KeepClosed(ctx, ana.Account, time.Minute) })
		each(func(ctx context.Context) error { return f.Accounts().Forget(ctx, ana.Account) })
	})
}

// TestStatementsOfSessionsFail does the same for sessions, tokens and factors.
func TestStatementsOfSessionsFail(t *testing.T) {
	t.Parallel()
	eachFailing(t, func(t *testing.T, f fixture, each func(func(context.Context) error, ...string)) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		signIn := func() auth.Caller {
			s, err := login(t, f, "ana@example.org", password, home)
			require.NoError(t, err)
			return caller(t, f, s.Token)
		}
		var id string
		each(func(ctx context.Context) (err error) {
			id, _, err = f.Tokens().Create(ctx, ana, newToken(f, auth.ChatsRead))
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Tokens().List(ctx, ana, auth.List{})
			return err
		})
		each(func(ctx context.Context) error { return f.Tokens().Revoke(ctx, ana, id) })

		each(func(ctx context.Context) error {
			_, err := f.Sessions().List(ctx, ana, ana.User, auth.List{})
			return err
		})
		other := signIn()
		each(func(ctx context.Context) error { return f.Sessions().End(ctx, other) })
		other = signIn()
		each(func(ctx context.Context) error { return f.Sessions().Revoke(ctx, ana, other.TokenID) })
		signIn()
		each(func(ctx context.Context) error { return f.Sessions().RevokeAll(ctx, ana, ana.User) })
		ana = signIn()

		each(func(ctx context.Context) error {
			_, err := f.SecondFactor().State(ctx, ana)
			return err
		})
		var e auth.Enrolment
		each(func(ctx context.Context) (err error) {
			e, err = f.SecondFactor().Enrol(ctx, ana, password, home)
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.SecondFactor().Confirm(ctx, ana, totp.Code(t, e.Secret, f.clock.now()))
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.Login(ctx, auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Code: totp.Code(t, e.Secret, f.clock.now())})
			return err
		})
		ana, _ = f.Authenticate(t.Context(), loginWith(t, f, e.Secret))
		each(func(ctx context.Context) error {
			_, err := f.SecondFactor().RenewRecoveryCodes(ctx, ana, password, home)
			return err
		})
		each(func(ctx context.Context) error { return f.SecondFactor().Remove(ctx, ana, password, home) })

		identity := oidc.Identity{Issuer: "https://id.example", Subject: "1", Email: "eva@example.org", EmailVerified: true, Name: "Eva"}
		each(func(ctx context.Context) error {
			_, err := f.LoginExternal(ctx, auth.External{Identity: identity, Address: home})
			return err
		})
		each(func(ctx context.Context) error {
			_, err := f.LoginExternal(ctx, auth.External{Identity: identity, Address: home})
			return err
		})
		identity.Subject, identity.Email = "2", "ana@example.org"
		each(func(ctx context.Context) error { return f.ConnectExternal(ctx, ana.User, ana.TokenID, identity) })
	})
}

// TestStatementsOfOperatorsFail does the same for what the operator does.
func TestStatementsOfOperatorsFail(t *testing.T) {
	t.Parallel()
	eachFailing(t, func(t *testing.T, f fixture, each func(func(context.Context) error, ...string)) {
		o := operator(t, f)
		var ana auth.User
		each(func(ctx context.Context) (err error) {
			ana, err = o.Create(ctx, "", auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: password}, nil)
			return err
		})
		each(func(ctx context.Context) error {
			_, err := o.Create(ctx, ana.AccountID, auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password}, []auth.Permission{auth.ChatsRead})
			return err
		})
		each(func(ctx context.Context) error {
			_, err := o.Users(ctx)
			return err
		})
		each(func(ctx context.Context) error { return o.SetPassword(ctx, "ben@example.org", "battery staple") })
		each(func(ctx context.Context) error { return o.SetOwner(ctx, "ben@example.org") })
		each(func(ctx context.Context) error { return o.SetDisabled(ctx, "ben@example.org", true) })
		enrolled(t, f, "eva@example.org")
		each(func(ctx context.Context) error { return o.RemoveSecondFactor(ctx, "eva@example.org") })
	})
}

func loginWith(t *testing.T, f fixture, secret string) (token string) {
	t.Helper()
	f.clock.move(time.Minute)
	s, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Code: totp.Code(t, secret, f.clock.now())})
	require.NoError(t, err)
	return s.Token
}

// TestStatementsOfASignUpByMailFail does the same where sign-ups are confirmed by mail.
func TestStatementsOfASignUpByMailFail(t *testing.T) {
	t.Parallel()
	eachConfirming(t, func(t *testing.T, f fixture, n *testkit.Asked, _ <-chan letter) {
		n.FailEach(t, func() error {
			f.clock.move(time.Hour)
			s, err := f.SignUp(t.Context(), auth.NewUser{Email: "ben@example.org", Name: "Ben", Password: password, Address: home})
			require.Empty(t, s.Token)
			return err
		})
	})
}

// TestMalformedHash refuses hashes that cannot be computed.
func TestMalformedHash(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	signUp(t, f, "ana@example.org")
	const sum = "AAECAwQFBgcICQoLDA0ODw"
	for _, hash := range []string{
		"", "$argon2i$v=19$m=64,t=1,p=1$" + sum + "$" + sum, "$argon2id$v=19$m=64,t=0,p=1$" + sum + "$" + sum, "$argon2id$v=19$m=64,t=1,p=0$" + sum + "$" + sum,
		"$argon2id$v=16$m=64,t=1,p=1$" + sum + "$" + sum, "$argon2id$v=19$m=64,t=1,p=1$" + sum + "$AA", "$argon2id$v=19$m=64,t=1,p=1$*$" + sum,
		"$argon2id$v=19$m=64,t=1,p=1$" + sum + "$*", "$argon2id$v=19$m=64$" + sum + "$" + sum,
	} {
		f.db.MustExec(`UPDATE auth_user SET password = $1`, hash)
		f.clock.move(time.Hour)
		_, err := login(t, f, "ana@example.org", password, home)
		require.Error(t, err, hash)
		require.NotErrorIs(t, err, auth.ErrCredentials, hash)
	}
}

// TestErrorsOfSecondFactor tells a missing code from a wrong one.
func TestErrorsOfSecondFactor(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &auth.SecondFactorRequired{}, "auth: a code of the second factor is required")
	require.EqualError(t, &auth.SecondFactorRequired{Wrong: true}, "auth: the code is wrong or was used")
}
