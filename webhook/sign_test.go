package webhook_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

// signed are the headers that the official library makes.
func signed(t testing.TB, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	s, err := wh.Sign(id, at, []byte(body))
	require.NoError(t, err)
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", s)
	return h
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	secret := secretOf(32)
	with := func(name, value string) http.Header {
		h := signed(t, secret, "msg_1", now, `{"a":1}`)
		h.Set(name, value)
		return h
	}
	good := with("X", "x")
	s := good.Get("webhook-signature")
	for name, c := range map[string]struct {
		h    http.Header
		body string
		now  time.Time
		ok   bool
	}{
		"as the official library signs": {good, `{"a":1}`, now, true},
		"one of several":                {with("webhook-signature", "v1,AAAA v2,x "+s), `{"a":1}`, now, true},
		"five minutes late":             {good, `{"a":1}`, now.Add(5 * time.Minute), true},
		"too late":                      {good, `{"a":1}`, now.Add(5*time.Minute + time.Second), false},
		"too early":                     {good, `{"a":1}`, now.Add(-5*time.Minute - time.Second), false},
		"another body":                  {good, `{"a":2}`, now, false},
		"another id":                    {with("webhook-id", "msg_2"), `{"a":1}`, now, false},
		"another time":                  {with("webhook-timestamp", strconv.FormatInt(now.Unix()+1, 10)), `{"a":1}`, now, false},
		"another version":               {with("webhook-signature", "v2"+s[2:]), `{"a":1}`, now, false},
		"no version":                    {with("webhook-signature", s[3:]), `{"a":1}`, now, false},
		"empty signature":               {with("webhook-signature", "v1,"), `{"a":1}`, now, false},
		"no time":                       {with("webhook-timestamp", ""), `{"a":1}`, now, false},
		"time is no number":             {with("webhook-timestamp", "now"), `{"a":1}`, now, false},
		"no id":                         {with("webhook-id", ""), `{"a":1}`, now, false},
		"no headers":                    {http.Header{}, `{"a":1}`, now, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := webhook.Verify(secret, c.h, []byte(c.body), c.now)
			if c.ok {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, webhook.ErrSignature)
			}
		})
	}
	for _, bad := range []string{"", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		requireInvalid(t, webhook.Verify(bad, good, []byte(`{"a":1}`), now), "secret")
	}
}

func FuzzVerify(f *testing.F) {
	now := time.Unix(1_700_000_000, 0)
	secret := secretOf(32)
	key := base64.StdEncoding.EncodeToString([]byte("x"))
	f.Add("msg", "1700000000", "v1,"+key, "{}")
	f.Add("msg", "1700000000", "v1, v1,,, v1", "")
	f.Add("a.b", "-1", " ", "\x00")
	f.Add("msg", "99999999999999999999", "v1,\xff", "{}")
	wh, err := standardwebhooks.NewWebhook(secret)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, id, at, sig, body string) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {sig}}
		if webhook.Verify(secret, h, []byte(body), now) == nil {
			require.NoError(t, wh.VerifyIgnoringTimestamp([]byte(body), h))
		}
	})
}
