package messenger_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

// FuzzCallback: whatever is posted is read without harm, twice to the same,
// and what comes of it is whole.
func FuzzCallback(f *testing.F) {
	raw, err := os.ReadFile("testdata/items.json")
	require.NoError(f, err)
	var items []struct{ Members json.RawMessage }
	require.NoError(f, json.Unmarshal(raw, &items))
	for _, x := range items {
		f.Add(item(string(x.Members[1 : len(x.Members)-1])))
	}
	f.Add([]byte(`{"entry":[{"id":1,"messaging":[null,1,[],{"message":[]}],"standby":{},"changes":[{}]},7,null]}`))
	p := messenger.New(nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		before := slices.Clone(body)
		parts, err := p.Route(body)
		if err != nil {
			return
		}
		for _, part := range parts {
			events, bad := p.Parse(part)
			again, badAgain := p.Parse(part)
			require.Equal(t, events, again)
			require.Equal(t, bad, badAgain)
			for _, e := range events {
				providertest.Whole(t, e)
			}
		}
		require.Equal(t, before, body)
	})
}

// FuzzSend: what passes validation can be written as JSON, and what does not
// names a field.
func FuzzSend(f *testing.F) {
	f.Add("Hello", "yes", "Yes", `{"template_type":"button","text":"x","buttons":[{"type":"postback","title":"a","payload":"b"}]}`)
	f.Add("", "", "A title of far too many characters", `{"template_type":"generic","elements":[{}]}`)
	p := messenger.New(nil)
	f.Fuzz(func(t *testing.T, text, id, title, raw string) {
		choice := provider.Choice{ID: id, Title: title}
		for _, c := range []provider.Content{
			provider.Text{Text: text},
			provider.Buttons{Text: text, Buttons: []provider.Choice{choice}},
			provider.List{Text: text, Button: title, Sections: []provider.Section{{Rows: []provider.Choice{choice, {ID: text, Title: id, Description: title}}}}},
			provider.Media{Kind: provider.Image, URL: text, Caption: title},
			provider.Interactive{Interactive: json.RawMessage(raw)},
		} {
			err := p.Validate(c)
			if err == nil {
				for _, part := range p.Split(c) {
					require.NoError(t, p.Validate(part))
				}
				continue
			}
			var bad *provider.Invalid
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Field, "message")
			require.NotEmpty(t, bad.Message)
		}
	})
}
