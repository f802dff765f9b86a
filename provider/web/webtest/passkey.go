package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// passkeySite is the relying party of passkeys.
const passkeySite = "whatsapp.com"

// Passkey is the passkey of an account, in an authenticator of its owner.
type Passkey struct {
	p   *Phone
	id  []byte
	key *ecdsa.PrivateKey

	// Guarded by the server's lock.
	forgets bool   // see [PhoneOptions.ForgetsHandoff]
	code    string // that the phone shows
}

func newPasskey(p *Phone) *Passkey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic("webtest: " + err.Error()) // rand.Reader never fails
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return &Passkey{p: p, id: id, key: key, forgets: p.opts.ForgetsHandoff}
}

// Passkey returns the passkey of a phone with [PhoneOptions.Passkey].
func (p *Phone) Passkey() *Passkey { return p.passkey }

// Sign returns what a browser on a page of WhatsApp returns for request options:
// the result of PublicKeyCredential.toJSON.
func (k *Passkey) Sign(challenge string) []byte {
	client, err := json.Marshal(map[string]any{
		"type": "webauthn.get", "challenge": challenge, "origin": "https://web." + passkeySite, "crossOrigin": false,
	})
	if err != nil {
		panic("webtest: " + err.Error()) // strings always marshal
	}
	site := sha256.Sum256([]byte(passkeySite))
	data := append(site[:], 0x05, 0, 0, 0, 0) // user present and verified, no counter
	signature, err := ecdsa.SignASN1(rand.Reader, k.key, assertionDigest(data, client))
	if err != nil {
		panic("webtest: " + err.Error())
	}
	text := base64.RawURLEncoding.EncodeToString
	out, err := json.Marshal(map[string]any{
		"id": text(k.id), "rawId": text(k.id), "type": "public-key", "authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature), "userHandle": text([]byte("owner"))},
	})
	if err != nil {
		panic("webtest: " + err.Error())
	}
	return out
}

func assertionDigest(data, client []byte) []byte {
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(joined(data, hash[:]))
	return digest[:]
}

// passkeyPairing is a client that has been asked for a passkey. The server's lock
// guards it; the reader of the client's connection uses it alone after that.
type passkeyPairing struct {
	phone      *Phone
	secret     []byte // that the QR code had; nil: the client showed a code to type
	challenge  string
	ref        string
	ephemeral  *keys.KeyPair // of the phone
	nonce      []byte        // likewise
	identity   []byte        // what the client committed to
	commitment []byte
	key        []byte // encrypts the client's keys; nil: its nonce has not come
}

// askPasskey tells the client that the account requires a passkey.
func (c *conn) askPasskey(p *Phone, secret []byte) {
	challenge := make([]byte, 32)
	_, _ = rand.Read(challenge) // never fails
	text := base64.RawURLEncoding.EncodeToString
	pairing := &passkeyPairing{phone: p, secret: secret, challenge: text(challenge)}
	options, err := json.Marshal(map[string]any{
		"challenge": pairing.challenge, "timeout": 60000, "rpId": passkeySite, "userVerification": "required",
		"allowCredentials": []any{map[string]any{"id": text(p.passkey.id), "type": "public-key", "transports": []string{"internal", "hybrid"}}},
	})
	if err != nil {
		panic("webtest: " + err.Error()) // strings always marshal
	}
	c.s.mu.Lock()
	c.passkey = pairing
	c.s.mu.Unlock()
	c.notification("passkey_prologue_request", node{Tag: "passkey_request_options", Content: options})
}

func (c *conn) notification(kind string, content node) {
	c.send(node{
		Tag:     "notification",
		Attrs:   attrs{"from": types.ServerJID, "type": kind, "id": c.s.newID(), "t": time.Now().Unix()},
		Content: []node{content},
	})
}

// passkeySteps are the queries of a client that answers a request for a passkey, by
// type and first child.
var passkeySteps = map[string]func(c *conn, pp *passkeyPairing, n, child *node) error{
	"get ref":                       (*conn).giveRef,
	"set passkey_prologue":          (*conn).takePrologue,
	"set companion_nonce":           (*conn).takeNonce,
	"set encrypted_pairing_request": (*conn).takePairingRequest,
}

// linkPasskey handles a step, and reports whether the query is one.
func (c *conn) linkPasskey(n, child *node) bool {
	step := passkeySteps[str(n, "type")+" "+child.Tag]
	c.s.mu.Lock()
	pp := c.passkey
	c.s.mu.Unlock()
	if step == nil || pp == nil || str(n, "xmlns") != "md" {
		return false
	}
	if err := step(c, pp, n, child); err != nil {
		c.s.log.Debug("linking with a passkey", slog.Any("error", err))
		c.refuse(n, 400, "bad-request")
	}
	return true
}

func (c *conn) giveRef(pp *passkeyPairing, n, _ *node) error {
	pp.ref = "4@" + c.s.newID()
	c.result(n, node{Tag: "ref", Content: []byte(pp.ref)})
	return nil
}

// takePrologue checks the assertion, and has the phone continue.
func (c *conn) takePrologue(pp *passkeyPairing, n, child *node) error {
	prologue := bytesOf(child, "prologue_payload")
	proven, err := pp.check(child, prologue)
	if err != nil {
		return err
	}
	var payload waCompanionReg.ProloguePayload
	var identity waCompanionReg.CompanionEphemeralIdentity
	if err := errors.Join(proto.Unmarshal(prologue, &payload), proto.Unmarshal(payload.GetCompanionEphemeralIdentity(), &identity)); err != nil {
		return err
	}
	if identity.GetRef() != pp.ref || len(identity.GetPublicKey()) != 32 {
		return errors.New("the client's identity is wrong")
	}
	pp.identity, pp.commitment = payload.GetCompanionEphemeralIdentity(), payload.GetCommitment().GetHash()
	pp.ephemeral, pp.nonce = keys.NewKeyPair(), make([]byte, 32)
	_, _ = rand.Read(pp.nonce) // never fails
	c.result(n)
	if proven && pp.phone.passkey.forgetHandoff() {
		return nil
	}
	primary, err := proto.Marshal(&waCompanionReg.PrimaryEphemeralIdentity{PublicKey: pp.ephemeral.Pub[:], Nonce: pp.nonce})
	if err != nil {
		return err
	}
	c.notification("crsc_continuation", node{Tag: "primary_ephemeral_identity", Content: primary})
	return nil
}

// check checks the signature of the passkey, and reports whether the client has
// proven that its QR code was scanned.
func (pp *passkeyPairing) check(child *node, prologue []byte) (proven bool, err error) {
	var answer types.WebAuthnResponse
	if err := json.Unmarshal(bytesOf(child, "webauthn_assertion"), &answer); err != nil {
		return false, err
	}
	var client struct{ Challenge, Origin string }
	if err := json.Unmarshal(answer.Response.ClientDataJSON, &client); err != nil {
		return false, err
	}
	k := pp.phone.passkey
	digest := assertionDigest(answer.Response.AuthenticatorData, answer.Response.ClientDataJSON)
	switch {
	case string(bytesOf(child, "credential_id")) != string(k.id) || string(answer.RawID) != string(k.id):
		return false, errors.New("the passkey is another")
	case client.Challenge != pp.challenge || client.Origin != "https://web."+passkeySite:
		return false, errors.New("the answer is to another request")
	case !ecdsa.VerifyASN1(&k.key.PublicKey, digest, answer.Response.Signature):
		return false, errors.New("the signature is wrong")
	}
	proof := bytesOf(child, "pairing_handoff_proof")
	if proof == nil || pp.secret == nil {
		return proof != nil, nil
	}
	key, err := hkdf.Key(sha256.New, pp.secret, nil, "shortcake-passkey-handoff-v1", 32)
	if err != nil {
		return false, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(prologue)
	if !hmac.Equal(mac.Sum(nil), proof) {
		return false, errors.New("the proof of the QR code is wrong")
	}
	return true, nil
}

// forgetHandoff reports whether the phone does not continue this time.
func (k *Passkey) forgetHandoff() bool {
	k.p.s.mu.Lock()
	defer k.p.s.mu.Unlock()
	forgets := k.forgets
	k.forgets = false
	return forgets
}

// takeNonce checks the client's commitment, and derives the key and the code.
func (c *conn) takeNonce(pp *passkeyPairing, n, child *node) error {
	nonce := body(*child)
	hash := sha256.Sum256(joined(pp.identity, nonce))
	if pp.ephemeral == nil || !hmac.Equal(hash[:], pp.commitment) {
		return errors.New("the client's nonce is not the one that it committed to")
	}
	var identity waCompanionReg.CompanionEphemeralIdentity
	if err := proto.Unmarshal(pp.identity, &identity); err != nil {
		return err
	}
	shared, err := x25519(pp.ephemeral.Priv[:], identity.GetPublicKey())
	if err != nil {
		return err
	}
	salt := fmt.Sprintf("Companion Pairing %d with ref %s", identity.GetDeviceType(), pp.ref)
	if pp.key, err = hkdf.Key(sha256.New, shared, []byte(salt), "Pairing Information Encryption Key", 32); err != nil {
		return err
	}
	digest := sha256.Sum256(joined(nonce, pp.ephemeral.Pub[:]))
	code := make([]byte, 5)
	for i := range code {
		code[i] = pp.nonce[i] ^ digest[i]
	}
	text := base32.NewEncoding("123456789ABCDEFGHJKLMNPQRSTVWXYZ").EncodeToString(code)
	c.s.mu.Lock()
	pp.phone.passkey.code = text[:4] + "-" + text[4:]
	c.s.mu.Unlock()
	c.result(n)
	return nil
}

// Code returns the code that the phone shows to be compared, or "".
func (k *Passkey) Code() string {
	k.p.s.mu.Lock()
	defer k.p.s.mu.Unlock()
	return k.code
}

// takePairingRequest links the client.
func (c *conn) takePairingRequest(pp *passkeyPairing, n, child *node) error {
	var wrapped waCompanionReg.EncryptedPairingRequest
	if err := proto.Unmarshal(body(*child), &wrapped); err != nil {
		return err
	}
	if pp.key == nil || len(wrapped.GetIV()) != 12 {
		return errors.New("the client's request is incomplete")
	}
	gcm, err := newGCM(pp.key)
	if err != nil {
		return err
	}
	opened, err := gcm.Open(nil, wrapped.GetIV(), wrapped.GetEncryptedPayload(), nil)
	if err != nil {
		return err
	}
	var request waCompanionReg.PairingRequest
	if err := proto.Unmarshal(opened, &request); err != nil {
		return err
	}
	if !hmac.Equal(request.GetCompanionPublicKey(), c.noise[:]) {
		return errors.New("the keys of the request are not those of its client")
	}
	c.result(n)
	go func() { // it waits for the client's answer
		if _, err := pp.phone.link(c.s.over, c, request.GetCompanionIdentityKey(), request.GetAdvSecret()); err != nil {
			c.s.log.Debug("linking with a passkey", slog.Any("error", err))
		}
	}()
	return nil
}
