package passkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
)

// User is whose passkey it is.
type User struct {
	ID    string // what the authenticator keeps: 1 to 64 bytes
	Email string // by which the user tells passkeys of one site apart
	Name  string
}

// holder is a user as the library wants one.
type holder struct {
	User
	has []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return []byte(h.ID) }
func (h holder) WebAuthnName() string                       { return h.Email }
func (h holder) WebAuthnDisplayName() string                { return h.Name }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.has }

// BeginAdd makes the options for a new passkey of a user, as JSON: a
// PublicKeyCredentialCreationOptionsJSON. It returns [ErrFull] or [ErrSite].
func (s *Store) BeginAdd(ctx context.Context, u User) (json.RawMessage, error) {
	if s.web == nil {
		return nil, ErrSite
	}
	rows, err := s.rows(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if len(rows) >= MaxPasskeys {
		return nil, ErrFull
	}
	var exclude []protocol.CredentialDescriptor // an authenticator has one passkey of a user
	for _, r := range rows {
		c, err := r.credential()
		if err != nil {
			return nil, err
		}
		exclude = append(exclude, c.Descriptor())
	}
	creation, session, err := s.web.BeginRegistration(holder{User: u}, webauthn.WithExclusions(exclude))
	if err != nil {
		return nil, fmt.Errorf("beginning a passkey: %w", err)
	}
	if err := s.keep(ctx, session.Challenge, u.ID, ""); err != nil {
		return nil, err
	}
	return json.Marshal(creation.Response)
}

// Fresh is a passkey that an authenticator has made and that is not kept yet.
type Fresh struct {
	user       User
	credential webauthn.Credential
}

// Verify reads what an authenticator has answered to the options of
// [Store.BeginAdd]: a RegistrationResponseJSON. The challenge is used up, whatever
// comes of it. It returns [ErrChallenge], [ErrResponse] or [ErrSite].
func (s *Store) Verify(ctx context.Context, u User, response []byte) (Fresh, error) {
	if s.web == nil {
		return Fresh{}, ErrSite
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Fresh{}, notValid(err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	if err := s.take(ctx, challenge, u.ID); err != nil {
		return Fresh{}, err
	}
	credential, err := s.web.CreateCredential(holder{User: u}, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: s.web.Config.RPID, UserID: []byte(u.ID),
		UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault(),
	}, parsed)
	if err != nil {
		return Fresh{}, notValid(err)
	}
	credential.Attestation = webauthn.CredentialAttestation{} // the user was not asked which model it is
	return Fresh{u, *credential}, nil
}

// AddTx keeps a passkey under a name. Have the account locked: the user may have
// no more than [MaxPasskeys]. It returns [ErrFull], or [ErrTaken].
func (s *Store) AddTx(ctx context.Context, tx *database.Tx, f Fresh, name string) (Passkey, error) {
	var has int
	if err := tx.GetContext(ctx, &has, `SELECT count(*) FROM passkey_credential WHERE user_id = $1`, f.user.ID); err != nil {
		return Passkey{}, fmt.Errorf("counting passkeys: %w", err)
	}
	if has >= MaxPasskeys {
		return Passkey{}, ErrFull
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Passkey{}, fmt.Errorf("making an id: %w", err)
	}
	record, err := json.Marshal(f.credential)
	if err != nil {
		return Passkey{}, fmt.Errorf("writing a passkey: %w", err)
	}
	r := row{ID: id.String(), User: f.user.ID, Name: name, Added: database.Micros(s.now())}
	n, err := affected(tx.ExecContext(ctx, `INSERT INTO passkey_credential (id, user_id, credential, name, record, sign_count, added_us, used_us)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0) ON CONFLICT (credential) DO NOTHING`,
		r.ID, r.User, encoded(f.credential.ID), r.Name, string(record), int64(f.credential.Authenticator.SignCount), r.Added))
	switch {
	case err != nil:
		return Passkey{}, fmt.Errorf("keeping a passkey: %w", err)
	case n == 0:
		return Passkey{}, ErrTaken
	}
	return r.passkey(), nil
}

// credential is the record with the counter as it is now.
func (r row) credential() (c webauthn.Credential, err error) {
	if err := json.Unmarshal([]byte(r.Record), &c); err != nil {
		return c, fmt.Errorf("reading the passkey %s: %w", r.ID, err)
	}
	c.Authenticator.SignCount = uint32(r.Count)
	return c, nil
}

// encoded is the id of a credential as it is stored.
func encoded(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// notValid is [ErrResponse] with the library's reason, which names no value.
func notValid(err error) error {
	if known, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("%w: %s: %s", ErrResponse, known.Type, known.Details)
	}
	return ErrResponse
}
