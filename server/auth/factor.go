package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
)

// Enrolment is what an authenticator app needs to know.
type Enrolment struct {
	Secret string // base32, to be typed
	URL    string // otpauth://…, to be scanned
}

// SecondFactor keeps the second factors of users. It is safe for concurrent
// use.
type SecondFactor struct {
	db     *database.DB
	log    *slog.Logger
	store  *secondfactor.Store
	limits *limits
	users  *Users
}

// State says whether the caller has a second factor.
func (s *SecondFactor) State(ctx context.Context, by Caller) (secondfactor.State, error) {
	return s.store.State(ctx, by.User)
}

// Enrol begins to set up a second factor of the caller, who gives
// the password. It returns [Invalid], or [secondfactor.ErrEnabled].
func (s *SecondFactor) Enrol(ctx context.Context, by Caller, password string, from netip.Addr) (Enrolment, error) {
	if err := s.users.ConfirmPassword(ctx, by, password, from); err != nil {
		return Enrolment{}, err
	}
	u, err := s.users.member(ctx, by.Account, by.User)
	if err != nil {
		return Enrolment{}, err
	}
	secret, err := s.store.Begin(ctx, u.ID)
	if err != nil {
		return Enrolment{}, err
	}
	link := url.URL{
		Scheme: "otpauth", Host: "totp", Path: "/Trunkline:" + u.Email,
		RawQuery: "secret=" + secret + "&issuer=Trunkline&algorithm=SHA1&digits=6&period=30",
	}
	return Enrolment{Secret: secret, URL: link.String()}, nil
}

// Confirm ends the set-up with a code of the app. From then on each
// login needs one. It returns the recovery codes, or [Invalid],
// [secondfactor.ErrEnabled] or [secondfactor.ErrNone].
func (s *SecondFactor) Confirm(ctx context.Context, by Caller, code string) (codes []string, err error) {
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if codes, err = s.store.ConfirmTx(ctx, tx, by.User, code); err != nil {
			return err
		}
		return recordFactorTx(ctx, tx, by.User, by.Email, factorOf(true))
	})
	if errors.Is(err, secondfactor.ErrCode) {
		return nil, &Invalid{Field: "code", Message: "is not the code that the app shows now"}
	}
	return codes, err
}

// RenewRecoveryCodes replaces the recovery codes of the caller, who gives the
// password. It returns [Invalid], or [secondfactor.ErrNone].
func (s *SecondFactor) RenewRecoveryCodes(ctx context.Context, by Caller, password string, from netip.Addr) (codes []string, err error) {
	if err := s.users.ConfirmPassword(ctx, by, password, from); err != nil {
		return nil, err
	}
	state, err := s.store.State(ctx, by.User)
	if err != nil {
		return nil, err
	}
	if !state.Enabled {
		return nil, secondfactor.ErrNone
	}
	err = s.db.Write(ctx, func(tx *database.Tx) (err error) {
		if codes, err = s.store.RecoveryCodesTx(ctx, tx, by.User); err != nil {
			return err
		}
		return recordFactorTx(ctx, tx, by.User, by.Email, audit.Changed("recoveryCodes"))
	})
	return codes, err
}

// Remove takes the second factor of the caller away, who gives the
// password. It returns [Invalid], or [secondfactor.ErrNone].
func (s *SecondFactor) Remove(ctx context.Context, by Caller, password string, from netip.Addr) error {
	if err := s.users.ConfirmPassword(ctx, by, password, from); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *database.Tx) error {
		if err := s.store.RemoveTx(ctx, tx, by.User); err != nil {
			return err
		}
		return recordFactorTx(ctx, tx, by.User, by.Email, factorOf(false))
	})
}

// Reset takes the second factor of another user away, who has lost
// it and the recovery codes. The rules are those of [Users.Update] for a
// new password. It returns [ErrForbidden], [ErrNotFound], [ErrGrant], [ErrOwner] or
// [secondfactor.ErrNone] when that is refused.
func (s *SecondFactor) Reset(ctx context.Context, by Caller, id string) error {
	return s.users.onOther(ctx, by, id, func(tx *database.Tx, u userRow) error {
		if err := s.store.RemoveTx(ctx, tx, u.ID); err != nil {
			return err
		}
		return recordFactorTx(ctx, tx, u.ID, u.Email, factorOf(false))
	})
}

// onOther runs a change of another user whom the caller may change.
func (s *Users) onOther(ctx context.Context, by Caller, id string, change func(*database.Tx, userRow) error) error {
	if !by.Can(UsersManage) || id == by.User {
		return ErrForbidden
	}
	return s.below(ctx, by, id, change)
}

// below runs a change of a user whom the caller may change.
func (s *Users) below(ctx context.Context, by Caller, id string, change func(*database.Tx, userRow) error) error {
	return s.db.Write(ctx, func(tx *database.Tx) error {
		if err := lockAccount(ctx, tx, by.Account); err != nil {
			return err
		}
		by, err := managerTx(ctx, tx, by)
		if err != nil {
			return err
		}
		u, err := memberTx(ctx, tx, by.Account, id)
		if err != nil {
			return err
		}
		if err := above(by, u); err != nil {
			return err
		}
		return change(tx, u)
	})
}

// prove returns nil if the user has no second factor, or code is right.
// Then the attempt has succeeded. A wrong code counts as a wrong password does,
// and from where the user is not known also over all addresses: an attacker who gets so
// far knows the password.
func (s *SecondFactor) prove(ctx context.Context, a attempt, u userRow, code string) error {
	state, err := s.store.State(ctx, u.ID)
	if err != nil {
		return err
	}
	if state.Enabled && code != "" {
		if err := s.proveCode(ctx, a, u, code); err != nil {
			return err
		}
	}
	if err := s.limits.succeeded(ctx, a); err != nil {
		return err
	}
	if state.Enabled && code == "" {
		return &SecondFactorRequired{}
	}
	return nil
}

func (s *SecondFactor) proveCode(ctx context.Context, a attempt, u userRow, code string) error {
	others := attempt{counts: []limit{codeLimit(u.ID)}}
	if !a.known {
		var q Quota
		err := s.db.Write(ctx, func(tx *database.Tx) (err error) {
			q, err = s.limits.takeTx(ctx, tx, others.counts[0])
			return err
		})
		if err != nil {
			return err
		}
		if q.Over {
			return &RateLimited{After: q.Reset}
		}
	}
	switch err := s.store.Check(ctx, u.ID, code); {
	case errors.Is(err, secondfactor.ErrCode):
		s.log.InfoContext(ctx, "code of a second factor refused")
		return &SecondFactorRequired{Wrong: true}
	case errors.Is(err, secondfactor.ErrNone): // it was taken away meanwhile
		return nil
	case err != nil || a.known:
		return err
	}
	return s.limits.succeeded(ctx, others)
}
