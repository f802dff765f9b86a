package messenger_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/messenger"
)

const (
	page  = "555100000000009"
	maria = "5552000000000009"
)

// settings are those of the fake's page, as people paste them.
func settings() provider.Settings {
	return provider.Settings{"pageId": " " + page, "accessToken": "token\n", "appSecret": "app secret", "verifyToken": "verify word"}
}

func fakePage() graphtest.Page {
	return graphtest.Page{ID: page, Name: "Hat Shop", AccessToken: "token", AppSecret: "app secret", VerifyToken: "verify word"}
}

// fakeNetwork has the page, and references over it.
func fakeNetwork(t *testing.T, o graphtest.Options) (*graphtest.Server, *messenger.Provider) {
	t.Helper()
	if o.Pages == nil {
		o.Pages = []graphtest.Page{fakePage()}
	}
	fake := graphtest.Start(&o)
	t.Cleanup(fake.Close)
	return fake, messenger.New(&messenger.Options{GraphURL: fake.URL, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
}

// setup opens the page against a fake.
func setup(t *testing.T, o graphtest.Options) (*graphtest.Server, provider.Session) {
	t.Helper()
	fake, p := fakeNetwork(t, o)
	session, err := p.Open(t.Context(), provider.Reference{ID: 1, Name: "Shop", Settings: settings()}, nil)
	require.NoError(t, err)
	return fake, session
}

// toMaria is a message to her.
func toMaria(c provider.Content) provider.Outbound {
	return provider.Outbound{ID: "out-1", To: provider.Address{ChatID: maria + "@messenger", PSID: maria}, Content: c}
}

// opening is the way to a file of these bytes.
func opening(data string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }
}

// posted is what the fake posts.
type posted struct {
	header http.Header
	body   []byte
}

// listen yields what the fake posts.
func listen(t *testing.T, fake *graphtest.Server) <-chan posted {
	t.Helper()
	all := make(chan posted, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all <- posted{r.Header.Clone(), body}
	}))
	t.Cleanup(receiver.Close)
	fake.SetCallback(receiver.URL)
	return all
}

// read routes and parses a callback.
func read(t testing.TB, body []byte) (events []provider.Event, bad []provider.Bad) {
	t.Helper()
	p := messenger.New(nil)
	parts, err := p.Route(body)
	require.NoError(t, err)
	for _, part := range parts {
		e, b := p.Parse(part)
		events, bad = append(events, e...), append(bad, b...)
	}
	return events, bad
}

// item is a callback with one item, from Maria to the page unless it says
// otherwise.
func item(members string) []byte {
	if !strings.Contains(members, `"sender"`) {
		members = `"sender":{"id":"` + maria + `"},` + members
	}
	if !strings.Contains(members, `"recipient"`) {
		members = `"recipient":{"id":"` + page + `"},` + members
	}
	return []byte(`{"object":"page","entry":[{"id":"` + page + `","time":1760000000500,"messaging":[{` + members + `}]}]}`)
}
