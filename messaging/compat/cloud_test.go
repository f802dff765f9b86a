package compat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/compat"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// TestCloudIsRead has the provider that reads Meta's callbacks read every event in the
// format of the Cloud API.
func TestCloudIsRead(t *testing.T) {
	t.Parallel()
	types := map[string]int{}
	for _, h := range append(messages(), others()...) {
		ev := h.event(t)
		ev.Reference.Number, ev.Reference.Business = "106540352242922", "102290129340398"
		f := compat.Find("cloud")
		if !f.Has(ev.Type, ev.Payload) {
			continue
		}
		body, err := f.Body(ev)
		require.NoError(t, err)
		network := cloud.New(nil)
		parts, err := network.Route(body)
		require.NoError(t, err)
		require.Len(t, parts, 1)
		events, bad := network.Parse(parts[0])
		require.Empty(t, bad, h.name)
		require.Len(t, events, 1, h.name)
		switch got := events[0].(type) {
		case *provider.Message:
			want := h.payload.(messaging.MessagePayload)
			require.Equal(t, want.ID, got.ID, h.name)
			require.True(t, want.MessageTimestamp.Equal(got.At), h.name)
			require.Equal(t, want.Edited != nil, got.Edits != "", h.name)
			require.Equal(t, want.Context != nil && want.Reaction == nil, got.ReplyTo != "" || got.Forwarded, h.name)
			types[got.Content.Type()]++
			switch c := got.Content.(type) {
			case provider.Text:
				require.Equal(t, want.Text, c.Text, h.name)
			case provider.Location:
				require.InDelta(t, want.Location.Latitude, c.Latitude, 0, h.name)
			case provider.Media:
				require.Equal(t, want.Caption, c.Caption, h.name)
				require.Equal(t, "a", c.ID, h.name)
			case provider.Contacts:
				require.Len(t, c.Contacts, len(want.Contacts), h.name)
				require.Equal(t, want.Contacts[0].Name, c.Contacts[0].Name, h.name)
			case provider.Reaction:
				require.Equal(t, *want.Reaction, c, h.name)
			case provider.Reply:
				require.Equal(t, want.Reply.ID, c.ID, h.name)
			}
		case *provider.StatusChange:
			want := h.payload.(messaging.StatusPayload)
			require.Equal(t, want.ID, got.MessageID, h.name)
			require.True(t, want.At.Equal(got.At), h.name)
			types["status"]++
		default:
			require.Failf(t, "another event", "%s is a %T: %s", h.name, got, body)
		}
	}
	for _, kind := range []string{"text", "image", "document", "audio", "sticker", "location", "contacts", "reaction", "reply", "revoke", "status"} {
		require.NotZero(t, types[kind], kind)
	}
}

// TestCloud_Ids names the reference where the Cloud API's ids are not known.
func TestCloud_Ids(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{"": "7", "106540352242922": "106540352242922"} {
		h := happened{kind: messaging.EventMessage, payload: came(extras("Hello", messaging.Extras{}))}
		ev := h.event(t)
		ev.Reference.Number, ev.Reference.Business = number, number
		body, err := compat.Find("cloud").Body(ev)
		require.NoError(t, err)
		var out struct {
			Entry []struct {
				ID      string
				Changes []struct {
					Value struct {
						Metadata struct {
							Display string `json:"display_phone_number"`
							Number  string `json:"phone_number_id"`
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(body, &out))
		require.Equal(t, want, out.Entry[0].ID)
		require.Equal(t, want, out.Entry[0].Changes[0].Value.Metadata.Number)
		require.Equal(t, "16505550100", out.Entry[0].Changes[0].Value.Metadata.Display)
	}
}
