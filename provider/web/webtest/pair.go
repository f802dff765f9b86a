package webtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// ErrPasskey is returned when a phone does not link a device because it asks
// for a passkey, and the client was told so.
var ErrPasskey = errors.New("webtest: a passkey is required")

// qrPrefix is before what a QR code holds.
const qrPrefix = "https://wa.me/settings/linked_devices#"

// qrRefs is how many QR codes a client gets to show.
const qrRefs = 6

// offerPairing gives a client that is not linked what it shows as QR codes.
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

// Scan makes the phone scan a QR code that a client shows, and link its device.
// It returns when the client has proven its keys and was told to connect again;
// [Device.AwaitActive] waits for that.
func (p *Phone) Scan(ctx context.Context, qr string) (*Device, error) {
	parts := strings.Split(strings.TrimPrefix(qr, qrPrefix), ",")
	if len(parts) < 4 {
		return nil, fmt.Errorf("webtest: %d parts of a QR code, 4 at least are needed", len(parts))
	}
	var keys [3][]byte // of the handshake, of the device, the secret
	for i := range keys {
		key, err := base64.StdEncoding.DecodeString(parts[i+1])
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("webtest: part %d of the QR code is no key", i+2)
		}
		keys[i] = key
	}
	p.s.mu.Lock()
	c := p.s.pending[parts[0]]
	p.s.mu.Unlock()
	switch {
	case c == nil:
		return nil, errors.New("webtest: no client waits under this QR code")
	case !hmac.Equal(keys[0], c.noise[:]):
		return nil, errors.New("webtest: the QR code is not of the client that waits under it")
	case p.opts.Passkey:
		c.askPasskey()
		return nil, ErrPasskey
	}
	return p.link(ctx, c, keys[1], keys[2])
}

// askPasskey tells the client that the account is linked with a passkey only.
func (c *conn) askPasskey() {
	c.send(node{
		Tag:   "notification",
		Attrs: attrs{"from": types.ServerJID, "type": "passkey_prologue_request", "id": c.s.newID(), "t": time.Now().Unix()},
		Content: []node{{
			Tag:     "passkey_request_options",
			Content: []byte(`{"challenge":"d2VidGVzdA","timeout":60000,"rpId":"whatsapp.com","allowCredentials":[],"userVerification":"required"}`),
		}},
	})
}

// link signs the client's identity for the account, and has the client sign it
// too.
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
		err = errors.New("the client went")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("webtest: linking: %w", err)
	}
	p.adopt(d, c)
	return d, nil
}

// signDevice signs a device's identity with the account's key, and that under
// the secret which the client showed.
func (p *Phone) signDevice(number uint16, identity, secret []byte) ([]byte, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID: proto.Uint32(1), Timestamp: proto.Uint64(uint64(time.Now().Unix())), KeyIndex: proto.Uint32(uint32(number)),
		AccountType: waAdv.ADVEncryptionType_E2EE.Enum(), DeviceType: waAdv.ADVEncryptionType_E2EE.Enum(),
	})
	if err != nil {
		return nil, err
	}
	account := p.identity()
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
func (p *Phone) checkDevice(n *node, identity []byte) error {
	var signed waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(bytesOf(n, "pair-device-sign", "device-identity"), &signed); err != nil {
		return fmt.Errorf("reading the device's signature: %w", err)
	}
	if len(signed.GetDeviceSignature()) != 64 || len(identity) != 32 {
		refusal := n.GetChildByTag("error")
		return fmt.Errorf("the client refuses: %q", str(&refusal, "text"))
	}
	stated := joined([]byte{6, 1}, signed.GetDetails(), identity, p.identity().Pub[:])
	if !ecc.VerifySignature(ecc.NewDjbECPublicKey([32]byte(identity)), stated, [64]byte(signed.GetDeviceSignature())) {
		return errors.New("the device's signature is wrong")
	}
	return nil
}

// adopt makes the device known, and sends its client to log in with it.
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

// devicesChanged tells those who know the account's list of devices to ask for
// it again.
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
