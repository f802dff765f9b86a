package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Credentials are a request to log in.
type Credentials struct {
	Email    string
	Password string
	Address  netip.Addr // of the client; failures are counted by it
}

// Login gives a session to who knows the password. It returns
// [ErrCredentials], after the same time whichever half was wrong, or
// [RateLimited] after 10 failures in 15 minutes from one address, whatever the
// e-mail. An e-mail with more than 100 failures an hour over all addresses is
// open only to addresses from which it has logged in before.
func (s *Service) Login(ctx context.Context, c Credentials) (Session, error) {
	email, err := normalEmail(c.Email)
	if err != nil {
		return Session{}, err
	}
	// The attempt counts as a failure until it has succeeded: otherwise many
	// at once would all be let in.
	failures := []limit{loginLimit(c.Address), emailLimit(email)}
	u, err := s.row(ctx, "email", email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Session{}, err
	}
	if err := s.takeLogin(ctx, u.ID, c.Address, failures); err != nil {
		return Session{}, err
	}
	ok, err := s.knows(ctx, u, c.Password)
	if err != nil {
		return Session{}, err
	}
	if !ok {
		s.opts.Logger.InfoContext(ctx, "login refused", slog.Bool("known_user", u.ID != ""))
		return Session{}, ErrCredentials
	}
	if err := s.loggedIn(ctx, u.ID, c.Address, failures); err != nil {
		return Session{}, err
	}
	return s.session(u)
}

// knows says whether password is that of u, who may not exist.
func (s *Service) knows(ctx context.Context, u userRow, password string) (bool, error) {
	h := noHash()
	if u.ID != "" {
		var err error
		if h, err = parseHash(u.Password); err != nil {
			return false, err
		}
	}
	return s.matches(ctx, h, password)
}

// takeLogin counts an attempt and refuses it when there were too many.
func (s *Service) takeLogin(ctx context.Context, user string, from netip.Addr, failures []limit) error {
	byAddress, err := s.take(ctx, failures[0])
	if err != nil {
		return err
	}
	if byAddress.Over {
		return &RateLimited{After: byAddress.Reset}
	}
	byEmail, err := s.take(ctx, failures[1])
	if err != nil || !byEmail.Over {
		return err
	}
	known, err := s.knowsOrigin(ctx, user, from)
	if err == nil && !known {
		return &RateLimited{After: byEmail.Reset}
	}
	return err
}

// loggedIn takes the attempt back and remembers from where it came.
func (s *Service) loggedIn(ctx context.Context, user string, from netip.Addr, failures []limit) error {
	now := database.Micros(s.opts.Now())
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		for _, l := range failures {
			if _, err := tx.ExecContext(ctx, `UPDATE auth_limit SET count = count - 1 WHERE name = $1 AND count > 0`, l.name); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO auth_origin (user_id, address, seen_us) VALUES ($1, $2, $3)
			ON CONFLICT (user_id, address) DO UPDATE SET seen_us = excluded.seen_us`, user, network(from), now)
		return err
	})
}

func (s *Service) knowsOrigin(ctx context.Context, user string, from netip.Addr) (bool, error) {
	var n int
	err := s.db.GetContext(ctx, &n, `SELECT count(*) FROM auth_origin WHERE user_id = $1 AND address = $2`, user, network(from))
	return n > 0, err
}
