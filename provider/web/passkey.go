package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/util/jsonbytes"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// passkeyTTL is how long a person may take for a passkey, and again for the code.
// It is how long whatsmeow can prove that the answer belongs to the QR code that
// was scanned (passkeyHandoffKey.Valid in pair-passkey.go).
const passkeyTTL = 5 * time.Minute

// passkeyAdvice is what to do when a passkey was not accepted.
const passkeyAdvice = "Link again, and answer the request for the passkey."

// passkeys answers the requests for a passkey while a reference is being linked.
type passkeys struct {
	conn *connection

	mu      sync.Mutex
	client  *whatsmeow.Client // that was asked; nil: none
	options *types.WebAuthnPublicKey
	coded   bool // a code is to be compared
}

// asked records a request for a passkey, or for the comparison of a code.
func (ps *passkeys) asked(c *whatsmeow.Client, options *types.WebAuthnPublicKey) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if options != nil {
		ps.options = options
	}
	ps.client, ps.coded = c, options == nil
}

// answered forgets the requests: the reference is linked.
func (ps *passkeys) answered() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.client, ps.options, ps.coded = nil, nil, false
}

// pending returns the client that was asked for what is answered now.
func (ps *passkeys) pending(coded bool) (*whatsmeow.Client, *types.WebAuthnPublicKey, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.client == nil || ps.client != ps.conn.current() || coded && !ps.coded {
		return nil, nil, &provider.Rejected{Code: "passkey_not_requested", Message: "WhatsApp does not ask for this now."}
	}
	return ps.client, ps.options, nil
}

// AnswerPasskey sends the answer of an authenticator.
func (ps *passkeys) AnswerPasskey(ctx context.Context, a provider.PasskeyAnswer) error {
	c, options, err := ps.pending(false)
	if err != nil {
		return err
	}
	if err := checkPasskey(options, a); err != nil {
		return err
	}
	response := &types.WebAuthnResponse{
		ID: base64.RawURLEncoding.EncodeToString(a.CredentialID), RawID: a.CredentialID, Type: "public-key",
		Response: types.WebAuthnResponseData{ClientDataJSON: a.ClientDataJSON, AuthenticatorData: a.AuthenticatorData, Signature: a.Signature},
	}
	if a.UserHandle != nil {
		handle := jsonbytes.UnpaddedURLBytes(a.UserHandle)
		response.Response.UserHandle = &handle
	}
	return queryError(c.SendPasskeyResponse(ctx, response))
}

// ConfirmPasskey says that the codes are the same.
func (ps *passkeys) ConfirmPasskey(ctx context.Context) error {
	c, _, err := ps.pending(true)
	if err != nil {
		return err
	}
	return queryError(c.SendPasskeyConfirmation(ctx))
}

// checkPasskey returns an [*provider.Invalid] for an answer to another request.
// WhatsApp checks the signature.
func checkPasskey(options *types.WebAuthnPublicKey, a provider.PasskeyAnswer) error {
	var client struct {
		Type, Challenge string
	}
	site := sha256.Sum256([]byte(options.RelyingPartID))
	switch {
	case json.Unmarshal(a.ClientDataJSON, &client) != nil || client.Type != "webauthn.get":
		return &provider.Invalid{Field: "credential.response.clientDataJSON", Message: "must be the client data of an assertion"}
	case client.Challenge != base64.RawURLEncoding.EncodeToString(options.Challenge):
		return &provider.Invalid{Field: "credential.response.clientDataJSON", Message: "has another challenge than the request"}
	case !bytes.HasPrefix(a.AuthenticatorData, site[:]):
		return &provider.Invalid{Field: "credential.response.authenticatorData", Message: "is of another site than " + options.RelyingPartID}
	}
	return nil
}

// askPasskey shows the network's request for a passkey.
func (r *connectionLoop) askPasskey(e *events.PairPasskeyRequest) {
	r.passkeys.asked(r.conn.current(), e.PublicKey)
	r.showPasskey(&provider.PasskeyRequest{Options: passkeyOptions(e.PublicKey)})
}

// comparePasskey continues after an answer: at once, or when a person has compared
// the code.
func (r *connectionLoop) comparePasskey(e *events.PairPasskeyConfirmation) {
	r.passkeys.asked(r.conn.current(), nil)
	if !e.SkipHandoffUX {
		r.showPasskey(&provider.PasskeyRequest{Code: e.Code})
		return
	}
	ctx, cancel := context.WithTimeout(r.conn.ctx, pairTimeout)
	defer cancel()
	if err := r.conn.current().SendPasskeyConfirmation(ctx); err != nil {
		r.passkeyFailed(err)
	}
}

func (r *connectionLoop) showPasskey(p *provider.PasskeyRequest) {
	r.linking.passkey, r.linking.expires = true, r.conn.now().Add(passkeyTTL)
	r.report(&provider.Connection{State: provider.Pairing, Passkey: p, Expires: r.linking.expires})
}

// passkeyFailed ends an attempt to link whose passkey led nowhere.
func (r *connectionLoop) passkeyFailed(err error) {
	r.conn.log.WarnContext(r.conn.ctx, "linking with a passkey", slog.String("error", redacted(err)))
	r.stop(provider.PasskeyRequired, "WhatsApp did not accept the passkey. "+passkeyAdvice, time.Time{})
}

func passkeyOptions(k *types.WebAuthnPublicKey) *provider.PasskeyOptions {
	out := &provider.PasskeyOptions{
		Challenge: base64.RawURLEncoding.EncodeToString(k.Challenge), Timeout: k.Timeout, RPID: k.RelyingPartID,
		AllowCredentials: []provider.PasskeyCredential{}, UserVerification: k.UserVerification, Extensions: k.Extensions,
	}
	for _, a := range k.AllowCredentials {
		out.AllowCredentials = append(out.AllowCredentials, provider.PasskeyCredential{
			ID: base64.RawURLEncoding.EncodeToString(a.ID), Type: a.Type, Transports: a.Transports,
		})
	}
	return out
}
