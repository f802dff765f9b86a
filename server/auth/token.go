package auth

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// TokenLife is how long the token of a login is valid.
const TokenLife = 12 * time.Hour

const issuer = "trunkline"

// claims are what a token says beside the registered claims.
type claims struct {
	jwt.RegisteredClaims
	Account string `json:"acc"`
	Version int64  `json:"ver"` // of the user; raised when older tokens are to end
}

// tokens signs and verifies.
type tokens struct {
	now    func() time.Time
	sign   []byte
	verify jwt.VerificationKeySet
	parser *jwt.Parser
}

func newTokens(keys [][]byte, now func() time.Time) tokens {
	t := tokens{now: now, sign: keys[0], parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(now))}
	for _, k := range keys {
		t.verify.Keys = append(t.verify.Keys, k)
	}
	return t
}

// issue makes the token of a login.
func (t *tokens) issue(u userRow) (token string, expires time.Time, err error) {
	now := t.now()
	id, err := uuid.NewRandom()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("making a token id: %w", err)
	}
	exp := jwt.NewNumericDate(now.Add(TokenLife))
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Subject: u.ID, ID: id.String(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: exp,
		},
		Account: u.Account, Version: u.Version,
	}).SignedString(t.sign)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("signing a token: %w", err)
	}
	return token, exp.UTC(), nil
}

// read returns the claims of a token that is ours and has not expired, or
// [ErrToken]: why is nobody's business who has no token.
func (t *tokens) read(token string) (claims, error) {
	var c claims
	if _, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.verify, nil }); err != nil {
		return claims{}, ErrToken
	}
	return c, nil
}
