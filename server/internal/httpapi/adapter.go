package httpapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"
	"github.com/gorilla/mux"
)

// adapter registers operations with a router. The router tries one route after
// another with a regular expression each. The adapter's routes begin with a cheaper
// check, which rejects nearly all of them.
type adapter struct{ router *mux.Router }

// Handle adds the route of an operation.
func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	a.router.NewRoute().
		MatcherFunc(matcherOf(op.Path)).
		Path(op.Path).
		Methods(op.Method).
		HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler(humamux.NewContext(op, r, w)) })
}

// ServeHTTP passes a request to the router.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

// matcherOf returns a check that agrees with the regular expression of a path
// template whose parameters are whole segments. It must agree: a check that
// succeeds before an expression that fails would turn a 405 into a 404.
func matcherOf(template string) mux.MatcherFunc {
	literal, _, parameters := strings.Cut(template, "{")
	segments := strings.Split(template, "/")
	return func(r *http.Request, _ *mux.RouteMatch) bool {
		if !strings.HasPrefix(r.URL.Path, literal) || !parameters && len(r.URL.Path) != len(literal) {
			return false
		}
		return matchSegments(segments, r.URL.EscapedPath())
	}
}

// matchSegments reports whether a path has the segments of a template, where a
// parameter is any segment that is not empty.
func matchSegments(segments []string, path string) bool {
	for i, want := range segments {
		got, rest, more := strings.Cut(path, "/")
		if more != (i < len(segments)-1) {
			return false
		}
		if strings.HasPrefix(want, "{") && got == "" || !strings.HasPrefix(want, "{") && got != want {
			return false
		}
		path = rest
	}
	return true
}
