package server_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/panel"
)

// TestStart_MakesSchemasLate checks that a start and the pages make no schema of
// the API: the first request that needs them does, or the server after its start.
func TestStart_MakesSchemasLate(t *testing.T) {
	t.Parallel()
	get := func(t *testing.T, f *server.Server, path string) int {
		t.Helper()
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		return w.Code
	}
	for _, path := range []string{"/probe", "/swagger/openapi.json", "/nowhere"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := bare(t)
			early := f.Schemas()
			require.Equal(t, 302, get(t, f, "/"))
			require.Equal(t, 200, get(t, f, "/panel/"))
			require.Equal(t, 200, get(t, f, "/swagger"))
			require.Equal(t, early, f.Schemas())
			get(t, f, path)
			require.Greater(t, f.Schemas(), early+100)
			w := httptest.NewRecorder()
			f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/panel/", nil))
			require.Equal(t, 405, w.Code, "a page has the methods that it had")
		})
	}
	t.Run("served", func(t *testing.T) {
		t.Parallel()
		f := bare(t)
		early := f.Schemas()
		started := make(chan struct{})
		run(t, fixture{Server: f}, server.Listeners{Started: func() { close(started) }})
		<-started
		require.Greater(t, f.Schemas(), early+100)
	})
}

// bare returns a server that nothing has asked yet.
func bare(t *testing.T) *server.Server {
	t.Helper()
	cfg := server.Config{DB: testkit.Open(t, testkit.SQLiteURL(t)), Secrets: []server.Secret{secret}, Panel: panel.Handler, Logger: slog.New(slog.DiscardHandler)}
	s, err := server.New(t.Context(), cfg)
	require.NoError(t, err)
	return s
}
