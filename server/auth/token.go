package auth

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TokenTTL is how long the token of a login is valid.
const TokenTTL = 12 * time.Hour

const issuer = "trunkline"

// claims are the claims of a token, with the registered ones.
type claims struct {
	jwt.RegisteredClaims
	Account string        `json:"acc"`
	Version int64         `json:"ver"`           // of the user; raised when older tokens are to end
	Scope   *[]Permission `json:"scp,omitempty"` // of a scoped token: what it may be used for
}

// signer signs and verifies the tokens of sessions.
type signer struct {
	now      func() time.Time
	sign     []byte
	verify   jwt.VerificationKeySet
	parser   *jwt.Parser
	verified *verifiedTokens
}

func newSigner(keys [][]byte, now func() time.Time) signer {
	t := signer{now: now, sign: keys[0], verified: &verifiedTokens{}, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(now))}
	for _, k := range keys {
		t.verify.Keys = append(t.verify.Keys, k)
	}
	return t
}

// issue makes the token of a login.
func (t *signer) issue(u userRow, id string) (token string, expires time.Time, err error) {
	expires = jwt.NewNumericDate(t.now().Add(TokenTTL)).UTC()
	token, err = t.signed(u, id, expires, nil)
	return token, expires, err
}

// signed is a token of a user; scope is nil for that of a login.
func (t *signer) signed(u userRow, id string, expires time.Time, scope *[]Permission) (string, error) {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Subject: u.ID, ID: id,
			IssuedAt: jwt.NewNumericDate(t.now()), ExpiresAt: jwt.NewNumericDate(expires),
		},
		Account: u.Account, Version: u.Version, Scope: scope,
	}).SignedString(t.sign)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return token, nil
}

// read returns the claims of a token that is ours and has not expired, or
// [ErrToken]: it does not tell the reason. It checks the signature of a token once.
func (t *signer) read(token string) (claims, error) {
	if c, ok := t.verified.get(token, t.now()); ok {
		return c, nil
	}
	var c claims
	if _, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.verify, nil }); err != nil {
		return claims{}, ErrToken
	}
	t.verified.add(token, c)
	return c, nil
}
