package messaging

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// PasskeyCredential is what an authenticator answers to the options of a
// [Session.Passkey]: the AuthenticationResponseJSON of WebAuthn
// (https://www.w3.org/TR/webauthn-3/#dictdef-authenticationresponsejson), as
// PublicKeyCredential.toJSON of a browser returns it. Its bytes are base64url
// without padding.
type PasskeyCredential struct {
	ID       string           `json:"id" minLength:"1" maxLength:"2048" doc:"Same value as rawId."`
	RawID    string           `json:"rawId" minLength:"1" maxLength:"2048" doc:"Id of the passkey. Base64url without padding, as all bytes here."`
	Type     string           `json:"type" enum:"public-key"`
	Response PasskeyAssertion `json:"response"`

	AuthenticatorAttachment string         `json:"authenticatorAttachment,omitempty" maxLength:"100" doc:"Not used."`
	ClientExtensionResults  map[string]any `json:"clientExtensionResults,omitempty" doc:"Not used."`
}

// PasskeyAssertion is the signed part of a [PasskeyCredential].
type PasskeyAssertion struct {
	ClientDataJSON    string `json:"clientDataJSON" minLength:"1" maxLength:"16384"`
	AuthenticatorData string `json:"authenticatorData" minLength:"1" maxLength:"16384"`
	Signature         string `json:"signature" minLength:"1" maxLength:"16384"`
	UserHandle        string `json:"userHandle,omitempty" maxLength:"2048"`
}

// answer returns the bytes of a credential. It returns an [*Invalid] for each
// member that cannot be read, joined.
func (c PasskeyCredential) answer() (a provider.PasskeyAnswer, err error) {
	var wrong []error
	for _, m := range []struct {
		field, text string
		to          *[]byte
	}{
		{"rawId", c.RawID, &a.CredentialID},
		{"response.clientDataJSON", c.Response.ClientDataJSON, &a.ClientDataJSON},
		{"response.authenticatorData", c.Response.AuthenticatorData, &a.AuthenticatorData},
		{"response.signature", c.Response.Signature, &a.Signature},
	} {
		if *m.to, err = base64.RawURLEncoding.DecodeString(m.text); err != nil || m.text == "" {
			wrong = append(wrong, &Invalid{Field: "credential." + m.field, Message: "must be base64url without padding"})
		}
	}
	if c.Response.UserHandle != "" {
		if a.UserHandle, err = base64.RawURLEncoding.DecodeString(c.Response.UserHandle); err != nil {
			wrong = append(wrong, &Invalid{Field: "credential.response.userHandle", Message: "must be base64url without padding"})
		}
	}
	if c.ID != c.RawID {
		wrong = append(wrong, &Invalid{Field: "credential.id", Message: "must be the same as rawId"})
	}
	if c.Type != "public-key" {
		wrong = append(wrong, &Invalid{Field: "credential.type", Message: "must be public-key"})
	}
	return a, errors.Join(wrong...)
}

// AnswerPasskey answers the options of a [Session.Passkey] with the signature of
// the owner's passkey. The reference is then linked, or the session shows a code to
// compare: see [Sessions.ConfirmPasskey]. It returns an [*Invalid] for each member
// that is wrong, an [*Error] with [CodeConflict] if no passkey is asked for, and an
// [*Error] with [CodeProvider] if the network refuses the signature.
func (a *Sessions) AnswerPasskey(ctx context.Context, id provider.ReferenceID, c PasskeyCredential) (Session, error) {
	answer, err := c.answer()
	if err != nil {
		return Session{}, err
	}
	return a.passkey(ctx, id, func(p *Passkey) bool { return p.Options != nil }, func(ctx context.Context, l provider.PasskeyLinker) error {
		return l.AnswerPasskey(ctx, answer)
	})
}

// ConfirmPasskey says that a person has compared the code of a [Session.Passkey]
// with the code on the phone, and both are the same. Without such a code it returns
// an [*Error] with [CodeConflict].
func (a *Sessions) ConfirmPasskey(ctx context.Context, id provider.ReferenceID) (Session, error) {
	return a.passkey(ctx, id, func(p *Passkey) bool { return p.Code != nil }, func(ctx context.Context, l provider.PasskeyLinker) error {
		return l.ConfirmPasskey(ctx)
	})
}

// passkey makes a call about the passkey that a session asks for now, if that fits.
func (a *Sessions) passkey(ctx context.Context, id provider.ReferenceID, fits func(*Passkey) bool,
	call func(context.Context, provider.PasskeyLinker) error,
) (Session, error) {
	row, err := store.ReferenceOf(ctx, a.s.db, a.id, id)
	if err != nil {
		return Session{}, err
	}
	if !a.s.store.Connects(row.Kind) {
		return Session{}, &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " is not linked with a passkey."}
	}
	if p := session.View(row, a.s.now()).Passkey; p == nil || !fits(p) {
		return Session{}, &Error{Code: CodeConflict, Message: "The session does not ask for this now."}
	}
	sess, err := a.s.connections.Reach(ctx, row)
	if err != nil {
		return Session{}, err
	}
	network, ok := sess.(provider.PasskeyLinker)
	if !ok {
		return Session{}, &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " is not linked with a passkey."}
	}
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	if err := call(calling, network); err != nil {
		if broken := refusal.BrokenRules(err); broken != nil {
			return Session{}, broken
		}
		return Session{}, refusal.OfCall(ctx, err)
	}
	return a.Status(ctx, id)
}
