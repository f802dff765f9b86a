package compat_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/compat"
)

// TestHostilePayloads writes what no network should say: whatever a format says
// that it has, it writes, as JSON.
func TestHostilePayloads(t *testing.T) {
	t.Parallel()
	head := `"reference":1,"remoteJid":"1::single","id":"x","status":"READ"`
	far := []string{"0", "-62135596801", "253402300800", strconv.Itoa(math.MaxInt64), strconv.Itoa(math.MinInt64)}
	payloads := map[string][]string{}
	for _, at := range far {
		when := `{` + head + `,"messageTimestamp":` + at
		payloads["message"] = append(payloads["message"],
			when+`}`, when+`,"type":"text","text":"a","mine":true}`, when+`,"type":"text","edited":{"messageId":"y"},"text":"b"}`,
			when+`,"type":"text","context":{"messageId":"y"},"reaction":{"messageId":"y","emoji":""},"revoked":{"messageId":"z"}}`,
			when+`,"type":"text","revoked":{"messageId":"z"},"edited":{"messageId":"z"}}`,
			when+`,"type":"contacts","contacts":[],"context":{"messageId":"y"}}`, when+`,"type":"text","contacts":[{},{}],"context":{"messageId":"y"}}`,
			when+`,"type":"text","poll":{},"context":{"messageId":"y"}}`, when+`,"type":"text","poll":{"messageId":"p","options":null,"selected":["q"]},"context":{"messageId":"y"}}`,
			when+`,"type":"image","sticker":true,"fileLength":-1,"error":{"code":"x","message":"y"},"context":{"messageId":"y"}}`,
			when+`,"type":"text","location":{"latitude":1e308,"longitude":-0},"context":{"forwarded":true}}`,
			when+`,"type":"text","reply":{},"context":{"messageId":"y"}}`, when+`,"type":"text","participant":{}}`)
		payloads["status"] = append(payloads["status"], when+`}`)
		payloads["calls"] = append(payloads["calls"], `{"remoteJid":"","status":"ringing","messageTimestamp":`+at+`}`)
		payloads["session"] = append(payloads["session"], `{"state":"FAILED","lastError":{},"timestamp":`+at+`}`, `{"state":"PAIRING","timestamp":`+at+`}`)
	}
	for kind := range payloads {
		payloads[kind] = append(payloads[kind], `null`, `{}`, `[]`, `"a"`, ``, strings.Repeat("[", 20_000))
	}
	payloads["extracted"] = []string{`{}`}
	for _, f := range compat.Formats() {
		for kind, all := range payloads {
			for _, payload := range all {
				for _, chat := range []string{"", "\x00@g.us", "::group"} {
					if !f.Has(kind, []byte(payload)) {
						continue
					}
					body, err := f.Body(compat.Event{Type: kind, ChatID: chat, Payload: []byte(payload), QR: &messaging.QR{}})
					require.NoError(t, err, "%s %s %.200s", f.Name, kind, payload)
					require.True(t, json.Valid(body), "%s %s", f.Name, kind)
				}
			}
		}
	}
}
