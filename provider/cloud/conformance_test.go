package cloud_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/providertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Harness{
		New:     conformanceSetup,
		ChatIDs: []string{"+1 (650) 555-1234", "16505551234", "US.40070010020030040055", "120363041234567890@g.us"},
		Contents: []provider.Content{
			provider.Media{Kind: provider.Image, URL: "https://files.example/a.png", Caption: "A picture"},
			provider.Media{Kind: provider.Video, URL: "https://files.example/a.mp4"},
			provider.Media{Kind: provider.Audio, URL: "https://files.example/a.mp3"},
			provider.Media{Kind: provider.Document, Open: opening("%PDF"), File: provider.File{MIME: "application/pdf"}},
			provider.Media{Kind: provider.Sticker, URL: "https://files.example/a.webp"},
			provider.Contacts{Contacts: []provider.Card{{Name: provider.CardName{Formatted: "Ana", First: "Ana"}}}},
			provider.Interactive{Interactive: json.RawMessage(`{"type":"location_request_message","body":{"text":"Where?"},"action":{"name":"send_location"}}`)},
		},
		Junk: []string{"", "ana", "ana@sandbox", "12", "16505551234@s.whatsapp.net", "1234567890123456789", "us.1"},
	})
}

// opening is the way to a file of these bytes.
func opening(data string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }
}

// conformanceSetup is a reference with the fake behind it.
func conformanceSetup(t *testing.T) providertest.Setup {
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{fakeReference()}})
	t.Cleanup(fake.Close)
	return providertest.Setup{
		Provider:  cloud.New(&cloud.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}),
		Reference: provider.Reference{ID: 1, Name: "Shop", Settings: settings()},
		Shown: func() []string {
			var texts []string
			for _, m := range fake.Shown("16505551234") {
				texts = append(texts, m.Text)
			}
			return texts
		},
		Fail: func(f providertest.Fault) bool {
			fake.Fail(map[providertest.Fault]graphtest.Fault{
				providertest.RateLimited: {Code: 130429},
				providertest.Window:      {Code: 131047},
				providertest.Expired:     {Code: 190, Subcode: 463, Status: http.StatusUnauthorized},
				providertest.Unreachable: {Code: 131026},
				providertest.Refused:     {Code: 132000},
				providertest.Unavailable: {Code: 2, Status: http.StatusInternalServerError, Transient: true},
				providertest.Lost:        {Cut: true, Taken: true},
				providertest.Hanging:     {Hang: true},
			}[f])
			return true
		},
		Callback: func(t *testing.T, text string) (header http.Header, body []byte) {
			return capture(t, fake, graphtest.Inbound{From: "16505551234", Name: "Ana", Text: text})
		},
		Callbacks: func(t *testing.T) map[string][]byte { return sampleCallbacks(t, fake) },
	}
}

// capture returns the callback that the fake posts for what a contact writes.
func capture(t *testing.T, fake *graphtest.Server, in graphtest.Inbound) (header http.Header, body []byte) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
	}))
	defer receiver.Close()
	fake.SetCallback(receiver.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := fake.Write(ctx, in)
	require.NoError(t, err)
	return header, body
}
