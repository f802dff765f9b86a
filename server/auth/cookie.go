package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// CookieLife is how long a cookie session lasts at most.
	CookieLife = 7 * 24 * time.Hour
	// CookieIdle is how long it lasts without a request.
	CookieIdle = 12 * time.Hour

	// touchEvery is how exactly the last request is remembered: one write a
	// minute and session at most.
	touchEvery = time.Minute
)

// cookieRow is a row of auth_session.
type cookieRow struct {
	Hash    string `db:"hash"`
	User    string `db:"user_id"`
	Version int64  `db:"version"`
	Used    int64  `db:"used_us"`
	Created int64  `db:"created_us"`
}

// startCookie begins a cookie session and returns what the cookie holds.
func (s *Service) startCookie(ctx context.Context, u userRow) (string, error) {
	value, hash := newOpaque()
	now := database.Micros(s.opts.Now())
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO auth_session (hash, user_id, version, used_us, created_us) VALUES ($1, $2, $3, $4, $4)`,
			hash, u.ID, u.Version, now)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("beginning a cookie session: %w", err)
	}
	return value, nil
}

// AuthenticateCookie says whose session a cookie holds, as [Service.Authenticate]
// does for a token. The session goes on for [CookieIdle] from now, but not
// beyond [CookieLife].
func (s *Service) AuthenticateCookie(ctx context.Context, value string) (Caller, error) {
	hash := hashOpaque(value)
	now := s.opts.Now()
	row, ok := s.cookies.get(hash, now)
	if !ok {
		err := s.db.GetContext(ctx, &row, `SELECT hash, user_id, version, used_us, created_us FROM auth_session WHERE hash = $1`, hash)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return Caller{}, ErrToken
		case err != nil:
			return Caller{}, fmt.Errorf("reading a cookie session: %w", err)
		}
		s.cookies.put(hash, row, now)
	}
	if row.over(now) {
		return Caller{}, ErrToken
	}
	caller, err := s.caller(ctx, row.User, row.Version)
	if err != nil {
		return Caller{}, err
	}
	s.touch(ctx, row, now)
	caller.TokenID, caller.Cookie = hash, true
	return caller, nil
}

func (c cookieRow) over(now time.Time) bool {
	return now.Sub(database.Time(c.Used)) >= CookieIdle || now.Sub(database.Time(c.Created)) >= CookieLife
}

// touch lets a session go on. A request does not fail because the store takes
// nothing for now.
func (s *Service) touch(ctx context.Context, row cookieRow, now time.Time) {
	if now.Sub(database.Time(row.Used)) < touchEvery {
		return
	}
	row.Used = database.Micros(now)
	s.cookies.put(row.Hash, row, now)
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE auth_session SET used_us = $1 WHERE hash = $2 AND used_us < $1`, row.Used, row.Hash)
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.opts.Logger.WarnContext(ctx, "prolonging a cookie session", slog.Any("error", err))
	}
}

// Logout ends the session of a cookie, if there is one.
func (s *Service) Logout(ctx context.Context, value string) error {
	hash := hashOpaque(value)
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM auth_session WHERE hash = $1`, hash)
		return err
	})
	if err != nil {
		return fmt.Errorf("ending a cookie session: %w", err)
	}
	s.cookies.drop(hash)
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
