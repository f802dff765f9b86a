// Package totp is an authenticator app for tests: an implementation of RFC 6238
// that is independent of the tested code.
package totp

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Code returns the code that an app shows at a time for a secret in base32.
func Code(t testing.TB, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	require.NoError(t, err)
	mac := hmac.New(sha1.New, key)
	require.NoError(t, binary.Write(mac, binary.BigEndian, at.Unix()/30))
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[offset:])&0x7fffffff)%1_000_000)
}
