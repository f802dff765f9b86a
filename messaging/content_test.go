package messaging_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

func TestDecodeContent(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]provider.Content{
		contents[0]: provider.Text{Text: "hello", PreviewURL: true},
		contents[2]: provider.Buttons{Text: "Tea?", Buttons: []provider.Choice{{ID: "y", Title: "Yes"}}},
		contents[4]: provider.Location{Latitude: 48.85, Longitude: -2.29, Name: "Tower"},
		contents[5]: provider.Reaction{MessageID: "m1", Emoji: "👍"},
		`{"type":"reaction","messageId":"m1","emoji":""}`: provider.Reaction{MessageID: "m1"},
	} {
		got, err := messaging.DecodeContent(json.RawMessage(raw))
		require.NoError(t, err, raw)
		require.Equal(t, want, got)
	}
	rows := strings.Repeat(`{"id":"x","title":"x"},`, 10)
	for raw, field := range map[string]string{
		``: "message", `7`: "message", `"text"`: "message", `[]`: "message",
		`null`: "message.type", `{}`: "message.type", `{"type":"fax"}`: "message.type", `{"type":"reply","id":"y"}`: "message.type",
		`{"type":"text"}`: "message.text", `{"type":"text","text":" "}`: "message.text", `{"type":"text","text":7}`: "message.text",
		`{"type":"text","text":"x","bold":true}`:                                                             "message.bold",
		`{"type":"template","template":{"name":"x"}}`:                                                        "message.template.language.code",
		`{"type":"template","template":{"name":"x","language":7}}`:                                           "message.template.language",
		`{"type":"buttons","text":"x","buttons":[]}`:                                                         "message.buttons",
		`{"type":"buttons","text":"x","buttons":[{"id":"1","title":"a"},{"id":"1","title":"b"}]}`:            "message.buttons[1].id",
		`{"type":"buttons","text":"x","buttons":[{"id":"1"}]}`:                                               "message.buttons[0].title",
		`{"type":"list","text":"x","button":"y","sections":[]}`:                                              "message.sections",
		`{"type":"list","text":"x","button":"y","sections":[{"rows":[` + rows + `{"id":"y","title":"y"}]}]}`: "message.sections[0].rows[1].id",
		`{"type":"list","text":"x","sections":[{"rows":[{"id":"1","title":"1"}]}]}`:                          "message.button",
		`{"type":"location","latitude":91,"longitude":0}`:                                                    "message.latitude",
		`{"type":"location","latitude":0,"longitude":-181}`:                                                  "message.longitude",
		`{"type":"location","longitude":0}`:                                                                  "message.latitude",
		`{"type":"location","latitude":0,"longitude":null}`:                                                  "message.longitude",
		`{"type":"reaction","emoji":"x"}`:                                                                    "message.messageId",
	} {
		_, err := messaging.DecodeContent(json.RawMessage(raw))
		requireInvalid(t, err, field)
	}
}

// TestUnknownMembers are named with their whole path.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	for at, raw := range map[string]string{
		"message.template.namespace":       `{"type":"template","template":{"name":"x","namespace":"y","language":{"code":"en"}}}`,
		"message.template.language.locale": `{"type":"template","template":{"name":"x","language":{"code":"en","locale":"x"}}}`,
		"message.template.language.policy": `{"type":"template","template":{"name":"x","language":{"code":"en","policy":"fallback"}}}`,
		"message.buttons[1].url":           `{"type":"buttons","text":"x","buttons":[{"id":"a","title":"A"},{"id":"b","title":"B","url":"x"}]}`,
		"message.sections[0].rows[0].x":    `{"type":"list","text":"x","button":"b","sections":[{"rows":[{"id":"a","title":"A","x":1}]}]}`,
		"message.hush":                     `{"type":"text","text":"x","hush":{"text":1}}`,
		"message.x":                        `{"type":"contacts","contacts":[],"x":1}`,
	} {
		_, err := messaging.DecodeContent(json.RawMessage(raw))
		requireInvalid(t, err, at)
	}
}
