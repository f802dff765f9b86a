package passkey

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/trunklinehq/trunkline/internal/database"
)

// BeginSignIn makes the options for a sign-in from an address, as JSON: a
// PublicKeyCredentialRequestOptionsJSON. They name no user: the authenticator does.
// It returns [ErrSite].
func (s *Store) BeginSignIn(ctx context.Context, address string) (json.RawMessage, error) {
	if s.web == nil {
		return nil, ErrSite
	}
	assertion, session, err := s.web.BeginDiscoverableLogin()
	if err != nil {
		return nil, fmt.Errorf("beginning a sign-in: %w", err)
	}
	if err := s.keep(ctx, session.Challenge, "", address); err != nil {
		return nil, err
	}
	return json.Marshal(assertion.Response)
}

// Shown is the answer of an authenticator, which proves nothing yet.
type Shown struct {
	parsed *protocol.ParsedCredentialAssertionData
	row    row // zero: there is no such passkey
}

// User is whose passkey the answer names, or "".
func (s Shown) User() string { return s.row.User }

// Read reads what an authenticator has answered to the options of
// [Store.BeginSignIn]: an AuthenticationResponseJSON. It returns [ErrResponse] or
// [ErrSite].
func (s *Store) Read(ctx context.Context, response []byte) (Shown, error) {
	if s.web == nil {
		return Shown{}, ErrSite
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Shown{}, notValid(err)
	}
	out := Shown{parsed: parsed}
	err = s.db.GetContext(ctx, &out.row, `SELECT `+columns+` FROM passkey_credential WHERE credential = $1`, encoded(parsed.RawID))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Shown{}, fmt.Errorf("looking for a passkey: %w", err)
	}
	return out, nil
}

// Proved is a passkey whose holder is there.
type Proved struct {
	row   row
	count int64
}

// User is whose passkey it is.
func (p Proved) User() string { return p.row.User }

// Prove says whether the holder of a passkey has signed the challenge. The
// challenge is used up, whatever comes of it. It returns [ErrChallenge],
// [ErrResponse], [ErrNone] for a passkey that is not there, or was removed, or
// [Copied].
func (s *Store) Prove(ctx context.Context, shown Shown) (Proved, error) {
	challenge := shown.parsed.Response.CollectedClientData.Challenge
	if err := s.take(ctx, challenge, ""); err != nil {
		return Proved{}, err
	}
	if shown.row.ID == "" {
		return Proved{}, ErrNone
	}
	has, err := shown.row.credential()
	if err != nil {
		return Proved{}, err
	}
	owner := holder{User: User{ID: shown.row.User}, has: []webauthn.Credential{has}}
	signed, err := s.web.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil }, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: s.web.Config.RPID, UserVerification: protocol.VerificationRequired,
	}, shown.parsed)
	if err != nil {
		return Proved{}, notValid(err)
	}
	if signed.Authenticator.CloneWarning {
		return Proved{}, &Copied{shown.row.Name}
	}
	return Proved{shown.row, int64(signed.Authenticator.SignCount)}, nil
}

// UseTx remembers that a passkey was used. It returns [Copied] when another has
// used it meanwhile with a counter that is not lower, and [ErrNone] when it was
// removed.
func (s *Store) UseTx(ctx context.Context, tx *database.Tx, p Proved) error {
	n, err := affected(tx.ExecContext(ctx, `UPDATE passkey_credential SET sign_count = $1, used_us = $2
		WHERE id = $3 AND (sign_count < $1 OR sign_count = 0 AND $1 = 0)`, p.count, database.Micros(s.now()), p.row.ID))
	if err != nil {
		return fmt.Errorf("noting the use of a passkey: %w", err)
	}
	if n == 1 {
		return nil
	}
	var there int
	if err := tx.GetContext(ctx, &there, `SELECT count(*) FROM passkey_credential WHERE id = $1`, p.row.ID); err != nil {
		return fmt.Errorf("looking for a passkey: %w", err)
	}
	if there == 0 {
		return ErrNone
	}
	return &Copied{p.row.Name}
}
