package server_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// oldKey is what a receiver checks signatures with since before it moved.
const oldKey = "the key of a receiver that has been there for long"

// TestFormatsOfWebhooks has receivers of four other projects at one reference: each
// gets what happens in its own form, signed with the key that it knows.
func TestFormatsOfWebhooks(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		hooks := map[string]*hook{}
		for _, format := range []string{"cloud", "evolution", "waha", "wuzapi"} {
			h := ana.hook(t, ref, http.StatusOK)
			ep := ana.call(t, "PATCH", "/references/hookconf/"+h.id, fmt.Sprintf(`{"format":%q,"events":["message","status","data"]}`, format)).json(200)
			require.Equal(t, format, ep["format"])
			hooks[format] = h
		}
		own := ana.hook(t, ref, http.StatusOK)
		in := ana.write(t, ref, "ana", "Hello")
		out := ana.send(t, ref, "Hi")["id"].(string)

		for format, want := range map[string][][]string{
			"cloud": {
				{`"object":"whatsapp_business_account"`, fmt.Sprintf(`"phone_number_id":"%d"`, ref), `"body":"Hello"`, `"from":"ana@sandbox"`, in},
				{`"status":"delivered"`, `"recipient_id":"ana@sandbox"`, out},
			},
			"evolution": {
				{`"event":"messages.upsert","instance":"Shop"`, `"conversation":"Hello"`, in},
				{`"event":"send.message","instance":"Shop"`, `"conversation":"Hi"`, out},
				{`"event":"messages.update","instance":"Shop"`, `"status":"DELIVERY_ACK"`, out},
			},
			"waha": {
				{`"event":"message","session":"Shop"`, `"body":"Hello"`, in},
				{`"event":"message.any","session":"Shop"`, `"body":"Hi"`, `"source":"api"`, out},
				{`"event":"message.ack","session":"Shop"`, `"ackName":"DEVICE"`, out},
			},
			"wuzapi": {
				{`"type":"Message"`, `"instanceName":"Shop"`, `"conversation":"Hello"`, in},
				{`"type":"Message"`, `"instanceName":"Shop"`, `"conversation":"Hi"`, out},
				{`"type":"ReadReceipt"`, `"instanceName":"Shop"`, `"state":"Delivered"`, out},
			},
		} {
			for i, r := range hooks[format].first(t, len(want)) {
				for _, part := range want[i] {
					require.Contains(t, string(r.body), part)
				}
				require.NoError(t, webhook.Verify(hooks[format].secret, r.header, r.body, time.Now()))
				require.Equal(t, fmt.Sprint(i+1), r.header.Get("X-Trunkline-Sequence"))
			}
		}
		require.Contains(t, string(own.first(t, 2)[0].body), `"remoteJid":"ana::single"`)
	})
}

// first waits for n deliveries.
func (h *hook) first(t *testing.T, n int) []hooked {
	t.Helper()
	h.until(t, func() bool { return len(h.all()) >= n })
	return h.all()[:n]
}

// TestOldSignaturesOfFormats lets a receiver continue with the key that it has.
func TestOldSignaturesOfFormats(t *testing.T) {
	t.Parallel()
	f := working(t, setup(t, local))
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	for _, c := range []struct {
		format, header string
		hash           func() hash.Hash
	}{{"cloud", "X-Hub-Signature-256", sha256.New}, {"waha", "X-Webhook-Hmac", sha512.New}, {"wuzapi", "X-Hmac-Signature", sha256.New}} {
		h := ana.hook(t, ref, http.StatusOK)
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"format":%q,"secret":%q}`,
			ref, h.URL, c.format, "whsec_"+base64.StdEncoding.EncodeToString([]byte(oldKey)))).json(200)
		ana.write(t, ref, "ana", "Hello")
		r := h.first(t, 1)[0]
		mac := hmac.New(c.hash, []byte(oldKey))
		_, _ = mac.Write(r.body)
		require.Equal(t, hex.EncodeToString(mac.Sum(nil)), strings.TrimPrefix(r.header.Get(c.header), "sha256="))
	}
}

// TestFormatIsKept shows and changes the format of a webhook.
func TestFormatIsKept(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	list := fmt.Sprintf("/references/hookconf?reference=%d", ref)
	shown := func() any {
		return ana.call(t, "GET", list, "").json(200)["items"].([]any)[0].(map[string]any)["format"]
	}
	put := func(more string) {
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":"https://example.org/in"%s}`, ref, more)).json(200)
	}
	put("")
	require.Equal(t, "trunkline", shown())
	put(`,"format":"wuzapi"`)
	require.Equal(t, "wuzapi", shown())
	put("")
	require.Equal(t, "wuzapi", shown())
	put(`,"format":"trunkline"`)
	require.Equal(t, "trunkline", shown())
	for path, body := range map[string]string{
		"/references/hookconf":        fmt.Sprintf(`{"id":%d,"webhook":"https://example.org/in","format":"zapi"}`, ref),
		"/references/registerWebHook": fmt.Sprintf(`{"reference":%d,"webhook":"https://example.org/in","format":""}`, ref),
	} {
		require.Equal(t, "body.format", ana.call(t, "POST", path, body).problem(422, "validation").Errors[0].Location)
	}
	p := ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"provider":true,"format":"waha"}`, ref)).problem(422, "validation")
	require.Equal(t, "body.format", p.Errors[0].Location)
}
