package webtest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// ErrPasskey is returned when a phone does not link a device yet because it
// requires a passkey. The client is asked for one, and linked when it has answered
// as [Passkey.Sign] does.
var ErrPasskey = errors.New("webtest: a passkey is required")

// qrPrefix is the prefix of a QR code.
const qrPrefix = "https://wa.me/settings/linked_devices#"

// qrRefs is how many QR codes a client gets.
const qrRefs = 6

// offerPairing sends the data for QR codes to a client that is not linked.
func (c *conn) offerPairing() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var refs []node
	for range qrRefs {
		ref := "2@" + c.s.id()
		c.s.pending[ref] = c
		refs = append(refs, node{Tag: "ref", Content: []byte(ref)})
	}
	c.send(node{
		Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": c.s.id(), "xmlns": "md"},
		Content: []node{{Tag: "pair-device", Content: refs}},
	})
}

// Scan makes the phone scan a client's QR code and link its device. It returns
// when the client has proven its keys and was told to reconnect.
// [Device.AwaitActive] waits until it has.
func (p *Phone) Scan(ctx context.Context, qr string) (*Device, error) {
	parts := strings.Split(strings.TrimPrefix(qr, qrPrefix), ",")
	if len(parts) < 4 {
		return nil, fmt.Errorf("webtest: the QR code has %d parts and needs at least 4", len(parts))
	}
	var keys [3][]byte // of the handshake, of the device, the secret
	for i := range keys {
		key, err := base64.StdEncoding.DecodeString(parts[i+1])
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("webtest: part %d of the QR code is not a key", i+2)
		}
		keys[i] = key
	}
	p.s.mu.Lock()
	c := p.s.pending[parts[0]]
	p.s.mu.Unlock()
	switch {
	case c == nil:
		return nil, errors.New("webtest: no client shows this QR code")
	case !hmac.Equal(keys[0], c.noise[:]):
		return nil, errors.New("webtest: the keys of the QR code are not those of its client")
	case p.opts.Passkey:
		c.askPasskey(p, keys[2])
		return nil, ErrPasskey
	}
	return p.link(ctx, c, keys[1], keys[2])
}

// link signs the client's identity for the account, and has the client sign it.
func (p *Phone) link(ctx context.Context, c *conn, identity, secret []byte) (*Device, error) {
	p.s.mu.Lock()
	p.lastDevice++
	d := &Device{s: p.s, phone: p, number: p.lastDevice, noise: c.noise}
	p.s.mu.Unlock()
	registration := c.payload.GetDevicePairingData()
	d.keys = deviceKeys{
		registration: registration.GetERegid(),
		identity:     registration.GetEIdent(),
		signed: node{Tag: "skey", Content: []node{
			{Tag: "id", Content: registration.GetESkeyID()},
			{Tag: "value", Content: registration.GetESkeyVal()},
			{Tag: "signature", Content: registration.GetESkeySig()},
		}},
	}
	container, err := p.signDevice(d.number, identity, secret)
	if err != nil {
		return nil, err
	}
	answer := make(chan error, 1)
	c.ask(node{Attrs: attrs{"type": "set", "xmlns": "md", "t": time.Now().Unix()}, Content: []node{{
		Tag: "pair-success", Content: []node{
			{Tag: "device-identity", Content: container},
			{Tag: "biz", Attrs: attrs{"name": ""}},
			{Tag: "device", Attrs: attrs{"jid": d.JID(), "lid": d.LID()}},
			{Tag: "platform", Attrs: attrs{"name": "android"}},
		},
	}}}, func(n *node) { answer <- p.checkDevice(n, d.keys.identity) })
	select {
	case err = <-answer:
	case <-c.ended:
		err = errors.New("the client closed the connection")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("webtest: linking: %w", err)
	}
	p.adopt(d, c)
	return d, nil
}

// signDevice signs a device's identity with the account's key, and
// authenticates that with the secret of the client.
func (v *vault) signDevice(number uint16, identity, secret []byte) ([]byte, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID: proto.Uint32(1), Timestamp: proto.Uint64(uint64(time.Now().Unix())), KeyIndex: proto.Uint32(uint32(number)),
		AccountType: waAdv.ADVEncryptionType_E2EE.Enum(), DeviceType: waAdv.ADVEncryptionType_E2EE.Enum(),
	})
	if err != nil {
		return nil, err
	}
	account := v.identity()
	signed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: account.Pub[:],
		AccountSignature: sign(account, joined([]byte{6, 0}, details, identity)),
	})
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(signed)
	return proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
}

// checkDevice checks that the client signed with the key of its identity.
func (v *vault) checkDevice(n *node, identity []byte) error {
	var signed waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(bytesOf(n, "pair-device-sign", "device-identity"), &signed); err != nil {
		return fmt.Errorf("reading the device's signature: %w", err)
	}
	if len(signed.GetDeviceSignature()) != 64 || len(identity) != 32 {
		refusal := n.GetChildByTag("error")
		return fmt.Errorf("the client refused: %q", str(&refusal, "text"))
	}
	stated := joined([]byte{6, 1}, signed.GetDetails(), identity, v.identity().Pub[:])
	if !ecc.VerifySignature(ecc.NewDjbECPublicKey([32]byte(identity)), stated, [64]byte(signed.GetDeviceSignature())) {
		return errors.New("the device's signature is wrong")
	}
	return nil
}

// adopt registers the device, and tells its client to log in.
func (p *Phone) adopt(d *Device, c *conn) {
	p.s.deliveries(func(b *batch) {
		p.devices[d.number] = d
		for ref, waiting := range p.s.pending {
			if waiting == c {
				delete(p.s.pending, ref)
			}
		}
		c.leave(node{Tag: "stream:error", Attrs: attrs{"code": "515"}})
		b.devicesChanged(p)
	})
}

// devicesChanged notifies devices that know the account's list of devices to
// request it again.
func (b *batch) devicesChanged(p *Phone) {
	for d := range p.watchers {
		if d.phone == p || d.removed {
			continue
		}
		b.deliver(d, node{
			Tag:     "notification",
			Attrs:   attrs{"type": "devices", "id": b.s.id(), "t": time.Now().Unix(), "from": p.lid},
			Content: []node{{Tag: "update", Attrs: attrs{"device_hash": "2:" + b.s.id()}, Content: []node{{Tag: "device", Attrs: attrs{"jid": p.lid}}}}},
		})
	}
}

// codePairing is a client that shows a code of eight characters.
type codePairing struct {
	conn     *conn
	ref      string
	wrapped  []byte // the client's key, encrypted with the code
	finished chan node
}

// linkCode handles the client's steps of pairing by code.
func (c *conn) linkCode(n, step *node) {
	number := jid(step, "jid").User
	switch str(step, "stage") {
	case "companion_hello":
		cp := &codePairing{
			conn: c, ref: "3@" + c.s.newID(), finished: make(chan node, 1),
			wrapped: bytesOf(step, "link_code_pairing_wrapped_companion_ephemeral_pub"),
		}
		c.s.mu.Lock()
		c.s.codes[number] = cp
		c.s.mu.Unlock()
		c.result(n, node{
			Tag: "link_code_companion_reg", Attrs: attrs{"stage": "companion_hello"},
			Content: []node{{Tag: "link_code_pairing_ref", Content: []byte(cp.ref)}},
		})
	case "companion_finish":
		c.s.mu.Lock()
		cp := c.s.codes[number]
		c.s.mu.Unlock()
		c.result(n)
		if cp != nil && cp.conn == c {
			select {
			case cp.finished <- *step:
			default: // the client has repeated the step
			}
		}
	default:
		c.refuse(n, 400, "bad-request")
	}
}

// EnterCode makes the phone link the client that shows a code for its number:
// see [Phone.Scan].
func (p *Phone) EnterCode(ctx context.Context, code string) (*Device, error) {
	code = strings.ReplaceAll(code, "-", "")
	p.s.mu.Lock()
	cp := p.s.codes[p.jid.User]
	p.s.mu.Unlock()
	switch {
	case cp == nil || len(cp.wrapped) != 80:
		return nil, errors.New("webtest: no client shows a code for this number")
	case p.opts.Passkey:
		cp.conn.askPasskey(p, nil)
		return nil, ErrPasskey
	}
	theirs, err := underCode(code, cp.wrapped)
	if err != nil {
		return nil, err
	}
	own := keys.NewKeyPair()
	if err := p.sendCodeKey(cp, code, own); err != nil {
		return nil, err
	}
	select {
	case step := <-cp.finished:
		identity, secret, err := p.codeSecrets(&step, own, theirs)
		if err != nil {
			return nil, fmt.Errorf("webtest: linking by code: %w", err)
		}
		return p.link(ctx, cp.conn, identity, secret)
	case <-cp.conn.ended:
		return nil, errors.New("webtest: the client closed the connection")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Phone) sendCodeKey(cp *codePairing, code string, own *keys.KeyPair) error {
	wrapped := make([]byte, 48, 80) // salt and nonce
	_, _ = rand.Read(wrapped)       // never fails
	sealed, err := underCode(code, append(wrapped, own.Pub[:]...))
	if err != nil {
		return err
	}
	cp.conn.send(node{
		Tag:   "notification",
		Attrs: attrs{"from": types.ServerJID, "type": "link_code_companion_reg", "id": p.s.newID(), "t": time.Now().Unix()},
		Content: []node{{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: []node{
			{Tag: "link_code_pairing_ref", Content: []byte(cp.ref)},
			{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: joined(wrapped, sealed)},
			{Tag: "primary_identity_pub", Content: p.identity().Pub[:]},
		}}},
	})
	return nil
}

// codeSecrets decrypts the client's keys, and derives the shared secret.
func (v *vault) codeSecrets(step *node, own *keys.KeyPair, theirs []byte) (identity, secret []byte, err error) {
	sealed := bytesOf(step, "link_code_pairing_wrapped_key_bundle")
	identity = bytesOf(step, "companion_identity_public")
	if len(sealed) < 44 {
		return nil, nil, errors.New("the client's keys are incomplete")
	}
	shared, err := x25519(own.Priv[:], theirs)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Key(sha256.New, shared, sealed[:32], "link_code_pairing_key_bundle_encryption_key", 32)
	if err != nil {
		return nil, nil, err
	}
	gcm, err := newGCM(key)
	if err != nil {
		return nil, nil, err
	}
	opened, err := gcm.Open(nil, sealed[32:44], sealed[44:], nil)
	if err != nil || len(opened) != 96 {
		return nil, nil, errors.New("the code is wrong")
	}
	identities, err := x25519(v.identity().Priv[:], identity)
	if err != nil {
		return nil, nil, err
	}
	secret, err = hkdf.Key(sha256.New, joined(shared, identities, opened[64:]), nil, "adv_secret", 32)
	return identity, secret, err
}

// underCode encrypts, or decrypts, the last 32 of 80 bytes with a key derived
// from the code. Salt and nonce precede them.
func underCode(code string, wrapped []byte) ([]byte, error) {
	key, err := pbkdf2.Key(sha256.New, code, wrapped[:32], 2<<16, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 32)
	cipher.NewCTR(block, wrapped[32:48]).XORKeyStream(out, wrapped[48:80])
	return out, nil
}
