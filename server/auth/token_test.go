package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/auth"
)

func cancellable(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func isLimited(err error, l **auth.RateLimited) bool { return errors.As(err, l) }

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	s := signUp(t, f, "ana@example.org")
	claims := jwt.MapClaims{}
	tok, _, err := jwt.NewParser().ParseUnverified(s.Token, claims)
	require.NoError(t, err)
	require.Equal(t, "HS256", tok.Header["alg"])
	require.NotEmpty(t, claims["jti"])
	delete(claims, "jti")
	now := float64(f.clock.now().Unix())
	require.Equal(t, jwt.MapClaims{
		"iss": "trunkline", "sub": s.User.ID, "acc": s.User.AccountID, "ver": 1.0, "iat": now, "exp": now + 12*3600,
	}, claims)
}

// header is the first part of a token.
func header(alg string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + alg + `","typ":"JWT"}`))
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	s := signUp(t, f, "ana@example.org")
	keys, err := keyring.New("auth", []string{secret})
	require.NoError(t, err)
	key := keys.Keys("jwt")[0]
	parsed := jwt.MapClaims{}
	_, _, err = jwt.NewParser().ParseUnverified(s.Token, parsed)
	require.NoError(t, err)
	session := parsed["jti"]
	good := func() jwt.MapClaims {
		return jwt.MapClaims{
			"iss": "trunkline", "sub": s.User.ID, "acc": s.User.AccountID, "ver": 1,
			"exp": f.clock.now().Add(time.Hour).Unix(), "jti": session,
		}
	}
	require.True(t, strings.HasPrefix(s.Token, header("HS256")))
	with := func(k string, v any) jwt.MapClaims {
		c := good()
		if c[k] = v; v == nil {
			delete(c, k)
		}
		return c
	}
	signed := func(m jwt.SigningMethod, key any, c jwt.Claims) string {
		tok, err := jwt.NewWithClaims(m, c).SignedString(key)
		require.NoError(t, err)
		return tok
	}
	_, err = f.Authenticate(t.Context(), signed(jwt.SigningMethodHS256, key, good()))
	require.NoError(t, err)
	pair, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&pair.PublicKey)
	require.NoError(t, err)
	published := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	for name, token := range map[string]string{
		"empty":           "",
		"garbage":         "x.y.z",
		"none":            signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good()),
		"HS512":           signed(jwt.SigningMethodHS512, key, good()),
		"RS256":           signed(jwt.SigningMethodRS256, pair, good()),
		"a public key":    signed(jwt.SigningMethodHS256, published, good()),
		"ours as RS256":   strings.Replace(s.Token, header("HS256"), header("RS256"), 1),
		"ours as none":    strings.Replace(s.Token, header("HS256"), header("none"), 1),
		"unsigned":        s.Token[:strings.LastIndexByte(s.Token, '.')+1],
		"another key":     signed(jwt.SigningMethodHS256, []byte("another"), good()),
		"the raw secret":  signed(jwt.SigningMethodHS256, []byte(secret), good()),
		"changed":         strings.Replace(s.Token, ".", ".e", 1),
		"another issuer":  signed(jwt.SigningMethodHS256, key, with("iss", "x")),
		"no issuer":       signed(jwt.SigningMethodHS256, key, with("iss", nil)),
		"expired":         signed(jwt.SigningMethodHS256, key, with("exp", f.clock.now().Unix()-1)),
		"no expiry":       signed(jwt.SigningMethodHS256, key, with("exp", nil)),
		"unknown user":    signed(jwt.SigningMethodHS256, key, with("sub", "x")),
		"another account": signed(jwt.SigningMethodHS256, key, with("acc", "x")),
		"unknown session": signed(jwt.SigningMethodHS256, key, with("jti", "x")),
		"no session":      signed(jwt.SigningMethodHS256, key, with("jti", nil)),
		"of a program":    signed(jwt.SigningMethodHS256, key, with("scp", []string{"users.manage"})),
		"older version":   signed(jwt.SigningMethodHS256, key, with("ver", 0)),
		"no version":      signed(jwt.SigningMethodHS256, key, with("ver", nil)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := f.Authenticate(t.Context(), token)
			require.ErrorIs(t, err, auth.ErrToken)
		})
	}
}

// TestTokenChanges raises the version, takes rights away and deletes the user.
func TestTokenChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f fixture) {
		s := signUp(t, f, "ana@example.org")
		_, err := f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err)

		f.db.MustExec(`UPDATE auth_user SET owner = 0, permissions = 'chats.read from.tomorrow'`)
		c, err := f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err)
		require.Equal(t, []auth.Permission{auth.ChatsRead}, c.Permissions)
		require.False(t, c.Can(auth.ChatsSend))

		f.db.MustExec(`UPDATE auth_user SET version = 2`)
		_, err = f.Authenticate(t.Context(), s.Token)
		require.ErrorIs(t, err, auth.ErrToken)

		s, err = login(t, f, "ana@example.org", password, home)
		require.NoError(t, err)
		_, err = f.Authenticate(t.Context(), s.Token)
		require.NoError(t, err)
		f.db.MustExec(`DELETE FROM auth_user`)
		_, err = f.Authenticate(t.Context(), s.Token)
		require.ErrorIs(t, err, auth.ErrToken)

		f.clock.move(12 * time.Hour)
		_, err = f.Authenticate(t.Context(), s.Token)
		require.ErrorIs(t, err, auth.ErrToken)
	})
}

func TestTokenRotation(t *testing.T) {
	t.Parallel()
	f := setup(t, migrated(t), auth.Options{}, secret)
	s := signUp(t, f, "ana@example.org")
	const newer = "a newer secret of at least 32 characters"
	rotated := setup(t, f.db, auth.Options{}, newer, secret)
	_, err := rotated.Authenticate(t.Context(), s.Token)
	require.NoError(t, err)
	fresh, err := login(t, rotated, "ana@example.org", password, home)
	require.NoError(t, err)
	_, err = f.Authenticate(t.Context(), fresh.Token)
	require.ErrorIs(t, err, auth.ErrToken, "signed under the newer secret")
}

func FuzzAuthenticate(f *testing.F) {
	db := migrated(f)
	s, err := auth.New(f.Context(), db, &auth.Options{Secrets: []string{secret}})
	require.NoError(f, err)
	session, err := s.SignUp(f.Context(), auth.NewUser{Email: "a@example.org", Name: "A", Password: password})
	require.NoError(f, err)
	f.Add(session.Token)
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		c, err := s.Authenticate(t.Context(), token)
		if err == nil {
			require.Equal(t, session.User.ID, c.User)
			return
		}
		require.ErrorIs(t, err, auth.ErrToken)
	})
}
