package httpapi

import (
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"
	"github.com/gorilla/mux"
)

// addRoute adds the route of an operation. The router tries one route after another
// with a regular expression each. These routes begin with a cheaper check, which
// rejects nearly all of them.
func (a *API) addRoute(op operation) {
	a.opts.Router.NewRoute().MatcherFunc(matcherOf(op.Path)).Path(op.Path).Methods(op.Method).Handler(a.handler(op))
}

// handler returns the handler of an operation. The first request makes the schemas
// by which requests are checked, for this operation alone: to make those of all
// operations takes longer than all else that a server does to start.
func (a *API) handler(op operation) http.Handler {
	load := sync.OnceValue(func() *collector {
		c := &collector{}
		one := a.newHuma(c)
		op.register(one)
		MarkNullable(one.OpenAPI().Components.Schemas)
		return c
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { load().ServeHTTP(w, r) })
}

// collector is an adapter that keeps the operation that huma gives it last.
type collector struct {
	op     *huma.Operation
	handle func(huma.Context)
}

// Handle keeps an operation.
func (c *collector) Handle(op *huma.Operation, handle func(huma.Context)) {
	c.op, c.handle = op, handle
}

// ServeHTTP answers a request for the operation.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.handle(humamux.NewContext(c.op, r, w))
}

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
