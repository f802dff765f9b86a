package provider

import "context"

// PasskeyLinker is a [Linker], too, whose network may ask the owner of an account for a
// passkey before it links a device. It shows what it needs as the
// [Connection.Passkey] of a connection that is [Pairing].
type PasskeyLinker interface {
	// AnswerPasskey sends what an authenticator answered to
	// [PasskeyRequest.Options]. It returns an [*Invalid] if the answer is to
	// another request. The network may then ask to compare a code.
	AnswerPasskey(ctx context.Context, answer PasskeyAnswer) error
	// ConfirmPasskey says that a person has compared [PasskeyRequest.Code] with
	// the code on the phone, and both are the same.
	ConfirmPasskey(ctx context.Context) error
}

// PasskeyRequest is what a network asks for to link a device: an answer to
// Options, or to compare Code.
type PasskeyRequest struct {
	Options *PasskeyOptions `json:"options"`
	Code    string          `json:"code"` // that the phone should show, too; or ""
}

// PasskeyOptions are the PublicKeyCredentialRequestOptionsJSON of WebAuthn
// (https://www.w3.org/TR/webauthn-3/#dictdef-publickeycredentialrequestoptionsjson),
// as PublicKeyCredential.parseRequestOptionsFromJSON of a browser takes them.
type PasskeyOptions struct {
	Challenge        string              `json:"challenge" doc:"Base64url without padding."`
	Timeout          int                 `json:"timeout,omitempty" doc:"Milliseconds that the person has."`
	RPID             string              `json:"rpId" doc:"The site to which the passkey belongs. Browsers sign only on pages of this site." example:"whatsapp.com"`
	AllowCredentials []PasskeyCredential `json:"allowCredentials" nullable:"false" doc:"The passkeys that may answer; empty: any of the site."`
	UserVerification string              `json:"userVerification,omitempty" example:"required"`
	Extensions       map[string]any      `json:"extensions,omitempty"`
}

// PasskeyCredential names a passkey.
type PasskeyCredential struct {
	ID         string   `json:"id" doc:"Base64url without padding."`
	Type       string   `json:"type" example:"public-key"`
	Transports []string `json:"transports,omitempty"`
}

// PasskeyAnswer is the assertion of an authenticator
// (https://www.w3.org/TR/webauthn-3/#iface-authenticatorassertionresponse).
type PasskeyAnswer struct {
	CredentialID      []byte `json:"credentialId"`
	ClientDataJSON    []byte `json:"clientDataJSON"`
	AuthenticatorData []byte `json:"authenticatorData"`
	Signature         []byte `json:"signature"`
	UserHandle        []byte `json:"userHandle,omitempty"` // nil: the authenticator gave none
}
