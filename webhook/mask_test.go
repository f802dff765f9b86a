package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestResponsesShowNoHeaderValue has a receiver repeat what it got, which
// everybody who reads the log sees.
func TestResponsesShowNoHeaderValue(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{})
	for name, c := range map[string]struct{ before, stored string }{
		"whole":   {"", "token •••• / •••• / yes"},
		"in part": {strings.Repeat("x", 990), "token •••• / ••••"},
		"cut":     {strings.Repeat("x", 1009), "token ••••"},
		"barely":  {strings.Repeat("x", 1015), "token can"}, // a few characters tell nothing
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				_, _ = fmt.Fprintf(w, "%stoken %s / %s / %s", c.before, token, r.Header.Get("Authorization"), r.Header.Get("X-Flag"))
			}))
			t.Cleanup(s.Close)
			ep, _, err := f.Put(t.Context(), webhook.Settings{Scope: "1", URL: s.URL, Headers: []webhook.Header{
				{Key: "Authorization", Value: "Bearer canary-of-a-token"}, {Key: "X-Flag", Value: "yes"},
			}})
			require.NoError(t, err)
			a, err := f.Test(t.Context(), ep.ID, webhook.Event{Type: "message", Body: []byte(`{}`)})
			require.NoError(t, err)
			require.Equal(t, c.before+c.stored, a.Response)
		})
	}
}
