package delivery

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"
	"sync"
)

// The headers of Standard Webhooks, as net/http writes them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// NewSecret makes a signing secret of 32 random bytes.
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return SecretPrefix + base64.StdEncoding.EncodeToString(key)
}

// signer signs with a key. It keeps what can be used again: a delivery's
// signature is made for every attempt.
type signer struct{ macs sync.Pool }

func newSigner(key []byte) *signer {
	s := &signer{}
	s.macs.New = func() any { return &mac{Hash: hmac.New(sha256.New, key)} }
	return s
}

type mac struct {
	hash.Hash
	buf []byte
}

// sign returns one signature per signer, separated by spaces.
func sign(id, at, body string, by ...*signer) string {
	var text []byte
	for i, s := range by {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, "v1,"...)
		m := s.macs.Get().(*mac)
		text = base64.StdEncoding.AppendEncode(text, m.sum(id, at, body))
		s.macs.Put(m)
	}
	return string(text)
}

// sum is the digest of a delivery, until the next.
func (m *mac) sum(id, at, body string) []byte {
	m.Reset()
	m.buf = append(m.buf[:0], id...)
	m.buf = append(m.buf, '.')
	m.buf = append(m.buf, at...)
	m.buf = append(m.buf, '.')
	m.buf = append(m.buf, body...)
	_, _ = m.Write(m.buf) // never fails
	m.buf = m.Sum(m.buf[:0])
	return m.buf
}

// SecretPrefix begins a signing secret; base64 of the key follows.
const SecretPrefix = "whsec_"

// ParseSecret returns the key of a signing secret.
func ParseSecret(s string) ([]byte, error) {
	text, ok := strings.CutPrefix(s, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, ErrSecret
	}
	return key, nil
}

// ErrSecret reports a signing secret that is malformed.
var ErrSecret = fmt.Errorf("must be %q followed by the base64 of 24 to 64 bytes", SecretPrefix)

// Sum is the digest that signs a delivery.
func Sum(key []byte, id, at, body string) []byte {
	m := mac{Hash: hmac.New(sha256.New, key)}
	return m.sum(id, at, body)
}
