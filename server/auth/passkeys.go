package auth

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"

	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

// ErrPasskey reports a passkey that is refused; it does not say whether it is
// unknown, belongs to a user who is disabled, or has not proved anything.
var ErrPasskey = apierr.New("auth", apierr.Unauthorized, "the passkey is unknown to this server, or the login took longer than 5 minutes: try again")

// Passkeys keeps the passkeys of users, and signs users in with them. It is
// safe for concurrent use.
type Passkeys struct {
	db        *database.DB
	log       *slog.Logger
	store     *passkey.Store
	limits    *limits
	devices   *devices
	passwords *passwords
	users     *Users
	sessions  *Sessions
}

// Available says whether passkeys can be added and used: see [passkey.SiteOf].
func (s *Passkeys) Available() bool { return s.store.Available() }

// List returns the passkeys of the caller, the oldest first.
func (s *Passkeys) List(ctx context.Context, by Caller) ([]passkey.Passkey, error) {
	return s.store.List(ctx, by.User)
}

// Begin makes what the caller's browser needs to make a passkey; the caller
// gives the password. It returns [Invalid], [passkey.ErrFull] or
// [passkey.ErrSite].
func (s *Passkeys) Begin(ctx context.Context, by Caller, password string, from netip.Addr) (json.RawMessage, error) {
	if !s.Available() {
		return nil, passkey.ErrSite
	}
	if err := s.users.ConfirmPassword(ctx, by, password, from); err != nil {
		return nil, err
	}
	u, err := s.users.member(ctx, by.Account, by.User)
	if err != nil {
		return nil, err
	}
	return s.store.BeginAdd(ctx, u.holder())
}

// Add keeps the passkey that the caller's browser has made. From then on it
// signs the caller in. It returns [Invalid], [passkey.ErrFull], [passkey.ErrTaken]
// or [passkey.ErrSite].
func (s *Passkeys) Add(ctx context.Context, by Caller, name string, response []byte) (out passkey.Passkey, err error) {
	if name, err = normalName(name); err != nil {
		return out, err
	}
	u, err := s.users.member(ctx, by.Account, by.User)
	if err != nil {
		return out, err
	}
	fresh, err := s.store.Verify(ctx, u.holder(), response)
	switch {
	case errors.Is(err, passkey.ErrChallenge):
		return out, &Invalid{Field: "credential", Message: "answers a challenge that is unknown, older than 5 minutes or already answered: start again"}
	case errors.Is(err, passkey.ErrResponse):
		s.log.InfoContext(ctx, "passkey not added", slog.Any("error", err))
		return out, &Invalid{Field: "credential", Message: "is not a valid passkey for this site with verification of the user: create a new one"}
	case err != nil:
		return out, err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		if out, err = s.store.AddTx(ctx, tx, fresh, name); err != nil {
			return err
		}
		return recordPasskeyTx(ctx, tx, u, map[string]any{"added": name})
	})
	return out, err
}

// Remove takes a passkey of the caller away, who gives the password.
// Sessions that began with it continue. It returns [Invalid] or [passkey.ErrNone].
func (s *Passkeys) Remove(ctx context.Context, by Caller, password, id string, from netip.Addr) error {
	if err := s.users.ConfirmPassword(ctx, by, password, from); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *database.Tx) error {
		name, err := s.store.RemoveTx(ctx, tx, by.User, id)
		if err != nil {
			return err
		}
		return recordPasskeyTx(ctx, tx, userRow{ID: by.User, Email: by.Email}, map[string]any{"removed": name})
	})
}

// Reset takes all passkeys of another user away. The rules are those of
// [SecondFactor.Reset]. It returns [ErrForbidden], [ErrNotFound], [ErrGrant],
// [ErrOwner] or [passkey.ErrNone] when that is refused.
func (s *Passkeys) Reset(ctx context.Context, by Caller, id string) error {
	return s.users.onOther(ctx, by, id, func(tx *database.Tx, u userRow) error {
		n, err := s.store.RemoveAllTx(ctx, tx, u.ID)
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

// BeginLogin makes what a browser needs to ask for a passkey. It returns
// [passkey.ErrSite].
func (s *Passkeys) BeginLogin(ctx context.Context, from netip.Addr) (json.RawMessage, error) {
	return s.store.BeginSignIn(ctx, network(from))
}

// Login gives a session to the holder of a passkey, who needs neither
// password nor code: the device has verified the user. It returns [ErrPasskey],
// [passkey.Copied], [passkey.ErrSite], or [RateLimited] after 10 failures in 15
// minutes from one address; in a browser in which the user has logged in only its
// own count. Passwords that were wrong do not count.
func (s *Passkeys) Login(ctx context.Context, l PasskeyLogin) (Session, error) {
	shown, err := s.store.Read(ctx, l.Response)
	if err != nil && !errors.Is(err, passkey.ErrResponse) {
		return Session{}, err
	}
	a := s.limits.passkeyAttempt(shown.User(), l.Address, l.Device)
	if counted := s.limits.count(ctx, a); counted != nil {
		return Session{}, counted
	}
	var u userRow
	if err == nil {
		u, err = s.prove(ctx, shown, l.Address)
	}
	if err != nil {
		return Session{}, s.refuse(ctx, shown.User(), a, err)
	}
	if err := s.limits.succeeded(ctx, a); err != nil {
		return Session{}, err
	}
	out, err := s.sessions.begin(ctx, u, l.Cookie, Client{l.Address, l.Agent})
	if l.Cookie {
		out.Device = s.devices.remember(u.ID, l.Device)
	}
	return out, err
}

// prove finds the user whose passkey was shown.
func (s *Passkeys) prove(ctx context.Context, shown passkey.Shown, from netip.Addr) (u userRow, err error) {
	proved, err := s.store.Prove(ctx, shown)
	if err != nil {
		return u, err
	}
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if u, err = rowTx(ctx, tx, "id", proved.User()); err != nil {
			return err
		}
		if u.Disabled != 0 {
			return ErrDisabled
		}
		if err := s.store.UseTx(ctx, tx, proved); err != nil {
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

// refuse returns what a refused passkey is answered with, and records it
// with its user, if there is one.
func (s *Passkeys) refuse(ctx context.Context, user string, a attempt, err error) error {
	var copied *passkey.Copied
	switch {
	case errors.As(err, &copied):
		err = copied
	case errors.Is(err, passkey.ErrChallenge), errors.Is(err, passkey.ErrResponse), errors.Is(err, passkey.ErrNone),
		errors.Is(err, ErrDisabled), errors.Is(err, ErrNotFound):
		s.log.InfoContext(ctx, "passkey refused", slog.Any("error", err))
		err = ErrPasskey
	default:
		return err
	}
	u := userRow{}
	if user != "" {
		var missing error
		if u, missing = s.users.row(ctx, "id", user); missing != nil && !errors.Is(missing, ErrNotFound) {
			return missing
		}
	}
	return s.passwords.refused(asNobody(ctx, u), u, a, err)
}

// holder is a user as authenticators know one.
func (u userRow) holder() passkey.User { return passkey.User{ID: u.ID, Email: u.Email, Name: u.Name} }

// recordPasskeyTx records what was done to the passkeys of a user.
func recordPasskeyTx(ctx context.Context, tx *database.Tx, u userRow, details map[string]any) error {
	return recordUserTx(ctx, tx, audit.UserPasskey, u, details)
}
