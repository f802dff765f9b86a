package keyring_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

const (
	oldSecret = "an old secret of thirty-two bytes"
	newSecret = "a newer secret with enough length"
)

func ring(t *testing.T, secrets ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.New("tests", secrets)
	require.NoError(t, err)
	return r
}

func TestSeal(t *testing.T) {
	t.Parallel()
	r := ring(t, oldSecret)
	sealed := r.Seal("t:1:c", []byte("token"))
	require.NotContains(t, sealed, "token")
	require.NotEqual(t, sealed, r.Seal("t:1:c", []byte("token")), "each has its own nonce")

	plain, err := r.Open("t:1:c", sealed)
	require.NoError(t, err)
	require.Equal(t, "token", string(plain))

	rotated := ring(t, newSecret, oldSecret)
	plain, err = rotated.Open("t:1:c", sealed)
	require.NoError(t, err)
	require.Equal(t, "token", string(plain))
	_, err = r.Open("t:1:c", rotated.Seal("t:1:c", plain))
	require.ErrorIs(t, err, keyring.ErrOtherSecret, "the first secret seals")
	require.True(t, strings.HasPrefix(sealed, r.Prefix()))
	require.False(t, strings.HasPrefix(sealed, rotated.Prefix()))
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	r := ring(t, oldSecret)
	sealed := r.Seal("t:1:c", []byte("token"))
	flipped := []byte(sealed)
	flipped[len(flipped)-3] ^= 1
	for name, c := range map[string]struct{ aad, sealed string }{
		"another row": {"t:2:c", sealed},
		"changed":     {"t:1:c", string(flipped)},
		"cut":         {"t:1:c", sealed[:20]},
		"empty":       {"t:1:c", ""},
		"plain text":  {"t:1:c", "token"},
		"version":     {"t:1:c", "v2" + sealed[2:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Open(c.aad, c.sealed)
			require.ErrorIs(t, err, keyring.ErrSealed)
		})
	}
	_, err := ring(t, newSecret).Open("t:1:c", sealed)
	require.ErrorIs(t, err, keyring.ErrOtherSecret)
}

// Packages that are given the same secret can neither open nor verify what
// another one sealed and signed.
func TestOwnersShareNoKey(t *testing.T) {
	t.Parallel()
	keys, macs := map[string]bool{}, map[string]bool{}
	owners := []string{"server", "auth", "messaging", "webhook", "tests"}
	for _, owner := range owners {
		r, err := keyring.New(owner, []string{oldSecret})
		require.NoError(t, err)
		keys[string(r.Keys("jwt")[0])] = true
		macs[string(r.MAC("check", nil))] = true
		if owner == "tests" {
			continue
		}
		_, err = r.Open("t:1:c", ring(t, oldSecret).Seal("t:1:c", []byte("token")))
		require.ErrorIs(t, err, keyring.ErrOtherSecret)
		require.False(t, r.Verify("file", []byte("x"), ring(t, oldSecret).MAC("file", []byte("x"))))
		require.NotEqual(t, ring(t, oldSecret).Hash("verify", "value"), r.Hash("verify", "value"))
	}
	require.Len(t, keys, len(owners))
	require.Len(t, macs, len(owners))
}

func TestKeysAndHashes(t *testing.T) {
	t.Parallel()
	before, after := ring(t, oldSecret), ring(t, newSecret, oldSecret)
	require.Equal(t, before.Keys("jwt")[0], after.Keys("jwt")[1])
	require.Len(t, before.Keys("jwt")[0], 32)
	require.NotEqual(t, before.Keys("jwt"), before.Keys("file"))

	h := before.Hash("verify", "value")
	require.Equal(t, h, before.Hash("verify", "value"), "stable")
	require.NotEqual(t, h, before.Hash("other", "value"))
	require.Equal(t, []string{after.Hash("verify", "value"), h}, after.Hashes("verify", "value"))

	mac := before.MAC("file", []byte("x"))
	require.True(t, after.Verify("file", []byte("x"), mac))
	require.False(t, after.Verify("file", []byte("y"), mac))
	require.False(t, after.Verify("other", []byte("x"), mac))
	require.False(t, ring(t, newSecret).Verify("file", []byte("x"), mac))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := keyring.New("tests", nil)
	require.ErrorContains(t, err, "no secret")
	_, err = keyring.New("tests", []string{newSecret, "short"})
	require.ErrorContains(t, err, "at least 32 characters")
	require.NotContains(t, err.Error(), "short")
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	r := ring(t, oldSecret)
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).InfoContext(t.Context(), "ring", slog.Any("ring", r))
	for _, s := range []string{fmt.Sprint(r), fmt.Sprintf("%+v %#v %d", r, r, r), b.String()} {
		require.Contains(t, s, "REDACTED")
		require.False(t, strings.Contains(s, "secret{") || strings.Contains(s, "0x"), s)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ctx := t.Context()
		require.NoError(t, keyring.Migrate(ctx, db))
		require.NoError(t, ring(t, oldSecret).Check(ctx, db), "an empty database takes the secret")
		require.NoError(t, ring(t, oldSecret).Check(ctx, db))
		require.ErrorIs(t, ring(t, newSecret).Check(ctx, db), keyring.ErrOtherSecret)
		require.NoError(t, ring(t, newSecret, oldSecret).Check(ctx, db), "rotation")
		require.NoError(t, ring(t, newSecret).Check(ctx, db), "after it the old one may go")
		require.ErrorIs(t, ring(t, oldSecret).Check(ctx, db), keyring.ErrOtherSecret)
	})
}

func FuzzOpen(f *testing.F) {
	r, err := keyring.New("tests", []string{oldSecret})
	require.NoError(f, err)
	sealed := r.Seal("a", []byte("token"))
	f.Add("a", sealed)
	f.Add("", "v1..")
	f.Fuzz(func(t *testing.T, aad, s string) {
		plain, err := r.Open(aad, s)
		if err == nil {
			require.Equal(t, "a", aad)
			require.Equal(t, "token", string(plain))
		}
	})
}
