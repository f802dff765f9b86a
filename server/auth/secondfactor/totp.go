package secondfactor

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what authenticator apps compute; HMAC does not need a hash without collisions
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

const (
	period = 30 * time.Second
	skew   = 1 // steps that a clock may be off, either way
)

// stepOf finds the step of time, about now and after last, at which secret
// gives code.
func stepOf(secret []byte, code string, now time.Time, last int64) (int64, bool) {
	at := now.Unix() / int64(period.Seconds())
	found, ok := int64(0), 0
	for step := at - skew; step <= at+skew; step++ {
		if same := subtle.ConstantTimeCompare([]byte(codeAt(secret, step)), []byte(code)); same == 1 && step > last {
			found, ok = step, 1
		}
	}
	return found, ok == 1
}

// codeAt is the code of a step: RFC 6238 with SHA-1 and six digits, which every
// app knows.
func codeAt(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash takes everything
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0x0F
	n := binary.BigEndian.Uint32(sum[at:at+4]) & 0x7FFFFFFF
	return fmt.Sprintf("%06d", n%1_000_000)
}

// digits leaves out the spaces with which apps show codes.
func digits(code string) string { return strings.ReplaceAll(strings.TrimSpace(code), " ", "") }
