package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/gorilla/mux"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// FuzzMatcher compares the check of a path with the router's own.
func FuzzMatcher(f *testing.F) {
	templates := []string{"/user/me", "/user/{id}", "/user/{id}/tokens/{token}", "/user", "/chats/{chat}/read", "/"}
	for _, path := range append(templates, "/user/", "/user//tokens/7", "/user/a%2Fb", "/user/a%2Fb/tokens/%C3%BC", "/%75ser/me", "/user/me/", "/users", "/chats/ana@x:1/read") {
		f.Add(path)
	}
	plain := map[string]*mux.Route{}
	for _, template := range templates {
		plain[template] = mux.NewRouter().UseEncodedPath().NewRoute().Path(template).HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.URL = u
		for template, route := range plain {
			require.Equal(t, route.Match(r, &mux.RouteMatch{}), httpapi.MatcherOf(template)(r, nil), "%s of %s", path, template)
		}
	})
}
