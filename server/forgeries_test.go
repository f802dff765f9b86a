package server_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/auth"
)

// forge signs claims with a method and a key, as whoever holds that key could.
func forge(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims, change func(*jwt.Token)) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if change != nil {
		change(token)
	}
	out, err := token.SignedString(key)
	require.NoError(t, err)
	return out
}

// forgeries are tokens of a user that must open nothing, by what they are.
// genuine is made like them, and opens.
func forgeries(t *testing.T, token string) (bad map[string]string, genuine string) {
	t.Helper()
	ring, err := keyring.New("auth", []string{secret})
	require.NoError(t, err)
	key := ring.Keys("jwt")[0]
	claims := jwt.MapClaims{}
	_, _, err = jwt.NewParser().ParseUnverified(token, claims)
	require.NoError(t, err)
	with := func(name string, v any) jwt.MapClaims {
		out := maps.Clone(claims)
		if out[name] = v; v == nil {
			delete(out, name)
		}
		return out
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	ours, hour, later := jwt.SigningMethodHS256, time.Now().Add(-time.Hour).Unix(), time.Now().Add(time.Hour).Unix()
	unsigned := forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims, nil)
	parts := strings.Split(token, ".")
	return map[string]string{
		"garbage":                      "x.y.z",
		"expired":                      forge(t, ours, key, with("exp", hour), nil),
		"without an end":               forge(t, ours, key, with("exp", nil), nil),
		"not yet valid":                forge(t, ours, key, with("nbf", later), nil),
		"without a user":               forge(t, ours, key, with("sub", nil), nil),
		"a cut signature":              token[:len(token)-6],
		"of another issuer":            forge(t, ours, key, with("iss", "elsewhere"), nil),
		"of another account":           forge(t, ours, key, with("acc", "01890a5d-ac96-774b-bcce-b302099a8057"), nil),
		"of nobody":                    forge(t, ours, key, with("sub", "01890a5d-ac96-774b-bcce-b302099a8057"), nil),
		"of an older version":          forge(t, ours, key, with("ver", 0), nil),
		"scoped, and not in the list":  forge(t, ours, key, with("scp", auth.AllPermissions()), func(t *jwt.Token) { t.Claims.(jwt.MapClaims)["jti"] = "01890a5d-ac96-774b-bcce-b302099a8057" }),
		"alg none":                     unsigned,
		"alg None":                     forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims, func(t *jwt.Token) { t.Header["alg"] = "None" }),
		"alg none with our signature":  unsigned + parts[2],
		"no signature":                 parts[0] + "." + parts[1] + ".",
		"HS256 with another key":       forge(t, ours, []byte("another key of at least 32 characters"), claims, nil),
		"HS256 with an empty key":      forge(t, ours, []byte{}, claims, nil),
		"HS256 with the secret itself": forge(t, ours, []byte(secret), claims, nil),
		"HS512 with our key":           forge(t, jwt.SigningMethodHS512, key, claims, nil),
		"RS256":                        forge(t, jwt.SigningMethodRS256, private, claims, nil),
		"a public key as the secret":   forge(t, ours, public, claims, nil),
		"the same, and it says RS256":  forge(t, ours, public, claims, func(t *jwt.Token) { t.Header["alg"] = "RS256" }),
		"a key of its own":             forge(t, ours, public, claims, func(t *jwt.Token) { t.Header["jwk"] = map[string]string{"kty": "RSA"} }),
	}, forge(t, ours, key, claims, nil)
}
