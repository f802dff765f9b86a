// Package keyring derives all keys of a program from its secrets: one sub-key per
// owner and purpose by HKDF-SHA256. Packages may therefore share secrets: a key
// that signs tokens cannot open credentials. The first secret seals and signs; all
// of them open and verify. This makes it possible to replace a secret without
// losing data.
//
// The package stores no secret and does not know users.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// MinSecret is the minimum length of a secret in bytes.
const MinSecret = 32

var (
	// ErrSealed reports a sealed text that cannot be opened: it was changed, or
	// sealed for another place.
	ErrSealed = errors.New("keyring: the sealed value does not open")
	// ErrOtherSecret reports data of a secret that is not in the list: it cannot be
	// opened or verified.
	ErrOtherSecret = errors.New("keyring: written under a secret that is not in the list")
)

// Ring is a list of secrets. It is safe for concurrent use and formats itself as
// REDACTED.
type Ring struct {
	secrets []secret
}

type secret struct {
	id    string // identifies the secret in sealed texts without revealing it
	owner string
	root  []byte // pseudo-random key of HKDF
	aead  cipher.AEAD
}

// New returns the ring of secrets, the newest first, each of at least [MinSecret]
// bytes. The owner is the package that uses the ring: rings of different owners
// share no key.
func New(owner string, secrets []string) (*Ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no secret is given")
	}
	r := &Ring{}
	for _, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("a secret needs at least %d characters", MinSecret)
		}
		one, err := newSecret(owner, s)
		if err != nil {
			return nil, err
		}
		r.secrets = append(r.secrets, one)
	}
	return r, nil
}

func newSecret(owner, s string) (secret, error) {
	root, err := hkdf.Extract(sha256.New, []byte(s), []byte("trunkline"))
	if err != nil {
		return secret{}, fmt.Errorf("deriving keys: %w", err)
	}
	one := secret{owner: owner, root: root}
	one.id = hex.EncodeToString(one.key("id")[:4])
	block, err := aes.NewCipher(one.key("seal"))
	if err != nil {
		return secret{}, fmt.Errorf("deriving keys: %w", err)
	}
	if one.aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return secret{}, fmt.Errorf("deriving keys: %w", err)
	}
	return one, nil
}

// key returns the 32-byte sub-key for purpose.
func (s secret) key(purpose string) []byte {
	k, err := hkdf.Expand(sha256.New, s.root, s.owner+"/"+purpose, sha256.Size)
	if err != nil {
		panic(err) // only for lengths that are never requested
	}
	return k
}

// Keys returns the 32-byte keys for purpose, the one that signs first. A purpose
// should tell what the key is for, such as "jwt". Different purposes share no key.
func (r *Ring) Keys(purpose string) [][]byte {
	keys := make([][]byte, len(r.secrets))
	for i, s := range r.secrets {
		keys[i] = s.key("key:" + purpose)
	}
	return keys
}

// MAC returns the authentication code of data for purpose under the first secret:
// 32 bytes.
func (r *Ring) MAC(purpose string, data []byte) []byte {
	return r.secrets[0].mac(purpose, data)
}

// Verify reports whether mac authenticates data for purpose under any secret. It
// takes constant time.
func (r *Ring) Verify(purpose string, data, mac []byte) bool {
	ok := false
	for _, s := range r.secrets {
		ok = hmac.Equal(s.mac(purpose, data), mac) || ok
	}
	return ok
}

// Hash returns the keyed hash of value under the first secret. It can be stored to
// find the value again without being able to read it.
func (r *Ring) Hash(purpose, value string) string {
	return r.secrets[0].hash(purpose, value)
}

// Hashes returns the keyed hashes of value under each secret, that of the first
// secret first. A hash that was stored before a secret was replaced is one of them.
func (r *Ring) Hashes(purpose, value string) []string {
	hs := make([]string, len(r.secrets))
	for i, s := range r.secrets {
		hs[i] = s.hash(purpose, value)
	}
	return hs
}

func (s secret) mac(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, s.key("mac:"+purpose))
	h.Write(data)
	return h.Sum(nil)
}

func (s secret) hash(purpose, value string) string {
	h := hmac.New(sha256.New, s.key("hash:"+purpose))
	h.Write([]byte(value))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// sealedV1 is the prefix of every sealed text: "v1.<secret id>.<nonce and
// ciphertext>".
const sealedV1 = "v1"

// Prefix returns the prefix of every text that r seals. A text with another prefix
// was sealed under a later secret of the list, or an unknown one.
func (r *Ring) Prefix() string { return sealedV1 + "." + r.secrets[0].id + "." }

// Seal encrypts plaintext. It can be opened only with the same aad, which
// identifies where the text belongs (table:row:column), so that a sealed text that
// is copied elsewhere cannot be opened.
func (r *Ring) Seal(aad string, plaintext []byte) string {
	ct := r.secrets[0].aead.Seal(nil, nil, plaintext, []byte(aad))
	return r.Prefix() + base64.RawURLEncoding.EncodeToString(ct)
}

// Open decrypts a text of [Ring.Seal] under any of the secrets. It returns
// [ErrOtherSecret] if none of them sealed it, and [ErrSealed] if the text was
// changed or sealed for another aad.
func (r *Ring) Open(aad, sealed string) ([]byte, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != sealedV1 {
		return nil, ErrSealed
	}
	ct, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, ErrSealed
	}
	reason := ErrOtherSecret
	for _, s := range r.secrets {
		if s.id != parts[1] {
			continue
		}
		if pt, err := s.aead.Open(nil, nil, ct, []byte(aad)); err == nil {
			return pt, nil
		}
		reason = ErrSealed
	}
	return nil, reason
}

// Format keeps the secrets out of every fmt verb.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("REDACTED")) }

// LogValue keeps the secrets out of logs.
func (r *Ring) LogValue() slog.Value { return slog.StringValue("REDACTED") }
