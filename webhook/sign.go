package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The headers of Standard Webhooks, as net/http writes them.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// Our own, likewise.
const (
	headerEvent    = "X-Trunkline-Event"
	headerSequence = "X-Trunkline-Sequence"
)

// tolerance is how far a receiver's clock may be off.
const tolerance = 5 * time.Minute

// ErrSignature is what [Verify] returns for a request that it does not trust.
var ErrSignature = errors.New("webhook: signature does not verify")

// newSecret makes a signing secret of 32 random bytes.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
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

// Verify checks a delivery as its receiver: that body and webhook-id were
// signed with secret ("whsec_…") not more than five minutes before or after
// now. It returns an error that wraps nothing but [ErrSignature], or an
// [*Invalid] for a malformed secret.
func Verify(secret string, h http.Header, body []byte, now time.Time) error {
	key, err := parseSecret(secret)
	if err != nil {
		return err
	}
	id, at := h.Get(headerID), h.Get(headerTimestamp)
	seconds, err := strconv.ParseInt(at, 10, 64)
	if id == "" || err != nil {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return ErrSignature
	}
	m := mac{Hash: hmac.New(sha256.New, key)}
	want := m.sum(id, at, string(body))
	for _, s := range strings.Fields(h.Get(headerSignature)) {
		version, text, _ := strings.Cut(s, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}
