package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
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

// sign returns one signature per key, separated by spaces.
func sign(id string, at time.Time, body []byte, keys ...[]byte) string {
	var b strings.Builder
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("v1,")
		b.WriteString(base64.StdEncoding.EncodeToString(digest(key, id, strconv.FormatInt(at.Unix(), 10), body)))
	}
	return b.String()
}

func digest(key []byte, id, at string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(id + "." + at + "."))
	h.Write(body)
	return h.Sum(nil)
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
	want := digest(key, id, at, body)
	for _, s := range strings.Fields(h.Get(headerSignature)) {
		version, text, _ := strings.Cut(s, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}
