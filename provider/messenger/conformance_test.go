package messenger_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Harness{
		New:     conformanceSetup,
		ChatIDs: []string{maria, maria + "@messenger", " " + maria + "@messenger "},
		Contents: []provider.Content{
			provider.Media{Kind: provider.Image, URL: "https://files.example/a.png", Caption: "A picture"},
			provider.Media{Kind: provider.Video, URL: "https://files.example/a.mp4"},
			provider.Media{Kind: provider.Audio, URL: "https://files.example/a.mp3"},
			provider.Media{Kind: provider.Document, Open: opening("%PDF"), File: provider.File{MIME: "application/pdf"}},
			provider.Interactive{Interactive: json.RawMessage(`{"template_type":"button","text":"Open?","buttons":[{"type":"web_url","url":"https://example.com","title":"Open"}]}`)},
			provider.List{Text: "Which?", Button: "Choose", Sections: []provider.Section{{Rows: []provider.Choice{{ID: "1", Title: "One", Description: "The first"}}}}},
		},
		Junk: []string{"", "ana", "ana@sandbox", "+" + maria, "12@messenger@messenger", "123456789012345678901234567890123", "@messenger"},
	})
}

// conformanceSetup is a page with the fake behind it.
func conformanceSetup(t *testing.T) providertest.Setup {
	fake, p := fakeNetwork(t, graphtest.Options{})
	return providertest.Setup{
		Provider:  p,
		Reference: provider.Reference{ID: 1, Name: "Shop", Settings: settings()},
		Shown: func() []string {
			var texts []string
			for _, m := range fake.Shown(maria) {
				texts = append(texts, m.Text)
			}
			return texts
		},
		Fail: func(f providertest.Fault) bool {
			fake.Fail(map[providertest.Fault]graphtest.Fault{
				providertest.RateLimited: {Code: 613},
				providertest.Window:      {Code: 10, Subcode: 2018278},
				providertest.Expired:     {Code: 190, Subcode: 463, Status: http.StatusUnauthorized},
				providertest.Unreachable: {Code: 551, Subcode: 1545041},
				providertest.Refused:     {Code: 36000, Status: http.StatusOK},
				providertest.Unavailable: {Code: 1200, Status: http.StatusInternalServerError, Transient: true},
				providertest.Lost:        {Cut: true, Taken: true},
				providertest.Hanging:     {Hang: true},
			}[f])
			return true
		},
		Callback: func(t *testing.T, text string) (http.Header, []byte) {
			all := listen(t, fake)
			_, err := fake.Pages.Write(t.Context(), graphtest.PageInbound{From: maria, Text: text})
			require.NoError(t, err)
			got := <-all
			return got.header, got.body
		},
		Callbacks: func(t *testing.T) map[string][]byte {
			all, callbacks := listen(t, fake), map[string][]byte{}
			for _, x := range graphtest.PageSamples(page, maria) {
				require.NoError(t, fake.Pages.PostSample(t.Context(), "", x))
				callbacks[x.Name] = (<-all).body
			}
			return callbacks
		},
	}
}
