package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	require.Fail(u.t, "the body is read")
	return 0, io.EOF
}

// callbackFrom gives a server what a network is said to have sent from an
// address.
func callbackFrom(t *testing.T, s http.Handler, from string, body io.Reader, signature string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/webhooks/provider", body)
	r.RemoteAddr = from + ":1"
	r.Header.Set(graph.SignatureHeader, signature)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestForgedCallbacksAreLimited by address, before they are read; what somebody
// here has signed is taken from everywhere else.
func TestForgedCallbacksAreLimited(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		number := cloudNumber("808")
		ref := ana.reference(t, reference(number))
		large := text("808", "80899", "16505551234", "wamid.1", strings.Repeat("x", 3<<20))
		forged := graph.Sign("nobody's", []byte(large))
		taken := 0
		for callbackFrom(t, f, "198.51.100.1", strings.NewReader(large), forged).Code == 401 {
			taken++
		}
		require.Less(t, taken, 20)
		w := callbackFrom(t, f, "198.51.100.1", unread{t}, forged)
		require.Equal(t, 429, w.Code)
		require.Contains(t, w.Body.String(), `"rate_limited"`)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
		hello := text("808", "80899", "16505551234", "wamid.2", "Hello")
		for range 50 { // from where a good one came more is taken
			require.Equal(t, 200, callbackFrom(t, f, "198.51.100.2", strings.NewReader(hello), graph.Sign(number.AppSecret, []byte(hello))).Code)
			require.Equal(t, 401, callbackFrom(t, f, "198.51.100.2", strings.NewReader(large), forged).Code)
		}
		require.Equal(t, []string{"Hello"}, ana.texts(t, ref))
	})
}
