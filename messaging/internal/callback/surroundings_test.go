package callback

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
)

// itemsOf are the elements of the member "items" of the member "value".
func itemsOf(body []byte) (out []provider.Bad) {
	for item := range jsonscan.Elements(jsonscan.Get(jsonscan.Get(body, "value"), "items")) {
		out = append(out, provider.Bad{Body: item})
	}
	return out
}

func TestSurrounding(t *testing.T) {
	large := strings.Repeat("x", maxSurrounding)
	body := []byte(`{"field":"f","value":{"one":[1],"none":[],"list":[1,2],"large":"` + large + `","a\"b":{},"items":[7,{},7],"after":true}}`)
	room := maxReplayable
	out := surrounding(body, itemsOf(body), &room)
	for i, item := range []string{`7`, `{}`, `7`} {
		require.JSONEq(t, `{"field":"f","value":{"one":[1],"none":[],"a\"b":{},"after":true,"items":[`+item+`]}}`, string(out[i]))
	}
	require.Equal(t, maxReplayable-3*len(out[0])-1, room)

	copied := []provider.Bad{{Body: json.RawMessage("7")}, {}}
	require.Equal(t, []json.RawMessage{nil, nil}, surrounding(body, copied, &room), "an item that is no part of the body, and none")
	require.Equal(t, string(body), string(surrounding(body, []provider.Bad{{Body: body}}, &room)[0]), "the whole body")
	require.Nil(t, surrounding([]byte(`{"a":`), []provider.Bad{{Body: body}}, &room)[0])
}

// TestSurrounding_IsBounded has a body of many items, and of much around them.
func TestSurrounding_IsBounded(t *testing.T) {
	var members strings.Builder
	for i := range 100 {
		fmt.Fprintf(&members, `"m%d":"%s",`, i, strings.Repeat("x", 200))
	}
	body := []byte(`{"value":{` + members.String() + `"items":[` + strings.Repeat(`7,`, 10_000) + `7]}}`)
	room := 1 << 20
	total := 0
	for _, part := range surrounding(body, itemsOf(body), &room) {
		require.LessOrEqual(t, len(part), maxSurroundings+1000)
		total += len(part)
	}
	require.Equal(t, 1<<20, total+room)
	require.Less(t, room, maxSurroundings+1000)

	deep := []byte(`{"value":{"items":` + strings.Repeat(`[`, 5000) + `7` + strings.Repeat(`]`, 5000) + `}}`)
	at := len(`{"value":{"items":`) + 5000
	require.Nil(t, surrounding(deep, []provider.Bad{{Body: deep[at : at+1]}}, &room)[0], "deeper than any callback")
}

func FuzzSurrounding(f *testing.F) {
	for _, seed := range []string{`{"value":{"items":[7,{},[]]}}`, `{"value":{"a":1,"items":[{"b":[1,2]}]}}`, `{"value":{"\u0000":1,"items":["x"]}}`, `[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		room := maxReplayable
		items := itemsOf(body)
		for i, part := range surrounding(body, items, &room) {
			if part != nil {
				require.True(t, json.Valid(part), "%s", part)
				require.Contains(t, string(part), string(items[i].Body))
			}
		}
	})
}
