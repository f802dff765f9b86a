package graphtest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestPageRefuses lists what a page does not take, by the code and sub-code of
// the refusal.
func TestPageRefuses(t *testing.T) {
	t.Parallel()
	fake := graphtest.Start(&graphtest.Options{Window: true, Pages: []graphtest.Page{{ID: "1", AccessToken: "a"}, {ID: "2", AccessToken: "b"}}})
	t.Cleanup(fake.Close)
	client := graph.New(&graph.Options{URL: fake.URL}).As("a")
	type object = map[string]any
	to := func(more object) object {
		more["recipient"] = object{"id": "7"}
		return more
	}
	attached := func(kind string, payload object) object {
		return to(object{"message": object{"attachment": object{"type": kind, "payload": payload}}})
	}
	for name, c := range map[string]struct {
		path          string
		body          object
		code, subcode int
	}{
		"nobody":               {"me/messages", object{"message": object{"text": "x"}}, 100, 0},
		"nothing":              {"me/messages", to(object{}), 100, 0},
		"an unknown member":    {"me/messages", to(object{"message": object{"text": "x"}, "x": 1}), 100, 0},
		"a tag that has ended": {"me/messages", to(object{"message": object{"text": "x"}, "messaging_type": "MESSAGE_TAG", "tag": "ACCOUNT_UPDATE"}), 100, 0},
		"a tag without a type": {"me/messages", to(object{"message": object{"text": "x"}, "tag": "HUMAN_AGENT"}), 100, 0},
		"text and attachment":  {"me/messages", to(object{"message": object{"text": "x", "attachment": object{"type": "image", "payload": object{"url": "https://x"}}}}), 100, 0},
		"a long quick reply":   {"me/messages", to(object{"message": object{"text": "x", "quick_replies": []any{object{"content_type": "text", "title": "A title of too many characters", "payload": "1"}}}}), 100, 0},
		"an unknown file":      {"me/messages", attached("image", object{"attachment_id": "5"}), 100, 2018074},
		"a file of no address": {"me/messages", attached("image", object{}), 100, 0},
		"cards without a card": {"me/messages", attached("template", object{"template_type": "generic"}), 100, 0},
		"who has not written":  {"1/messages", to(object{"message": object{"text": "x"}}), 10, 2018278},
		"an unknown action":    {"me/messages", to(object{"sender_action": "dance"}), 100, 0},
		"another page":         {"2/messages", to(object{"message": object{"text": "x"}}), 100, 33},
		"an upload of nothing": {"me/message_attachments", object{"message": object{"attachment": object{"type": "image", "payload": object{"is_reusable": true}}}}, 100, 2018047},
		"no fields":            {"me/subscribed_apps", nil, 100, 0},
		"a field of no page":   {"me/subscribed_apps?subscribed_fields=calls", nil, 100, 0},
	} {
		err := client.Post(t.Context(), c.path, c.body, nil)
		refused, is := errors.AsType[*graph.Error](err)
		require.True(t, is, "%s: %v", name, err)
		require.Equal(t, []int{c.code, c.subcode}, []int{refused.Code, refused.Subcode}, name)
	}
	require.Empty(t, fake.Shown("7"))
}
