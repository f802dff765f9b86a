package messaging_test

import (
	"encoding/json"
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
		require.JSONEq(t, stored, twice)
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
