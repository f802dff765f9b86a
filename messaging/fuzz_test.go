package messaging_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
)

// contents are messages as users write them, good and bad.
var contents = []string{
	`{"type":"text","text":"hello","previewUrl":true}`,
	`{"type":"template","template":{"name":"hi","language":{"code":"en"},"components":[{"type":"body"}]}}`,
	`{"type":"buttons","text":"Tea?","buttons":[{"id":"y","title":"Yes"}]}`,
	`{"type":"list","text":"Which?","button":"See","sections":[{"title":"All","rows":[{"id":"g","title":"Green","description":"mild"}]}]}`,
	`{"type":"location","latitude":48.85,"longitude":-2.29,"name":"Tower"}`,
	`{"type":"reaction","messageId":"m1","emoji":"👍"}`,
	`{"type":"reply","id":"y","title":"Yes"}`,
	`{"type":"contacts","contacts":[{"name":{"formattedName":"Ben"},"phones":[{"phone":"1"}]}]}`,
	`{"type":"poll","question":"Which?","options":["a","b"],"multiple":true}`,
	`{"type":"edit","messageId":"m1","text":"x","tag":"HUMAN_AGENT"}`, `{"type":"revoke","messageId":"m1"}`,
	`{"type":"interactive","interactive":{"type":"cta_url","n":1e999}}`, `{"type":"text","text":"@a","mentions":["a"]}`,
	`{}`, `null`, `[]`, `{"type":7}`, `{"type":"text","text":7}`, `{"Type":"text","text":"x"}`, `{"type":"text","text":"x","type":"list"}`,
	`{"type":"text","text":"\ud83d\u0000"}`, `{"type":"location","latitude":1e999,"longitude":0}`, `{"type":"list","sections":[{"rows":7}]}`,
}

func FuzzDecodeContent(f *testing.F) {
	for _, c := range contents {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := messaging.DecodeIncoming(raw); err != nil {
			var invalid *messaging.Invalid
			require.ErrorAs(t, err, &invalid)
		} else {
			require.NotNil(t, c)
		}
		c, err := messaging.DecodeContent(raw)
		if err != nil {
			var invalid *messaging.Invalid
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Field)
			return
		}
		stored, err := messaging.EncodeContent(c)
		require.NoError(t, err)
		again, err := messaging.DecodeContent(json.RawMessage(stored))
		require.NoError(t, err, stored)
		twice, err := messaging.EncodeContent(again)
		require.NoError(t, err)
		require.Equal(t, stored, twice)
	})
}

func FuzzCursor(f *testing.F) {
	for _, c := range append(badCursors, "MA", "MC4w", "LTEuMw", beginning) {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for keys := range 4 {
			canonical, err := messaging.ParseCursor(s, keys)
			if err != nil {
				requireInvalid(t, err, "cursor")
				continue
			}
			again, err := messaging.ParseCursor(canonical, keys)
			require.NoError(t, err)
			require.Equal(t, canonical, again)
		}
	})
}

// FuzzTemplate fills a template in: what fits leaves no variable open, and
// nothing makes it panic.
func FuzzTemplate(f *testing.F) {
	const two = `[{"type":"HEADER","format":"TEXT","text":"{{1}}"},{"type":"BODY","text":"Hello {{1}}, {{2}}"},{"type":"FOOTER","text":"x"},` +
		`{"type":"BUTTONS","buttons":[{"type":"URL","text":"a","url":"https://a/{{1}}"},{"type":"COPY_CODE"},{"type":"FLOW"}]}]`
	f.Add(two, "positional", `[{"type":"header","parameters":[{"type":"text","text":"a"}]},{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"currency","currency":{"fallback_value":"1"}}]},`+
		`{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"a"}]},{"type":"button","sub_type":"copy_code","index":1,"parameters":[{"type":"coupon_code","coupon_code":"X"}]}]`)
	f.Add(`[{"type":"BODY","text":"Hello {{name}}"}]`, "named", `[{"type":"body","parameters":[{"type":"text","parameter_name":"name","text":"a"}]}]`)
	f.Add(`[{"type":"CAROUSEL","cards":[{"components":[{"type":"HEADER","format":"IMAGE"}]}]}]`, "", `[{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"header","parameters":[{"type":"image"}]}]}]}]`)
	f.Add(`[{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"has_expiration":true}},null,7]`, "", `[{"type":"limited_time_offer"},null]`)
	f.Add(`[{"type":"BUTTONS"}]`, "", `[{"type":"button","index":-1},{"type":"carousel","cards":[{"card_index":-9}]}]`)
	f.Fuzz(func(t *testing.T, components, format, fill string) {
		preview, err := messaging.FillTemplate(components, format, fill)
		var invalid *messaging.Invalid
		if err != nil {
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Field, "message.template.components")
			return
		}
		if format == "positional" && strings.Count(components, "{{") == 1 && strings.Contains(components, "{{1}}") && !strings.Contains(fill, "{{") {
			require.NotContains(t, preview.Text, "{{1}}")
		}
	})
}
