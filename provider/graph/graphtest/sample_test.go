package graphtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestSamples: every sample is posted, signed, in the envelope of its kind: of
// a reference, or of an account with the time.
func TestSamples(t *testing.T) {
	t.Parallel()
	type envelope struct {
		Object string
		Entry  []struct {
			ID      string
			Time    int64
			Changes []struct {
				Field string
				Value struct {
					Metadata *struct {
						ID string `json:"phone_number_id"`
					}
				}
			}
		}
	}
	bodies := make(chan envelope, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e envelope
		if err != nil || !graph.Verify("s", r.Header, body) || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		bodies <- e
	}))
	t.Cleanup(receiver.Close)
	fake := graphtest.Start(&graphtest.Options{
		Numbers:  []graphtest.Number{{PhoneNumberID: "1", BusinessAccountID: "2", AccessToken: "t", AppSecret: "s"}},
		Callback: receiver.URL,
	})
	t.Cleanup(fake.Close)
	names := map[string]bool{}
	for _, x := range graphtest.Samples("16505551234") {
		require.False(t, names[x.Name], "%s is there twice", x.Name)
		names[x.Name] = true
		require.NoError(t, fake.PostSample(t.Context(), "", x))
		e := (<-bodies).Entry[0]
		require.Equal(t, "2", e.ID)
		require.Equal(t, x.Field, e.Changes[0].Field)
		require.Equal(t, x.Account, e.Time != 0, x.Name)
		require.Equal(t, x.Account, e.Changes[0].Value.Metadata == nil, x.Name)
	}
	require.Error(t, fake.PostSample(t.Context(), "nobody", graphtest.Samples("1")[0]))
	require.Error(t, fake.PostAccountChange(t.Context(), "nobody", "x", nil))
	_, err := fake.Echo(t.Context(), graphtest.Inbound{Number: "nobody"})
	require.Error(t, err)
}
