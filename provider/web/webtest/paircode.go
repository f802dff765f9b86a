package webtest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// codePairing is a client that shows a code of eight characters.
type codePairing struct {
	conn     *conn
	ref      string
	wrapped  []byte // the client's key, under the code
	finished chan node
}

// linkCode takes the client's steps of pairing by code.
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
			default: // it has come twice
			}
		}
	default:
		c.refuse(n, 400, "bad-request")
	}
}

// EnterCode makes the phone link the client that shows the code for its number:
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
		cp.conn.askPasskey()
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
		return nil, errors.New("webtest: the client went")
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

// codeSecrets opens what the client sealed for the holder of the code, and
// derives the secret that the two share.
func (p *Phone) codeSecrets(step *node, own *keys.KeyPair, theirs []byte) (identity, secret []byte, err error) {
	sealed := bytesOf(step, "link_code_pairing_wrapped_key_bundle")
	identity = bytesOf(step, "companion_identity_public")
	if len(sealed) < 44 {
		return nil, nil, errors.New("the client's keys are not complete")
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
	identities, err := x25519(p.identity().Priv[:], identity)
	if err != nil {
		return nil, nil, err
	}
	secret, err = hkdf.Key(sha256.New, joined(shared, identities, opened[64:]), nil, "adv_secret", 32)
	return identity, secret, err
}

// underCode seals, or opens, the last 32 of 80 bytes under a key made of the
// code; salt and nonce are before them.
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
