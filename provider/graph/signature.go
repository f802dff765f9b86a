package graph

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// SignatureHeader is the header with the signature of a callback.
const SignatureHeader = "X-Hub-Signature-256"

const signaturePrefix = "sha256="

// Verify reports whether header is the signature of body under the app secret.
// body must be the bytes as received: encoding the JSON again changes the
// signature. The comparison takes constant time. An empty secret verifies
// nothing.
func Verify(secret string, header http.Header, body []byte) bool {
	given, ok := signature(header)
	return ok && secret != "" && hmac.Equal(given, sum(secret, body))
}

// Signed reports whether header has the form of a signature. A callback without
// one can be refused without further checks.
func Signed(header http.Header) bool {
	_, ok := signature(header)
	return ok
}

func signature(header http.Header) (given []byte, ok bool) {
	values := header.Values(SignatureHeader)
	if len(values) != 1 {
		return nil, false
	}
	digits, ok := strings.CutPrefix(values[0], signaturePrefix)
	if !ok || len(digits) != 2*sha256.Size || strings.ToLower(digits) != digits {
		return nil, false
	}
	given, err := hex.DecodeString(digits)
	return given, err == nil
}

// Sign returns the value of [SignatureHeader] for body, as Meta computes it.
func Sign(secret string, body []byte) string {
	return signaturePrefix + hex.EncodeToString(sum(secret, body))
}

func sum(secret string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}
