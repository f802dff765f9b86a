package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// TestBrokenConnection distinguishes a provider that could not be reached from one
// that has received the request: the latter may have processed it, so its usage is
// unknown.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // all that there is
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	post := func() (e *llm.Error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("Well?"))
		require.NoError(t, err)
		res, err := wire.Client(nil, "own").Do(r)
		if err == nil {
			_ = res.Body.Close()
		}
		require.ErrorAs(t, wire.Call{Provider: "own", Model: "m"}.Failure(t.Context(), err), &e)
		return e
	}
	e := post()
	require.Equal(t, llm.CodeTruncated, e.Code)
	require.NotContains(t, e.Error(), "127.0.0.1")
	require.True(t, e.Temporary())
	server.Close()
	require.Equal(t, llm.CodeUnavailable, post().Code)
}
