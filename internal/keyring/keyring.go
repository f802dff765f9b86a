// Package keyring derives every key of a server from its secrets: one sub-key
// per purpose by HKDF-SHA256, so that what signs tokens cannot open
// credentials. The first secret seals and signs; all of them open and verify,
// which is how a secret is replaced without losing anything.
//
// It keeps no secret on disk and knows no user.
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

// MinSecret is the least length of a secret in bytes.
const MinSecret = 32

// ErrSealed reports a sealed text that none of the secrets opens: it was
// changed, sealed for another place, or its secret is no longer in the list.
var ErrSealed = errors.New("keyring: the sealed value does not open")

// Ring is a list of secrets. It is safe for concurrent use and prints itself
// as REDACTED.
type Ring struct {
	secrets []secret
}

type secret struct {
	id   string // names the secret in sealed texts; reveals nothing of it
	root []byte // pseudo-random key of HKDF
	aead cipher.AEAD
}

// New returns the ring of secrets, the newest first, each of at least
// [MinSecret] bytes.
func New(secrets ...string) (*Ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("keyring: no secret is given")
	}
	r := &Ring{}
	for _, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("keyring: a secret needs at least %d characters", MinSecret)
		}
		one, err := newSecret(s)
		if err != nil {
			return nil, err
		}
		r.secrets = append(r.secrets, one)
	}
	return r, nil
}

func newSecret(s string) (secret, error) {
	root, err := hkdf.Extract(sha256.New, []byte(s), []byte("trunkline"))
	if err != nil {
		return secret{}, fmt.Errorf("deriving keys: %w", err)
	}
	one := secret{root: root}
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

// key is the 32-byte sub-key for purpose.
func (s secret) key(purpose string) []byte {
	k, err := hkdf.Expand(sha256.New, s.root, purpose, sha256.Size)
	if err != nil {
		panic(err) // only for lengths that are never asked for
	}
	return k
}

// Keys returns the 32-byte keys for purpose, the one that signs first. Use
// purposes that say what the key is for, "jwt"; two purposes share no key.
func (r *Ring) Keys(purpose string) [][]byte {
	keys := make([][]byte, len(r.secrets))
	for i, s := range r.secrets {
		keys[i] = s.key("key:" + purpose)
	}
	return keys
}

// MAC authenticates data for purpose under the first secret: 32 bytes.
func (r *Ring) MAC(purpose string, data []byte) []byte {
	return r.secrets[0].mac(purpose, data)
}

// Verify says whether mac authenticates data for purpose under any secret, in
// constant time.
func (r *Ring) Verify(purpose string, data, mac []byte) bool {
	ok := false
	for _, s := range r.secrets {
		ok = hmac.Equal(s.mac(purpose, data), mac) || ok
	}
	return ok
}

// Hash is the keyed hash of value under the first secret, to be stored where
// value must be found again but not be readable.
func (r *Ring) Hash(purpose, value string) string {
	return r.secrets[0].hash(purpose, value)
}

// Hashes are the keyed hashes of value under each secret, the first secret's
// first: what was stored before a secret was replaced is found under one of
// them.
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

// sealedV1 begins every sealed text: "v1.<secret id>.<nonce and ciphertext>".
const sealedV1 = "v1"

// Seal encrypts plaintext so that it opens only with the same aad, which says
// where the text belongs (table:row:column): a sealed text copied elsewhere
// does not open.
func (r *Ring) Seal(aad string, plaintext []byte) (string, error) {
	s := r.secrets[0]
	ct := s.aead.Seal(nil, nil, plaintext, []byte(aad))
	return sealedV1 + "." + s.id + "." + base64.RawURLEncoding.EncodeToString(ct), nil
}

// Open decrypts what [Ring.Seal] returned, under whichever secret sealed it.
// It returns [ErrSealed] when that fails.
func (r *Ring) Open(aad, sealed string) ([]byte, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != sealedV1 {
		return nil, ErrSealed
	}
	ct, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, ErrSealed
	}
	for _, s := range r.secrets {
		if s.id != parts[1] {
			continue
		}
		if pt, err := s.aead.Open(nil, nil, ct, []byte(aad)); err == nil {
			return pt, nil
		}
	}
	return nil, ErrSealed
}

// Format keeps the secrets out of every fmt verb.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("REDACTED")) }

// LogValue keeps the secrets out of logs.
func (r *Ring) LogValue() slog.Value { return slog.StringValue("REDACTED") }
