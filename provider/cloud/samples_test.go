package cloud_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// listen yields the bodies that the fake posts.
func listen(t *testing.T, fake *graphtest.Server) <-chan []byte {
	t.Helper()
	bodies := make(chan []byte, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	t.Cleanup(receiver.Close)
	fake.SetCallback(receiver.URL)
	return bodies
}

// sampleCallbacks captures what the fake posts for each of its samples.
func sampleCallbacks(t *testing.T, fake *graphtest.Server) map[string][]byte {
	t.Helper()
	bodies := listen(t, fake)
	callbacks := map[string][]byte{}
	for _, x := range graphtest.Samples("16505551234") {
		require.NoError(t, fake.PostSample(t.Context(), "", x))
		callbacks[x.Name] = <-bodies
	}
	return callbacks
}

// TestSamples: each kind of thing that the fake posts becomes what it is, and
// what nobody knows stays raw.
func TestSamples(t *testing.T) {
	t.Parallel()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{fakeReference()}})
	t.Cleanup(fake.Close)
	kinds := map[string]int{}
	for name, body := range sampleCallbacks(t, fake) {
		events, bad := read(t, body)
		require.Empty(t, bad, name)
		for _, e := range events {
			switch e := e.(type) {
			case *provider.Message:
				if u, unknown := e.Content.(provider.Unknown); unknown {
					require.Equal(t, name == "unknown", u.Body != nil, name)
				}
				kinds[e.Content.Type()]++
			case *provider.Raw:
				require.Equal(t, "unknown field", name)
				kinds["raw"]++
			default:
				kinds[provider.RawOf(e).Kind]++
			}
		}
	}
	for _, kind := range []string{
		"text", "image", "video", "audio", "document", "sticker", "media_placeholder", "location", "contacts", "reaction",
		"reply", "form", "order", "opened", "revoke", "unsupported", "system", "history", "contact_sync", "call", "call_status",
		"user_preference", "user_id_update", "group", "error", "template_status", "template_quality", "template_category",
		"template_components", "account_update", "account_review", "phone_quality", "phone_name", "capability", "username_update", "raw",
	} {
		require.Positive(t, kinds[kind], kind)
	}
}

// TestEcho: what is typed in the app on the phone comes as the account's own.
func TestEcho(t *testing.T) {
	t.Parallel()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{fakeReference()}})
	t.Cleanup(fake.Close)
	bodies := listen(t, fake)
	id, err := fake.Echo(t.Context(), graphtest.Inbound{From: "16505551234", Text: "From the counter"})
	require.NoError(t, err)
	m := one[*provider.Message](t, <-bodies)
	require.Equal(t, id, m.ID)
	require.True(t, m.Mine)
	require.Equal(t, "16505551234", m.Chat.ChatID)
	require.Equal(t, "15550783881", m.From.Phone)
	require.Equal(t, provider.Text{Text: "From the counter"}, m.Content)
}
