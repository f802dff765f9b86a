package auth_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
)

// enrolled is a user with a second factor.
func enrolled(t *testing.T, f fixture, email string) (by auth.Caller, secret string, codes []string) {
	t.Helper()
	by = caller(t, f, signUp(t, f, email).Token)
	e, err := f.SecondFactor().Enrol(t.Context(), by, password, home)
	require.NoError(t, err)
	codes, err = f.SecondFactor().Confirm(t.Context(), by, totp.Code(t, e.Secret, f.clock.now()))
	require.NoError(t, err)
	require.Len(t, codes, 10)
	f.clock.move(time.Minute)
	return by, e.Secret, codes
}

func withCode(t *testing.T, f fixture, email, code string, at netip.Addr) error {
	t.Helper()
	_, err := f.Login(t.Context(), auth.Credentials{Email: email, Password: password, Address: at, Code: code})
	return err
}

func requiresFactor(t *testing.T, err error, wrong bool) {
	t.Helper()
	var required *auth.SecondFactorRequired
	require.ErrorAs(t, err, &required)
	require.Equal(t, wrong, required.Wrong)
}

func TestSecondFactor_SetUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana := caller(t, f, signUp(t, f, "ana@example.org").Token)
		var bad *auth.Invalid
		_, err := f.SecondFactor().Enrol(t.Context(), ana, "wrong password", home)
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "password", bad.Field)
		_, err = f.SecondFactor().Confirm(t.Context(), ana, "123456")
		require.ErrorIs(t, err, secondfactor.ErrNone)
		e, err := f.SecondFactor().Enrol(t.Context(), ana, password, home)
		require.NoError(t, err)
		link, err := url.Parse(e.URL)
		require.NoError(t, err)
		require.Equal(t, "otpauth://totp/Trunkline:ana@example.org", link.Scheme+"://"+link.Host+link.Path)
		require.Equal(t, e.Secret, link.Query().Get("secret"))
		var stored string
		require.NoError(t, f.db.Get(&stored, `SELECT secret FROM secondfactor_totp`))
		require.NotContains(t, stored, e.Secret)

		_, err = f.SecondFactor().Confirm(t.Context(), ana, totp.Code(t, e.Secret, f.clock.now().Add(time.Hour)))
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "code", bad.Field)
		require.NoError(t, withCode(t, f, "ana@example.org", "", home), "it does not count before a code was shown")
		codes, err := f.SecondFactor().Confirm(t.Context(), ana, totp.Code(t, e.Secret, f.clock.now()))
		require.NoError(t, err)
		require.Len(t, codes, 10)
		state, err := f.SecondFactor().State(t.Context(), ana)
		require.NoError(t, err)
		require.Equal(t, secondfactor.State{Enabled: true, Since: f.clock.now().UTC(), RecoveryCodes: 10}, state)
		_, err = f.SecondFactor().Enrol(t.Context(), ana, password, home)
		require.ErrorIs(t, err, secondfactor.ErrEnabled, "it is not replaced unseen")
		_, err = f.SecondFactor().Confirm(t.Context(), ana, totp.Code(t, e.Secret, f.clock.now()))
		require.ErrorIs(t, err, secondfactor.ErrEnabled)
	})
}

func TestSecondFactor_Login(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		ana, secret, codes := enrolled(t, f, "ana@example.org")
		at := netip.MustParseAddr("198.51.100.1")
		requiresFactor(t, withCode(t, f, "ana@example.org", "", at), false)
		_, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: "wrong password", Address: at, Code: totp.Code(t, secret, f.clock.now())})
		require.ErrorIs(t, err, auth.ErrCredentials, "a wrong password is not told from one of a user without second factor")
		code := totp.Code(t, secret, f.clock.now())
		require.NoError(t, withCode(t, f, "ana@example.org", code[:3]+" "+code[3:], at))
		requiresFactor(t, withCode(t, f, "ana@example.org", code, at), true)
		f.clock.move(30 * time.Second)
		requiresFactor(t, withCode(t, f, "ana@example.org", code, at), true)
		require.NoError(t, withCode(t, f, "ana@example.org", totp.Code(t, secret, f.clock.now()), at))

		require.NoError(t, withCode(t, f, "ana@example.org", strings.ToUpper(codes[3]), at))
		requiresFactor(t, withCode(t, f, "ana@example.org", codes[3], at), true)
		state, err := f.SecondFactor().State(t.Context(), ana)
		require.NoError(t, err)
		require.Equal(t, 9, state.RecoveryCodes)
		fresh, err := f.SecondFactor().RenewRecoveryCodes(t.Context(), ana, password, home)
		require.NoError(t, err)
		requiresFactor(t, withCode(t, f, "ana@example.org", codes[4], at), true)
		require.NoError(t, withCode(t, f, "ana@example.org", fresh[4], at))

		require.ErrorAs(t, f.SecondFactor().Remove(t.Context(), ana, "wrong password", home), new(*auth.Invalid))
		require.NoError(t, f.SecondFactor().Remove(t.Context(), ana, password, home))
		require.NoError(t, withCode(t, f, "ana@example.org", "", at))
		require.ErrorIs(t, f.SecondFactor().Remove(t.Context(), ana, password, home), secondfactor.ErrNone)
		_, err = f.SecondFactor().RenewRecoveryCodes(t.Context(), ana, password, home)
		require.ErrorIs(t, err, secondfactor.ErrNone)
	})
}

// TestSecondFactor_CodeOnce sends one code many times at once.
func TestSecondFactor_CodeOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		_, secret, codes := enrolled(t, f, "ana@example.org")
		for _, code := range []string{totp.Code(t, secret, f.clock.now()), codes[0]} {
			results := make(chan error)
			for range 8 {
				go func() { results <- withCode(t, f, "ana@example.org", code, home) }()
			}
			in := 0
			for range 8 {
				if err := <-results; err == nil {
					in++
				}
			}
			require.Equal(t, 1, in)
		}
	})
}

// TestSecondFactor_Guesses limits who knows the password and guesses codes,
// also from many addresses.
func TestSecondFactor_Guesses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		_, secret, codes := enrolled(t, f, "ana@example.org")
		s, err := f.Login(t.Context(), auth.Credentials{Email: "ana@example.org", Password: password, Address: home, Cookie: true, Code: codes[0]})
		require.NoError(t, err)
		at := netip.MustParseAddr("198.51.100.1")
		for i := range 20 {
			requiresFactor(t, withCode(t, f, "ana@example.org", "000000", at), true)
			if i%9 == 8 {
				at = at.Next()
			}
		}
		var limited *auth.RateLimited
		require.ErrorAs(t, withCode(t, f, "ana@example.org", totp.Code(t, secret, f.clock.now()), at.Next()), &limited)
		_, err = f.Login(t.Context(), auth.Credentials{
			Email: "ana@example.org", Password: password, Address: at, Cookie: true, Device: s.Device, Code: totp.Code(t, secret, f.clock.now()),
		})
		require.NoError(t, err, "from a known device")
		for range 10 {
			requiresFactor(t, withCode(t, f, "ana@example.org", "000000", home), true)
		}
		require.ErrorAs(t, withCode(t, f, "ana@example.org", "000000", home), &limited, "from a known address")
	})
}

func TestSecondFactor_ResetOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		boss, _, _ := enrolled(t, f, "ana@example.org")
		user, ben := member(t, f, boss, "ben@example.org", auth.UsersManage, auth.ChatsRead)
		require.ErrorIs(t, f.SecondFactor().Reset(t.Context(), ben, boss.User), auth.ErrOwner, "she is an owner")
		require.ErrorIs(t, f.SecondFactor().Reset(t.Context(), boss, boss.User), auth.ErrForbidden, "one's own takes the password")
		require.ErrorIs(t, f.SecondFactor().Reset(t.Context(), boss, user.ID), secondfactor.ErrNone)
		e, err := f.SecondFactor().Enrol(t.Context(), ben, password, home)
		require.NoError(t, err)
		_, err = f.SecondFactor().Confirm(t.Context(), ben, totp.Code(t, e.Secret, f.clock.now()))
		require.NoError(t, err)
		requiresFactor(t, withCode(t, f, "ben@example.org", "", home), false)
		stranger := caller(t, f, signUp(t, f, "eve@example.com").Token)
		require.ErrorIs(t, f.SecondFactor().Reset(t.Context(), stranger, user.ID), auth.ErrNotFound)
		require.NoError(t, f.SecondFactor().Reset(t.Context(), boss, user.ID))
		require.NoError(t, withCode(t, f, "ben@example.org", "", home))

		o, err := auth.NewOperator(t.Context(), f.db)
		require.NoError(t, err)
		require.ErrorIs(t, o.RemoveSecondFactor(t.Context(), "ben@example.org"), secondfactor.ErrNone)
		requiresFactor(t, withCode(t, f, "ana@example.org", "", home), false)
		require.NoError(t, o.RemoveSecondFactor(t.Context(), "ana@example.org"))
		require.NoError(t, withCode(t, f, "ana@example.org", "", home))
	})
}

// TestSecondFactor_OtherSecret seals what an older secret has sealed again.
func TestSecondFactor_OtherSecret(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		const newer = "another secret, newer, of 32 bytes and more"
		_, secret, _ := enrolled(t, f, "ana@example.org")
		setup(t, f.db, auth.Options{}, newer, secretOf())
		alone := setup(t, f.db, auth.Options{}, newer)
		alone.clock.move(f.clock.now().Sub(alone.clock.now()))
		require.NoError(t, withCode(t, alone, "ana@example.org", totp.Code(t, secret, alone.clock.now()), home))
	})
}

// secretOf is the secret of every fixture.
func secretOf() string { return secret }
