package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// handshakes answers the network's question for an address.
func handshakes(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		challenge, ok := provider.Challenge(r.URL.Query(), func(token string) bool { return token == "verify word" })
		if !ok {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = w.Write([]byte(challenge))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// posts counts the requests that subscribe.
func posts(fake *graphtest.Server) (n int) {
	for _, r := range fake.Requests() {
		if r.Method == http.MethodPost && r.Path == accountID+"/subscribed_apps" {
			n++
		}
	}
	return n
}

// TestSubscribe moves the callbacks of an account to an address and back.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	fake, p, first := setup(t, graphtest.Options{})
	at := handshakes(t)
	open := func(callback string) provider.Session {
		s, err := p.Open(t.Context(), provider.Reference{ID: 1, Settings: settings(), CallbackURL: callback}, nil)
		require.NoError(t, err)
		return s
	}
	require.NoError(t, first.(provider.Subscriber).Subscribe(t.Context(), at))
	require.Equal(t, at, fake.Override(accountID))
	require.Equal(t, 2, posts(fake), "plainly, then with the address")

	moved := open(at)
	_, err := moved.(provider.Checker).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, posts(fake), "a check changes nothing that is right")
	err = moved.(provider.Subscriber).Subscribe(t.Context(), at+"/nobody\x7f")
	require.Error(t, err)
	require.Error(t, moved.(provider.Subscriber).Subscribe(t.Context(), "http://127.0.0.1:1/"))
	require.Equal(t, at, fake.Override(accountID), "what fails changes nothing")

	require.NoError(t, first.(provider.Subscriber).Subscribe(t.Context(), ""))
	require.Empty(t, fake.Override(accountID))
	_, err = moved.(provider.Checker).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, at, fake.Override(accountID), "a check restores what was lost")

	require.NoError(t, moved.Close(t.Context()))
	var passing *provider.Temporary
	require.ErrorAs(t, moved.(provider.Subscriber).Subscribe(t.Context(), ""), &passing)
}
