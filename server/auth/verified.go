package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxVerified is how many tokens are remembered, each of about one KiB.
const maxVerified = 10_000

// verifiedTokens remembers the claims of tokens whose signature was checked, by
// their SHA-256. It answers only what the text and the key of a token determine:
// whether its session, its user and their rights still exist is read with every
// request. A signer has one, and its keys never change, so a removed key removes
// the tokens that it signed. It may be used by several goroutines.
type verifiedTokens struct {
	mu     sync.Mutex
	claims map[[sha256.Size]byte]claims
}

// get returns the claims of a token that was added and has not expired.
func (v *verifiedTokens) get(token string, now time.Time) (claims, bool) {
	sum := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	c, ok := v.claims[sum]
	if ok && !now.Before(c.ExpiresAt.Time) {
		delete(v.claims, sum)
		return claims{}, false
	}
	return c, ok
}

// add remembers the claims of a valid token, which are read-only from then on.
func (v *verifiedTokens) add(token string, c claims) {
	sum := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.claims == nil || len(v.claims) >= maxVerified {
		v.claims = map[[sha256.Size]byte]claims{}
	}
	v.claims[sum] = c
}
