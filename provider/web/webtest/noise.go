package webtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

const noisePattern = "Noise_XX_25519_AESGCM_SHA256\x00\x00\x00\x00"

// noise is the answering half of the handshake. It shares nothing with
// whatsmeow's own, so that each checks the other.
type noise struct {
	hash, chaining []byte
	key            sealer
}

// sealer is one direction of a connection: AES-GCM whose nonce counts.
type sealer struct {
	aead  cipher.AEAD
	count uint32
}

func newNoise(prologue []byte) (*noise, error) {
	key, err := newSealer([]byte(noisePattern))
	if err != nil {
		return nil, err
	}
	n := &noise{hash: []byte(noisePattern), chaining: []byte(noisePattern), key: key}
	n.mix(prologue)
	return n, nil
}

func newSealer(key []byte) (sealer, error) {
	aead, err := newGCM(key)
	return sealer{aead: aead}, err
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// nonce returns the next nonce: eight zero bytes and the counter.
func (s *sealer) nonce() []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint32(nonce[8:], s.count)
	s.count++
	return nonce
}

func (s *sealer) seal(plain, data []byte) []byte {
	return s.aead.Seal(nil, s.nonce(), plain, data)
}

func (s *sealer) open(sealed, data []byte) ([]byte, error) {
	return s.aead.Open(nil, s.nonce(), sealed, data)
}

// mix adds what both sides have seen to the hash.
func (n *noise) mix(data []byte) {
	sum := sha256.New()
	sum.Write(n.hash)
	sum.Write(data)
	n.hash = sum.Sum(nil)
}

// agree mixes what the two keys share into the chaining key.
func (n *noise) agree(private, public []byte) error {
	shared, err := x25519(private, public)
	if err != nil {
		return err
	}
	chaining, key, err := n.derive(shared)
	if err != nil {
		return err
	}
	n.chaining = chaining
	n.key, err = newSealer(key)
	return err
}

func (n *noise) derive(secret []byte) (first, second []byte, err error) {
	out, err := hkdf.Key(sha256.New, secret, n.chaining, "", 64)
	if err != nil {
		return nil, nil, err
	}
	return out[:32], out[32:], nil
}

func (n *noise) seal(plain []byte) []byte {
	sealed := n.key.seal(plain, n.hash)
	n.mix(sealed)
	return sealed
}

func (n *noise) open(sealed []byte) ([]byte, error) {
	plain, err := n.key.open(sealed, n.hash)
	if err != nil {
		return nil, fmt.Errorf("opening a part of the handshake: %w", err)
	}
	n.mix(sealed)
	return plain, nil
}

// split ends the handshake: what the client writes with, and what it reads
// with.
func (n *noise) split() (in, out sealer, err error) {
	first, second, err := n.derive(nil)
	if err != nil {
		return in, out, err
	}
	if in, err = newSealer(first); err != nil {
		return in, out, err
	}
	out, err = newSealer(second)
	return in, out, err
}

func x25519(private, public []byte) ([]byte, error) {
	priv, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	pub, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	return priv.ECDH(pub)
}

// signChain signs the server's key as the network does: the root signs an
// intermediate key, and that signs the server's.
func signChain(root, static *keys.KeyPair) ([]byte, error) {
	between := keys.NewKeyPair()
	first, err := certify(root, 1, 0, between.Pub[:])
	if err != nil {
		return nil, err
	}
	leaf, err := certify(between, 2, 1, static.Pub[:])
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&waCert.CertChain{Intermediate: first, Leaf: leaf})
}

func certify(signer *keys.KeyPair, serial, issuer uint32, key []byte) (*waCert.CertChain_NoiseCertificate, error) {
	now := time.Now()
	details, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
		Serial: &serial, IssuerSerial: &issuer, Key: key,
		NotBefore: proto.Uint64(uint64(now.Add(-lifetime).Unix())),
		NotAfter:  proto.Uint64(uint64(now.Add(lifetime).Unix())),
	})
	if err != nil {
		return nil, err
	}
	return &waCert.CertChain_NoiseCertificate{Details: details, Signature: sign(signer, details)}, nil
}

func sign(signer *keys.KeyPair, data []byte) []byte {
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*signer.Priv), data)
	return signature[:]
}
