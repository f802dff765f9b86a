package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// CookieTTL is how long a cookie session lasts at most.
	CookieTTL = 7 * 24 * time.Hour
	// CookieIdle is how long it lasts without a request.
	CookieIdle = 12 * time.Hour
)

// AuthenticateCookie says whose session a cookie holds, as [Service.Authenticate]
// does for a token. [Sessions.Seen] lets the session continue.
func (s *Service) AuthenticateCookie(ctx context.Context, value string) (Caller, error) {
	a, err := s.sessions.active(ctx, activeSessions+`s.cookie = $1`, hashOpaque(value))
	if err != nil {
		return Caller{}, err
	}
	if a.Started != a.Version {
		return Caller{}, ErrToken
	}
	caller := a.caller()
	caller.Cookie = true
	return caller, nil
}

// EndCookie ends the session of a cookie, if there is one.
func (s *Sessions) EndCookie(ctx context.Context, value string) error {
	hash := hashOpaque(value)
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM auth_session WHERE cookie = $1`, hash)
		return err
	})
	if err != nil {
		return fmt.Errorf("ending a cookie session: %w", err)
	}
	return nil
}

// newOpaque makes a token that says nothing, and what is stored of it.
func newOpaque() (token, hash string) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, hashOpaque(token)
}

// hashOpaque needs no key and no salt: 256 random bits cannot be guessed.
func hashOpaque(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
