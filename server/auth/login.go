package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

// passwords checks the passwords of users, within the limits of a login.
type passwords struct {
	db     *database.DB
	log    *slog.Logger
	limits *limits
	hashes *hasher
}

// Credentials are a request to log in.
type Credentials struct {
	Email    string
	Password string
	Address  netip.Addr // of the client; failures are counted by it
	Cookie   bool       // a cookie session is wanted, too
	Agent    string     // what the client calls itself; shown with the session
	Device   string     // Session.Device of a login before in this browser; "": there is none
	Code     string     // of the second factor, or a recovery code; "": none was given
}

// Login gives a session to a caller who knows the password, and a code of the
// second factor when the user has one. It returns [ErrCredentials], after the
// same time whichever half was wrong, [SecondFactorRequired], or [RateLimited]:
//
//   - after 10 failures in 15 minutes from one address, whatever the e-mail, to
//     a client from where the user has never logged in;
//   - after more than 100 failures in an hour of one e-mail, over all addresses,
//     to the same;
//   - after 10 failures in 15 minutes of one e-mail from one address, to a client
//     at an address from which the user has logged in;
//   - after 10 failures in 15 minutes of its own to a browser in which the user
//     has logged in, whatever others do.
//
// A user who is disabled has no right password.
func (s *Service) Login(ctx context.Context, c Credentials) (Session, error) {
	email, err := normalEmail(c.Email)
	if err != nil {
		return Session{}, err
	}
	u, err := s.users.row(ctx, "email", email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Session{}, err
	}
	a, err := s.limits.attempt(ctx, u, email, c.Address, c.Device)
	if err != nil {
		return Session{}, err
	}
	if err := s.passwords.prove(ctx, u, c.Password); err != nil {
		return Session{}, s.passwords.refused(asNobody(ctx, u), u, a, err)
	}
	if err := s.factor.prove(ctx, a, u, c.Code); err != nil {
		return Session{}, s.passwords.refused(asNobody(ctx, u), u, a, err)
	}
	err = s.db.Write(ctx, func(tx *database.Tx) error { return s.limits.rememberTx(ctx, tx, u.ID, c.Address) })
	if err != nil {
		return Session{}, err
	}
	s.passwords.rehash(ctx, u, c.Password)
	out, err := s.sessions.begin(ctx, u, c.Cookie, Client{c.Address, c.Agent})
	if c.Cookie {
		out.Device = s.devices.remember(u.ID, c.Device)
	}
	return out, err
}

// ConfirmPassword lets callers show that they know their own password, within
// the limits of a login. It returns [Invalid] when they do not.
func (s *Users) ConfirmPassword(ctx context.Context, by Caller, password string, from netip.Addr) error {
	u, err := s.member(ctx, by.Account, by.User)
	if err != nil {
		return err
	}
	a, err := s.passwords.limits.attempt(ctx, u, u.Email, from, "")
	if err == nil {
		err = s.passwords.refused(ctx, u, a, s.passwords.prove(ctx, u, password))
	}
	if errors.Is(err, ErrCredentials) {
		return &Invalid{Field: "password", Message: "is not the user's password"}
	}
	if err != nil {
		return err
	}
	return s.passwords.limits.succeeded(ctx, a)
}

// attempt is a login under way. It counts as a failure until it has succeeded:
// otherwise many at once would all be let in.
type attempt struct {
	counts []limit // those that it counts in
	closes []limit // those that refuse it
	known  bool    // the user has logged in from there
}

// attempt counts an attempt to log in, or refuses it when there were too many
// failures. It looks first: an attack must not cost a write, and a lock, for
// each attempt.
func (c *limits) attempt(ctx context.Context, u userRow, email string, from netip.Addr, device string) (attempt, error) {
	a, err := c.attemptOf(ctx, u.ID, email, from, device)
	if err != nil {
		return a, err
	}
	return a, c.count(ctx, a)
}

// count begins an attempt.
func (c *limits) count(ctx context.Context, a attempt) error {
	for _, l := range a.closes {
		q, err := c.seen(ctx, l)
		if err != nil {
			return err
		}
		if q.Over {
			return &RateLimited{After: q.Reset}
		}
	}
	var over Quota
	err := c.db.Write(ctx, func(tx *database.Tx) (err error) {
		over = Quota{}
		for _, l := range a.counts {
			q, err := c.takeTx(ctx, tx, l)
			if err != nil {
				return err
			}
			if q.Over && slices.Contains(a.closes, l) {
				over = q
				return nil
			}
		}
		return nil
	})
	if err == nil && over.Over {
		err = &RateLimited{After: over.Reset}
	}
	return err
}

// attemptOf chooses the counters. Where the user has logged in before, others'
// failures do not count: an attacker at the same address must not keep the user
// out.
func (c *limits) attemptOf(ctx context.Context, user, email string, from netip.Addr, device string) (attempt, error) {
	if id := c.devices.known(user, device); id != "" {
		own := []limit{deviceLimit(id, user)}
		return attempt{own, own, true}, nil
	}
	address, pair, all := loginLimit(from), pairLimit(from, email), emailLimit(email)
	known, err := c.knowsOrigin(ctx, user, from)
	if known {
		return attempt{[]limit{address, pair, all}, []limit{pair}, true}, err
	}
	return attempt{[]limit{address, pair, all}, []limit{address, all}, false}, err
}

// prove returns nil if password is that of u, who may not exist.
func (s *passwords) prove(ctx context.Context, u userRow, password string) error {
	ok, err := s.hashes.knows(ctx, u, password)
	if err != nil {
		return err
	}
	if !ok || u.Disabled != 0 {
		s.log.InfoContext(ctx, "password refused", slog.Bool("known_user", u.ID != ""))
		return ErrCredentials
	}
	return nil
}

// succeeded takes an attempt out of the counters.
func (c *limits) succeeded(ctx context.Context, a attempt) error {
	return c.db.Write(ctx, func(tx *database.Tx) error {
		for _, l := range a.counts {
			if _, err := tx.ExecContext(ctx, `UPDATE auth_limit SET count = count - 1 WHERE name = $1 AND count > 0`, l.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// refused returns err, and records that a user was refused a log-in. Of an unknown user it
// takes the same time, a write: it must not show which e-mails have an account.
func (s *passwords) refused(ctx context.Context, u userRow, a attempt, err error) error {
	var second *SecondFactorRequired
	var copied *passkey.Copied
	var details map[string]any
	switch {
	case errors.Is(err, ErrCredentials), errors.As(err, &second) && second.Wrong, errors.Is(err, ErrPasskey):
	case errors.As(err, &copied):
		details = map[string]any{"copied": copied.Name}
	default:
		return err
	}
	recorded := s.db.Write(ctx, func(tx *database.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE auth_limit SET count = count WHERE name = $1`, a.counts[0].name); err != nil || u.ID == "" {
			return err
		}
		return recordUserTx(ctx, tx, audit.UserLoginFailed, u, details)
	})
	if recorded != nil {
		return fmt.Errorf("recording a refused log-in: %w", recorded)
	}
	return err
}

// knows says whether password is that of u, who may not exist.
func (p *hasher) knows(ctx context.Context, u userRow, password string) (bool, error) {
	h := p.none()
	if u.ID != "" {
		var err error
		if h, err = parseHash(u.Password); err != nil {
			return false, err
		}
	}
	return p.matches(ctx, h, password)
}

// maxOrigins is of how many addresses it is remembered that a user has logged
// in from there: the newest.
const maxOrigins = 100

// rememberTx keeps from where a user has logged in, if that is known.
func (c *limits) rememberTx(ctx context.Context, tx *database.Tx, user string, from netip.Addr) error {
	if !from.IsValid() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO auth_origin (user_id, address, seen_us) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, address) DO UPDATE SET seen_us = excluded.seen_us`,
		user, network(from), database.Micros(c.now()))
	if err == nil {
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM auth_origin WHERE user_id = $1 AND address IN (SELECT address FROM auth_origin
			WHERE user_id = $1 ORDER BY seen_us DESC, address LIMIT %d OFFSET %d)`, smallRows, maxOrigins), user)
	}
	if err != nil {
		return fmt.Errorf("remembering from where a user has logged in: %w", err)
	}
	return nil
}

func (c *limits) knowsOrigin(ctx context.Context, user string, from netip.Addr) (bool, error) {
	var n int
	err := c.db.GetContext(ctx, &n, `SELECT count(*) FROM auth_origin WHERE user_id = $1 AND address = $2`, user, network(from))
	return n > 0, err
}

// rehash makes a hash again that was cheaper than those of today. The login
// succeeds without it.
func (s *passwords) rehash(ctx context.Context, u userRow, password string) {
	old, err := parseHash(u.Password)
	if err != nil || !s.hashes.cheap(old) {
		return
	}
	fresh, err := s.hashes.of(ctx, password)
	if err == nil {
		err = s.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE auth_user SET password = $1 WHERE id = $2 AND password = $3`, fresh.String(), u.ID, u.Password)
			return err
		})
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "hashing a password again", slog.Any("error", err))
	}
}
