package cloud_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

// FuzzCallback holds the laws of a reader of foreign bytes: it never panics,
// what it returns is whole, and reading twice gives the same.
func FuzzCallback(f *testing.F) {
	for _, value := range []string{
		contactAna + `"messages":[{"from":"16505551234","id":"m","timestamp":"1","type":"text","text":{"body":"x"},"context":{"id":"q"},"group_id":"g"}]`,
		`"messages":[{"from":"1","id":"m","type":"image","image":{}},{"id":"n","type":"unsupported"}],"statuses":[{"id":"m","status":"failed","errors":[{"code":1}]}],"errors":[{}]`,
		`"calls":[{"id":"c"}],"message_echoes":[{"id":"e"}],"history":[]`,
	} {
		for _, field := range []string{"messages", "calls", "smb_message_echoes", "history"} {
			f.Add(change(field, value))
		}
	}
	f.Add([]byte(`{"entry":[{"id":1,"time":2,"changes":[{},7,{"value":{},"field":7}]}]}`))
	p := cloud.New(nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		parts, err := p.Route(body)
		if err != nil {
			require.Empty(t, parts)
			parts = []provider.Part{{Body: body}} // as if it came from elsewhere
		}
		for _, part := range parts {
			events, bad := p.Parse(part)
			for _, e := range events {
				whole(t, e)
			}
			for _, b := range bad {
				require.NotEmpty(t, b.Reason)
			}
			again, badAgain := p.Parse(part)
			require.Equal(t, events, again)
			require.Equal(t, bad, badAgain)
		}
	})
}

func whole(t *testing.T, event provider.Event) {
	t.Helper()
	switch e := event.(type) {
	case *provider.Message:
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Chat.ChatID)
		require.NotNil(t, e.Content)
	case *provider.StatusChange:
		require.NotEmpty(t, e.MessageID)
		require.Equal(t, e.Status == provider.StatusFail, e.Error != nil)
	case *provider.Raw:
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Kind)
		require.True(t, json.Valid(e.Body))
	}
}
