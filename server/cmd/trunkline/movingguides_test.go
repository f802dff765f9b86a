//go:build unix

package main_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestMovingGuides creates a line and a webhook as in the guides for users of other
// projects, and checks that the webhook gets an event for a message.
func TestMovingGuides(t *testing.T) {
	t.Parallel()
	const key = "a key from before, of 24 bytes or more"
	for _, c := range []struct {
		guide, line, url, contact string
		received                  string
		signature                 string // the header
		hash                      func() hash.Hash
	}{
		{"../../../docs/from-evolution-api.md", `"name":"sales"`, "https://example.org/evolution", "5511999998888", `{"event":"send.message","instance":"My first line","data":{`, "", nil},
		{"../../../docs/from-waha.md", `"name":"default"`, "https://example.org/waha", "12132132131", `"event":"message.any","session":"My first line"`, "X-Webhook-Hmac", sha512.New},
		{"../../../docs/from-wuzapi.md", `"name":"sales"`, "https://example.org/wuzapi", "5491155554444", `{"type":"Message","event":{"Info":{"Chat":"maria@sandbox"`, "X-Hmac-Signature", sha256.New},
	} {
		t.Run(c.guide, func(t *testing.T) {
			t.Parallel()
			f := follow(t, "--webhook-allow", "127.0.0.1/32")
			guide := testkit.ReadGuide(t, c.guide)
			made := f.Run(t, f.local(guide.Block(t, "reference")))
			require.Contains(t, made[0], c.line)
			require.Contains(t, made[0], `"type":"provider-web"`)

			type delivery struct {
				header http.Header
				body   []byte
			}
			got := make(chan delivery, 10)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got <- delivery{r.Header, body}
			}))
			t.Cleanup(receiver.Close)
			f.Run(t, "KEY='"+key+"'")
			require.Contains(t, f.Run(t, f.local(guide.Block(t, "webhook", c.url, receiver.URL)))[0], `"secret":"whsec_`)
			f.Run(t, f.local(guide.Block(t, "send", c.contact, "maria@sandbox")))
			select {
			case d := <-got:
				require.Contains(t, string(d.body), c.received)
				if c.hash != nil {
					mac := hmac.New(c.hash, []byte(key))
					_, _ = mac.Write(d.body)
					require.Equal(t, hex.EncodeToString(mac.Sum(nil)), d.header.Get(c.signature))
				}
			case <-time.After(time.Minute):
				require.Fail(t, "nothing came")
			}
		})
	}
}
