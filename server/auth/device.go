package auth

import (
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/keyring"
)

// DeviceTTL is how long a browser is known after a log-in.
const DeviceTTL = 365 * 24 * time.Hour

// deviceUsers is how many users a browser is known for.
const deviceUsers = 5

// A device is a browser in which a user has logged in: "<id>.<mac>.<mac>…", with
// one MAC over the id and each user, the newest first. The server keeps nothing
// of it, and it gives no right: it only keeps strangers' failures from counting.

// devices knows browsers again.
type devices struct{ keys *keyring.Ring }

// known returns the id of a device in which user has logged in, or "".
func (d *devices) known(user, value string) string {
	id, macs, _ := strings.Cut(value, ".")
	if user == "" || id == "" || len(value) > 1000 {
		return ""
	}
	for mac := range strings.SplitSeq(macs, ".") {
		if b, err := base64.RawURLEncoding.DecodeString(mac); err == nil && d.keys.Verify("device", deviceText(id, user), b) {
			return id
		}
	}
	return ""
}

// remember is the value of a device in which user has logged in now, too.
func (d *devices) remember(user, value string) string {
	id, macs, _ := strings.Cut(value, ".")
	var others []string
	if len(value) <= 1000 && macs != "" {
		others = strings.Split(macs, ".")
	} else {
		b := make([]byte, 16)
		_, _ = rand.Read(b) // never fails
		id = base64.RawURLEncoding.EncodeToString(b)
	}
	own := base64.RawURLEncoding.EncodeToString(d.keys.MAC("device", deviceText(id, user)))
	others = slices.DeleteFunc(others, func(mac string) bool { return mac == own || !plainMAC(mac) })
	return strings.Join(append([]string{id, own}, others[:min(len(others), deviceUsers-1)]...), ".")
}

// plainMAC keeps values that were made up out of our cookie.
func plainMAC(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == 32
}

func deviceText(id, user string) []byte { return []byte(id + "\x00" + user) }

// pairLimit lets an address fail ten times for one e-mail.
func pairLimit(from netip.Addr, email string) limit {
	return limit{"pair " + network(from) + " " + hashOpaque(email), 10, 15 * time.Minute}
}

// deviceLimit lets a known device fail ten times for one user.
func deviceLimit(id, user string) limit {
	return limit{"device " + hashOpaque(id+" "+user), 10, 15 * time.Minute}
}

// codeLimit bounds wrong codes of a second factor from where a user is not
// known, over all addresses.
func codeLimit(user string) limit { return limit{"code " + user, 20, time.Hour} }
