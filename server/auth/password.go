package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/trunklinehq/trunkline/server/auth/weak"
)

// Cost is what it takes to try one password. It is stored with each hash: a
// user whose hash was cheaper gets a new one at the next log-in.
type Cost struct {
	Passes uint32 // 0: 2
	Memory uint32 // KiB; 0: 19,456
}

// withDefaults is about 30 ms of one processor, and the least that OWASP
// advises for argon2id.
func (c Cost) withDefaults() Cost {
	c.Passes = cmp.Or(c.Passes, 2)
	c.Memory = cmp.Or(c.Memory, 19*1024)
	return c
}

const (
	minPassword = 10   // characters
	maxPassword = 1000 // characters: more is no password but an attack
)

// hash is an argon2id hash with its parameters. The zero value with a salt and
// a sum of the usual length matches no password, at the usual cost.
type hash struct {
	time, memory uint32
	threads      uint8
	salt, sum    []byte
}

// hashesAtOnce is how many passwords are hashed at a time: 19 MiB each.
const hashesAtOnce = 2

// hasher hashes passwords.
type hasher struct {
	cost  Cost
	slots chan struct{} // held while a password is hashed
}

// newHasher returns a hasher that hashes so many passwords at a time.
func newHasher(cost Cost, slots int) *hasher {
	return &hasher{cost: cost, slots: make(chan struct{}, slots)}
}

// none takes the place of the hash of a user who does not exist, so that the
// login takes as long as another's.
func (p *hasher) none() hash {
	return hash{p.cost.Passes, p.cost.Memory, 1, make([]byte, 16), make([]byte, 32)}
}

// cheap says whether a hash is to be made again.
func (p *hasher) cheap(h hash) bool {
	return h.time < p.cost.Passes || h.memory < p.cost.Memory
}

// CheckPassword returns [Invalid] for a new password that is too short, too long
// or too easy to guess: see package weak. about are the e-mail and the name of
// its user.
func CheckPassword(password string, about ...string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return &Invalid{Field: "password", Message: fmt.Sprintf("must have at least %d characters", minPassword)}
	case n > maxPassword:
		return &Invalid{Field: "password", Message: fmt.Sprintf("must have at most %d characters", maxPassword)}
	}
	if why := weak.Reason(password, about...); why != "" {
		return &Invalid{Field: "password", Message: why}
	}
	return nil
}

// of hashes a new password.
func (p *hasher) of(ctx context.Context, password string) (hash, error) {
	h := p.none()
	_, _ = rand.Read(h.salt) // never fails
	sum, err := p.derive(ctx, h, password)
	h.sum = sum
	return h, err
}

// matches says whether password is the one of h.
func (p *hasher) matches(ctx context.Context, h hash, password string) (bool, error) {
	if utf8.RuneCountInString(password) > maxPassword {
		password = "" // shorter than any that was ever accepted
	}
	sum, err := p.derive(ctx, h, password)
	return err == nil && subtle.ConstantTimeCompare(sum, h.sum) == 1, err
}

// derive computes a sum once there is memory for it.
func (p *hasher) derive(ctx context.Context, h hash, password string) ([]byte, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to hash a password: %w", ctx.Err())
	}
	defer func() { <-p.slots }()
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(len(h.sum))), nil
}

// String is h in PHC format: $argon2id$v=19$m=…,t=…,p=…$salt$sum.
func (h hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads, b64(h.salt), b64(h.sum))
}

// parseHash reads what String wrote, with whatever parameters were usual then.
func parseHash(s string) (hash, error) {
	h, version := hash{}, 0
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return h, fmt.Errorf("the stored password hash is malformed")
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &h.memory, &h.time, &h.threads); err != nil {
		return h, fmt.Errorf("reading the parameters of a stored password hash: %w", err)
	}
	var err1, err2 error
	h.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	h.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || version != argon2.Version || h.time < 1 || h.threads < 1 || len(h.sum) < 16 {
		return h, fmt.Errorf("the stored password hash is malformed")
	}
	return h, nil
}
