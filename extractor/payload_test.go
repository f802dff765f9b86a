package extractor_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor"
)

// TestDataPayload has every member in both of its forms, and reads back what
// it wrote.
func TestDataPayload(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		payload extractor.DataPayload
		json    string
	}{
		{
			extractor.DataPayload{
				Reference: 1, Ref: 1, RemoteJID: "16505551234::single", ChatID: "16505551234", MessageID: "m1", MessageTimestamp: 1772366400,
				Extractor: &extractor.Source{ID: "e1", Name: "order number", Kind: "regex"},
				Values:    extractor.Values{"order": json.RawMessage(`"A-17"`), "total": json.RawMessage(`12.50`)},
			},
			`{"reference":1,"ref":1,"remoteJid":"16505551234::single","chatId":"16505551234","messageId":"m1","extractor":{"id":"e1","name":"order number","kind":"regex"},` +
				`"event":null,"values":{"order":"A-17","total":12.50},"messageTimestamp":1772366400}`,
		},
		{
			extractor.DataPayload{
				Reference: 1, Ref: 1, RemoteJID: "16505551234::single", ChatID: "16505551234", MessageTimestamp: 1772366400,
				Event: &extractor.FlowEvent{Name: "lead", Data: json.RawMessage(`{"b":1,"a":[2]}`)},
			},
			`{"reference":1,"ref":1,"remoteJid":"16505551234::single","chatId":"16505551234","messageId":"","extractor":null,"event":{"name":"lead","data":{"b":1,"a":[2]}},` +
				`"values":{},"messageTimestamp":1772366400}`,
		},
	} {
		raw, err := json.Marshal(c.payload)
		require.NoError(t, err)
		require.Equal(t, c.json, string(raw))
		var again extractor.DataPayload
		require.NoError(t, json.Unmarshal(raw, &again))
		raw, err = json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, c.json, string(raw))
	}
}
