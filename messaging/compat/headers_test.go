package compat_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging/compat"
)

// TestHeadersOfWAHA checks the signature with the example of WAHA's own
// documentation (content/docs/how-to/events/index.md, "HMAC authentication").
func TestHeadersOfWAHA(t *testing.T) {
	t.Parallel()
	h := compat.Find("waha").Headers(compat.Signed{
		ID: "01957f2a", Body: []byte(`{"event":"message","session":"default","engine":"WEBJS"}`), Key: []byte("my-secret-key"), At: epoch,
	})
	require.Equal(t, "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89", h.Get("X-Webhook-Hmac"))
	require.Equal(t, "sha512", h.Get("X-Webhook-Hmac-Algorithm"))
	require.Equal(t, "01957f2a", h.Get("X-Webhook-Request-Id"))
	require.Equal(t, "1772366400000", h.Get("X-Webhook-Timestamp"))
	require.Len(t, h, 4)
	require.Len(t, compat.Find("waha").Headers(compat.Signed{At: epoch}), 2)
}

// TestHeadersOfTheOthers checks wuzapi's signature; Evolution API has none.
func TestHeadersOfTheOthers(t *testing.T) {
	t.Parallel()
	body, key := []byte(`{"type":"Message"}`), []byte("a key of theirs has 32 characters")
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	h := compat.Find("wuzapi").Headers(compat.Signed{Body: body, Key: key, At: epoch})
	require.Equal(t, hex.EncodeToString(mac.Sum(nil)), h.Get("x-hmac-signature"))
	require.Len(t, h, 1)
	require.Nil(t, compat.Find("wuzapi").Headers(compat.Signed{Body: body, At: epoch}))
	require.Nil(t, compat.Find("evolution").Headers(compat.Signed{Body: body, Key: key, At: epoch}))
}
