package auth

import (
	"context"
	"errors"
	"fmt"
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
	Cookie   bool       // a cookie session is wanted, too
}

// Login gives a session to who knows the password. It returns
// [ErrCredentials], after the same time whichever half was wrong, or
// [RateLimited] after 10 failures in 15 minutes from one address, whatever the
// e-mail. A user who is disabled has no right password. An e-mail with more than 100 failures an hour over all addresses is
// open only to addresses from which it has logged in before.
func (s *Service) Login(ctx context.Context, c Credentials) (Session, error) {
	email, err := normalEmail(c.Email)
	if err != nil {
		return Session{}, err
	}
	u, err := s.row(ctx, "email", email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Session{}, err
	}
	if err := s.prove(ctx, u, email, c.Password, c.Address); err != nil {
		return Session{}, err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error { return s.rememberTx(ctx, tx, u.ID, c.Address) })
	if err != nil {
		return Session{}, err
	}
	s.rehash(ctx, u, c.Password)
	return s.session(ctx, u, c.Cookie)
}

// ConfirmPassword lets a caller show that he knows his own password, within
// the limits of a login. It returns [Invalid] when he does not.
func (s *Service) ConfirmPassword(ctx context.Context, by Caller, password string, from netip.Addr) error {
	u, err := s.member(ctx, by.Account, by.User)
	if err != nil {
		return err
	}
	err = s.prove(ctx, u, u.Email, password, from)
	if errors.Is(err, ErrCredentials) {
		return &Invalid{"password", "is not that of the user"}
	}
	return err
}

// prove returns nil if password is that of u, who may not exist. An attempt
// counts as a failure until it has succeeded: otherwise many at once would all
// be let in.
func (s *Service) prove(ctx context.Context, u userRow, email, password string, from netip.Addr) error {
	failures := [2]limit{loginLimit(from), emailLimit(email)}
	if err := s.takeLogin(ctx, u.ID, from, failures); err != nil {
		return err
	}
	ok, err := s.knows(ctx, u, password)
	if err != nil {
		return err
	}
	if !ok || u.Disabled != 0 {
		s.opts.Logger.InfoContext(ctx, "password refused", slog.Bool("known_user", u.ID != ""))
		return ErrCredentials
	}
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		for _, l := range failures {
			if _, err := tx.ExecContext(ctx, `UPDATE auth_limit SET count = count - 1 WHERE name = $1 AND count > 0`, l.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeLogin counts an attempt and refuses it when there were too many. It
// looks first: an attack must not cost a write, and a lock, for each attempt.
func (s *Service) takeLogin(ctx context.Context, user string, from netip.Addr, failures [2]limit) error {
	var now [2]Quota
	for i, l := range failures {
		var err error
		if now[i], err = s.seen(ctx, l); err != nil {
			return err
		}
	}
	if err := s.refuse(ctx, user, from, now); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		now = [2]Quota{}
		if now[0], err = s.takeTx(ctx, tx, failures[0]); err != nil || now[0].Over {
			return err
		}
		now[1], err = s.takeTx(ctx, tx, failures[1])
		return err
	})
	if err != nil {
		return err
	}
	return s.refuse(ctx, user, from, now)
}

// refuse closes an address after too many failures, and an e-mail to addresses
// from which its user has not logged in before.
func (s *Service) refuse(ctx context.Context, user string, from netip.Addr, failures [2]Quota) error {
	byAddress, byEmail := failures[0], failures[1]
	switch {
	case byAddress.Over:
		return &RateLimited{After: byAddress.Reset}
	case !byEmail.Over:
		return nil
	}
	known, err := s.knowsOrigin(ctx, user, from)
	if err == nil && !known {
		return &RateLimited{After: byEmail.Reset}
	}
	return err
}

// knows says whether password is that of u, who may not exist.
func (s *Service) knows(ctx context.Context, u userRow, password string) (bool, error) {
	h := s.noHash()
	if u.ID != "" {
		var err error
		if h, err = parseHash(u.Password); err != nil {
			return false, err
		}
	}
	return s.matches(ctx, h, password)
}

// rememberTx keeps from where a user has logged in, if that is known.
func (s *Service) rememberTx(ctx context.Context, tx *sqlx.Tx, user string, from netip.Addr) error {
	if !from.IsValid() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO auth_origin (user_id, address, seen_us) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, address) DO UPDATE SET seen_us = excluded.seen_us`,
		user, network(from), database.Micros(s.opts.Now()))
	if err != nil {
		return fmt.Errorf("remembering from where a user has logged in: %w", err)
	}
	return nil
}

func (s *Service) knowsOrigin(ctx context.Context, user string, from netip.Addr) (bool, error) {
	var n int
	err := s.db.GetContext(ctx, &n, `SELECT count(*) FROM auth_origin WHERE user_id = $1 AND address = $2`, user, network(from))
	return n > 0, err
}

// rehash makes a hash anew that was cheaper than those of today. The login
// succeeds without it.
func (s *Service) rehash(ctx context.Context, u userRow, password string) {
	old, err := parseHash(u.Password)
	if err != nil || !s.cheap(old) {
		return
	}
	fresh, err := s.newHash(ctx, password)
	if err == nil {
		err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE auth_user SET password = $1 WHERE id = $2 AND password = $3`, fresh.String(), u.ID, u.Password)
			return err
		})
	}
	if err != nil && ctx.Err() == nil {
		s.opts.Logger.WarnContext(ctx, "hashing a password anew", slog.Any("error", err))
	}
}
