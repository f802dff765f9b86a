package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// tolerance is how far a receiver's clock may be off.
const tolerance = 5 * time.Minute

// ErrSignature is what [Verify] returns for a request that it does not trust.
var ErrSignature = errors.New("webhook: signature does not verify")

// Verify checks a delivery as its receiver: that body and webhook-id were
// signed with secret ("whsec_…") not more than five minutes before or after
// now. It returns an error that wraps nothing but [ErrSignature], or an
// [*Invalid] for a malformed secret.
func Verify(secret string, h http.Header, body []byte, now time.Time) error {
	key, err := parseSecret(secret)
	if err != nil {
		return err
	}
	id, at := h.Get(delivery.HeaderID), h.Get(delivery.HeaderTimestamp)
	seconds, err := strconv.ParseInt(at, 10, 64)
	if id == "" || err != nil {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return ErrSignature
	}
	want := delivery.Sum(key, id, at, string(body))
	for _, s := range strings.Fields(h.Get(delivery.HeaderSignature)) {
		version, text, _ := strings.Cut(s, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}
