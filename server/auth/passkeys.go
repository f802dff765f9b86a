package auth

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

// ErrPasskey reports a passkey that is refused; it does not say whether it is
// unknown, belongs to a user who is disabled, or has not proved anything.
var ErrPasskey = apierr.New("auth", apierr.Unauthorized, "the passkey is not known here, or the log-in took longer than 5 minutes")

// HasPasskeys says whether passkeys can be added and used: see [passkey.SiteOf].
func (s *Service) HasPasskeys() bool { return s.passkeys.Available() }

// Passkeys returns the passkeys of the caller, the oldest first.
func (s *Service) Passkeys(ctx context.Context, by Caller) ([]passkey.Passkey, error) {
	return s.passkeys.List(ctx, by.User)
}

// BeginPasskey makes what the caller's browser needs to make a passkey; the caller
// gives the password. It returns [Invalid], [passkey.ErrFull] or
// [passkey.ErrSite].
func (s *Service) BeginPasskey(ctx context.Context, by Caller, password string, from netip.Addr) (json.RawMessage, error) {
	if !s.HasPasskeys() {
		return nil, passkey.ErrSite
	}
	if err := s.ConfirmPassword(ctx, by, password, from); err != nil {
		return nil, err
	}
	u, err := s.member(ctx, by.Account, by.User)
	if err != nil {
		return nil, err
	}
	return s.passkeys.BeginAdd(ctx, u.holder())
}

// AddPasskey keeps the passkey that the caller's browser has made. From then on it
// signs the caller in. It returns [Invalid], [passkey.ErrFull], [passkey.ErrTaken]
// or [passkey.ErrSite].
func (s *Service) AddPasskey(ctx context.Context, by Caller, name string, response []byte) (out passkey.Passkey, err error) {
	if name, err = normalName(name); err != nil {
		return out, err
	}
	u, err := s.member(ctx, by.Account, by.User)
	if err != nil {
		return out, err
	}
	fresh, err := s.passkeys.Verify(ctx, u.holder(), response)
	switch {
	case errors.Is(err, passkey.ErrChallenge):
		return out, &Invalid{Field: "credential", Message: "answers no challenge of the last 5 minutes, or one that was answered: begin again"}
	case errors.Is(err, passkey.ErrResponse):
		s.opts.Logger.InfoContext(ctx, "passkey not added", slog.Any("error", err))
		return out, &Invalid{Field: "credential", Message: "is not a passkey for this site, made by a user whom the device has verified"}
	case err != nil:
		return out, err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		if out, err = s.passkeys.AddTx(ctx, tx, fresh, name); err != nil {
			return err
		}
		return recordPasskeyTx(ctx, tx, u, map[string]any{"added": name})
	})
	return out, err
}

// RemovePasskey takes a passkey of the caller away, who gives the password.
// Sessions that began with it continue. It returns [Invalid] or [passkey.ErrNone].
func (s *Service) RemovePasskey(ctx context.Context, by Caller, password, id string, from netip.Addr) error {
	if err := s.ConfirmPassword(ctx, by, password, from); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		name, err := s.passkeys.RemoveTx(ctx, tx, by.User, id)
		if err != nil {
			return err
		}
		return recordPasskeyTx(ctx, tx, userRow{ID: by.User, Email: by.Email}, map[string]any{"removed": name})
	})
}

// ResetPasskeys takes all passkeys of another user away. The rules are those of
// [Service.ResetSecondFactor]. It returns [ErrForbidden], [ErrNotFound], [ErrGrant],
// [ErrOwner] or [passkey.ErrNone] when that is refused.
func (s *Service) ResetPasskeys(ctx context.Context, by Caller, id string) error {
	return s.onOther(ctx, by, id, func(tx *sqlx.Tx, u userRow) error {
		n, err := s.passkeys.RemoveAllTx(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		return recordPasskeyTx(ctx, tx, u, map[string]any{"removedAll": n})
	})
}

// PasskeyLogin is a request to sign in with a passkey.
type PasskeyLogin struct {
	Response []byte     // of the authenticator: an AuthenticationResponseJSON
	Address  netip.Addr // as in [Credentials]
	Cookie   bool       // as in [Credentials]
	Agent    string     // as in [Credentials]
	Device   string     // as in [Credentials]
}

// BeginPasskeyLogin makes what a browser needs to ask for a passkey. It returns
// [passkey.ErrSite].
func (s *Service) BeginPasskeyLogin(ctx context.Context, from netip.Addr) (json.RawMessage, error) {
	return s.passkeys.BeginSignIn(ctx, network(from))
}

// LoginPasskey gives a session to the holder of a passkey, who needs neither
// password nor code: the device has verified the user. It returns [ErrPasskey],
// [passkey.Copied], [passkey.ErrSite], or [RateLimited] after 10 failures in 15
// minutes from one address; in a browser in which the user has logged in only its
// own count. Passwords that were wrong do not count.
func (s *Service) LoginPasskey(ctx context.Context, l PasskeyLogin) (Session, error) {
	shown, err := s.passkeys.Read(ctx, l.Response)
	if err != nil && !errors.Is(err, passkey.ErrResponse) {
		return Session{}, err
	}
	a := s.limits.passkeyAttempt(shown.User(), l.Address, l.Device)
	if counted := s.limits.count(ctx, a); counted != nil {
		return Session{}, counted
	}
	var u userRow
	if err == nil {
		u, err = s.provePasskey(ctx, shown, l.Address)
	}
	if err != nil {
		return Session{}, s.refusedPasskey(ctx, shown.User(), a, err)
	}
	if err := s.limits.succeeded(ctx, a); err != nil {
		return Session{}, err
	}
	out, err := s.session(ctx, u, l.Cookie, Client{l.Address, l.Agent})
	if l.Cookie {
		out.Device = s.devices.remember(u.ID, l.Device)
	}
	return out, err
}

// provePasskey finds the user whose passkey was shown.
func (s *Service) provePasskey(ctx context.Context, shown passkey.Shown, from netip.Addr) (u userRow, err error) {
	proved, err := s.passkeys.Prove(ctx, shown)
	if err != nil {
		return u, err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		if u, err = rowTx(ctx, tx, "id", proved.User()); err != nil {
			return err
		}
		if u.Disabled != 0 {
			return ErrDisabled
		}
		if err := s.passkeys.UseTx(ctx, tx, proved); err != nil {
			return err
		}
		return s.limits.rememberTx(ctx, tx, u.ID, from)
	})
	return u, err
}

// passkeyAttempt counts by the address: a passkey cannot be guessed, so that
// nothing is won by many addresses.
func (c *limits) passkeyAttempt(user string, from netip.Addr, device string) attempt {
	own := []limit{passkeyLimit(from)}
	if id := c.devices.known(user, device); id != "" {
		own = []limit{deviceLimit(id, user)}
	}
	return attempt{own, own, true}
}

// refusedPasskey returns what a refused passkey is answered with, and records it
// with its user, if there is one.
func (s *Service) refusedPasskey(ctx context.Context, user string, a attempt, err error) error {
	var copied *passkey.Copied
	switch {
	case errors.As(err, &copied):
		err = copied
	case errors.Is(err, passkey.ErrChallenge), errors.Is(err, passkey.ErrResponse), errors.Is(err, passkey.ErrNone),
		errors.Is(err, ErrDisabled), errors.Is(err, ErrNotFound):
		s.opts.Logger.InfoContext(ctx, "passkey refused", slog.Any("error", err))
		err = ErrPasskey
	default:
		return err
	}
	u := userRow{}
	if user != "" {
		var missing error
		if u, missing = s.row(ctx, "id", user); missing != nil && !errors.Is(missing, ErrNotFound) {
			return missing
		}
	}
	return s.refused(asNobody(ctx, u), u, a, err)
}

// holder is a user as authenticators know one.
func (u userRow) holder() passkey.User { return passkey.User{ID: u.ID, Email: u.Email, Name: u.Name} }

// recordPasskeyTx records what was done to the passkeys of a user.
func recordPasskeyTx(ctx context.Context, tx *sqlx.Tx, u userRow, details map[string]any) error {
	return recordUserTx(ctx, tx, audit.UserPasskey, u, details)
}
