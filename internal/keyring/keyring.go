// Package keyring derives every key of a program from its secrets: one sub-key
// per owner and purpose by HKDF-SHA256, so that packages may be given the same
// secrets and what signs tokens cannot open credentials. The first secret seals
// and signs; all of them open and verify, which is how a secret is replaced
// without losing anything.
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

var (
	// ErrSealed reports a sealed text that does not open: it was changed, or
	// sealed for another place.
	ErrSealed = errors.New("keyring: the sealed value does not open")
	// ErrOtherSecret reports what was written under a secret that is not in
	// the list: it would not open, or verify.
	ErrOtherSecret = errors.New("keyring: written under a secret that is not in the list")
)

// Ring is a list of secrets. It is safe for concurrent use and prints itself
// as REDACTED.
type Ring struct {
	secrets []secret
}

type secret struct {
	id    string // names the secret in sealed texts; reveals nothing of it
	owner string
	root  []byte // pseudo-random key of HKDF
	aead  cipher.AEAD
}

// New returns the ring of secrets, the newest first, each of at least
// [MinSecret] bytes. The owner is the package that seals and signs with it:
// rings of two owners share no key.
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

// key is the 32-byte sub-key for purpose.
func (s secret) key(purpose string) []byte {
	k, err := hkdf.Expand(sha256.New, s.root, s.owner+"/"+purpose, sha256.Size)
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

// Prefix begins every text that r seals. A text that begins otherwise was
// sealed under a later secret of the list, or an unknown one.
func (r *Ring) Prefix() string { return sealedV1 + "." + r.secrets[0].id + "." }

// Seal encrypts plaintext so that it opens only with the same aad, which says
// where the text belongs (table:row:column): a sealed text copied elsewhere
// does not open.
func (r *Ring) Seal(aad string, plaintext []byte) string {
	ct := r.secrets[0].aead.Seal(nil, nil, plaintext, []byte(aad))
	return r.Prefix() + base64.RawURLEncoding.EncodeToString(ct)
}

// Open decrypts what [Ring.Seal] returned, under whichever secret sealed it.
// It returns [ErrOtherSecret] when none of them did, and [ErrSealed] when the
// text is not what was sealed for aad.
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
