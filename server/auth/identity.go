package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

// The refusals of a sign-in at a provider. [ErrClosed] and [ErrEmailTaken] are
// others.
var (
	// ErrUnverified reports an unknown user whose e-mail the provider has not
	// verified.
	ErrUnverified = errors.New("auth: the provider has not verified the e-mail")
	// ErrDisabled reports a user who is kept out.
	ErrDisabled = errors.New("auth: the user is disabled")
	// ErrLinked reports an identity that is another user's.
	ErrLinked = errors.New("auth: the identity belongs to another user")
)

// External is a user whom a provider has named. The session is a cookie's.
type External struct {
	oidc.Identity
	Address netip.Addr
	Agent   string // as in [Credentials]
	Device  string // as in [Credentials]
}

// LoginExternal gives a session to a user whom a provider has named: one who has
// signed in there before, or one with an e-mail that the provider has verified.
// The latter only while sign-up is closed: when it is open, anybody may have
// taken the e-mail, and it is an [ErrEmailTaken] until the user has connected
// the identity: see [Service.ConnectExternal]. Others get an account of their own
// while sign-up is open.
//
// The second factor is the provider's affair. It returns [ErrDisabled],
// [ErrUnverified], [ErrClosed] or [ErrEmailTaken] when that is refused.
func (s *Service) LoginExternal(ctx context.Context, x External) (Session, error) {
	fresh, err := s.externalRow(ctx, x)
	if err != nil {
		return Session{}, err
	}
	var u userRow
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if u, err = s.externalTx(ctx, tx, x, fresh); err != nil {
			return err
		}
		if u.Disabled != 0 {
			return ErrDisabled
		}
		return s.limits.rememberTx(ctx, tx, u.ID, x.Address)
	})
	if err != nil {
		return Session{}, fmt.Errorf("signing in at a provider: %w", err)
	}
	if u.ID == fresh.ID { // the account is new, which is recorded
		ctx = audit.Without(ctx)
	}
	out, err := s.sessions.begin(ctx, u, true, Client{x.Address, x.Agent})
	out.Device = s.devices.remember(u.ID, x.Device)
	return out, err
}

// externalTx finds the user that an identity is, or makes one.
func (s *Service) externalTx(ctx context.Context, tx *database.Tx, x External, fresh userRow) (userRow, error) {
	id, err := oidc.UserTx(ctx, tx, x.Identity)
	if err != nil {
		return userRow{}, err
	}
	if id != "" {
		return rowTx(ctx, tx, "id", id)
	}
	if fresh.Email == "" || !x.EmailVerified {
		return userRow{}, ErrUnverified
	}
	u, err := rowTx(ctx, tx, "email", fresh.Email)
	switch {
	case errors.Is(err, ErrNotFound):
		if err := s.users.insertAccount(ctx, tx, fresh); err != nil {
			return userRow{}, err
		}
		if err := insertUser(ctx, tx, fresh); err != nil {
			return userRow{}, err
		}
		u = fresh
		err := audit.RecordTx(asUser(ctx, u, "", true), tx, audit.Entry{Action: audit.AccountCreate, ObjectID: u.Account})
		if err != nil {
			return userRow{}, err
		}
	case err != nil:
		return userRow{}, err
	case !s.opts.Closed:
		return userRow{}, ErrEmailTaken
	}
	if err := s.linkTx(ctx, tx, x.Identity, u); err != nil || u.ID == fresh.ID {
		return u, err
	}
	return u, recordUserTx(asUser(ctx, u, "", true), tx, audit.UserConnect, u, nil)
}

// linkTx remembers that a user is whom a provider has named.
func (s *Service) linkTx(ctx context.Context, tx *database.Tx, id oidc.Identity, u userRow) error {
	is, err := oidc.LinkTx(ctx, tx, id, u.ID, s.opts.Now())
	if err == nil && !is {
		err = ErrLinked
	}
	return err
}

// externalRow is a user as an identity would be made one: the first of an
// account, with a random password that is not kept.
func (s *Service) externalRow(ctx context.Context, x External) (userRow, error) {
	email, err := normalEmail(x.Email)
	if err != nil {
		return userRow{}, nil //nolint:nilerr // the identity may be known nevertheless
	}
	local, _, _ := strings.Cut(email, "@")
	name, err := normalName(x.Name)
	if err != nil {
		name = local
	}
	account, err := uuid.NewV7()
	if err != nil {
		return userRow{}, fmt.Errorf("making an account id: %w", err)
	}
	return s.users.newRow(ctx, NewUser{Email: email, Name: cmp.Or(name, local), Password: rand.Text()}, account.String(), true, AllPermissions())
}

// ConnectExternal remembers that a user is whom a provider has named. Session is
// the one with which the user has begun to connect the identity. It returns
// [ErrToken] when that has ended or the user is disabled, and [ErrLinked] when the
// identity is another user's.
func (s *Service) ConnectExternal(ctx context.Context, user, session string, id oidc.Identity) error {
	err := s.db.Write(ctx, func(tx *database.Tx) error {
		// The update waits for a new password, which ends the session.
		goes, err := inserted(tx.ExecContext(ctx, `UPDATE auth_session SET used_us = used_us WHERE id = $1 AND user_id = $2 AND expires_us > $3`,
			session, user, database.Micros(s.opts.Now())))
		if err != nil {
			return err
		}
		u, err := rowTx(ctx, tx, "id", user)
		if errors.Is(err, ErrNotFound) || err == nil && (!goes || u.Disabled != 0) {
			return ErrToken
		}
		if err != nil {
			return err
		}
		if err := s.linkTx(ctx, tx, id, u); err != nil {
			return err
		}
		return recordUserTx(asUser(ctx, u, "", true), tx, audit.UserConnect, u, nil)
	})
	if err != nil {
		return fmt.Errorf("connecting an identity: %w", err)
	}
	s.opts.Logger.InfoContext(ctx, "identity connected", slog.String("user", user))
	return nil
}

// rowTx finds a user by a unique column, or returns [ErrNotFound].
func rowTx(ctx context.Context, tx *database.Tx, column, value string) (userRow, error) {
	var u userRow
	err := tx.GetContext(ctx, &u, `SELECT `+userColumns+` FROM auth_user WHERE `+column+` = $1`+notClosed, value)
	return u, found(err)
}
