package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstRequests sends the first requests to every operation at once, while the
// document is made: each is answered as the next one is.
func TestFirstRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	ask := func(from int) (statuses []string) { // one address alone would be limited
		for _, route := range f.Routes() {
			var method, path string
			_, err := fmt.Sscan(route, &method, &path)
			require.NoError(t, err)
			r := httptest.NewRequestWithContext(t.Context(), method, parameter.ReplaceAllString(path, "x"), http.NoBody)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", from)
			w := httptest.NewRecorder()
			f.Server.ServeHTTP(w, r)
			statuses = append(statuses, fmt.Sprint(route, " ", w.Code))
		}
		return statuses
	}
	answers := make([][]string, 8)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = ask(i) })
	}
	all.Wait()
	want := ask(len(answers))
	for _, got := range answers {
		require.Equal(t, want, got)
	}
	require.NotContains(t, fmt.Sprint(want), " 500")
}
