package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Stack passes every request on to its operation. It is made once for a server.
type Stack struct {
	API     *httpapi.API
	BaseURL string
	DB      *database.DB // keeps which proxies are not trusted
	Log     *slog.Logger
	Metrics *Metrics
	Now     func() time.Time
	Quiet   string // the route whose requests are logged at level Debug
	Router  *mux.Router
	Tracing *Tracing
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed

	proxies proxyNotes
}

// Handler returns the handler of all requests. Each gets an id and a line in
// the log, a panic becomes a problem, and bodies must arrive at a minimum rate.
func (s *Stack) Handler() http.Handler {
	s.Router.Use(rememberRoute, unescapeVars, s.literalFirst)
	s.Router.NotFoundHandler = http.HandlerFunc(NotFound)
	s.Router.MethodNotAllowedHandler = http.HandlerFunc(s.methodNotAllowed)
	return s.observe(s.recovered(Paced(headAsGet(s.Router))))
}

// answerPolicy lets a browser that shows an answer by itself load nothing, and
// no page frame it.
const answerPolicy = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"

// observe gives a request its id and logs and counts its answer.
func (s *Stack) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		req := &httpapi.Request{ID: newRequestID(), Client: ClientOf(r, s.Trusted), Agent: r.UserAgent()}
		ctx, end := s.Tracing.Request(httpapi.WithRequest(database.ForRequest(r.Context()), req), r, req)
		h := w.Header()
		h.Set("X-Request-Id", req.ID)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", answerPolicy) // pages have their own
		h.Set("Cache-Control", "no-store")             // what may be kept says so
		s.strictTransport(h, r)
		s.noteProxy(r)
		out := &Response{ResponseWriter: w}
		defer func() {
			out.Finish()
			s.answered(ctx, r, req, out, time.Since(start))
			end(out.Answered())
		}()
		next.ServeHTTP(out, r.WithContext(ctx))
	})
}

// answered logs a request without its query and body, which may hold secrets
// and what people say.
func (s *Stack) answered(ctx context.Context, r *http.Request, req *httpapi.Request, out *Response, duration time.Duration) {
	status := out.Answered()
	s.Metrics.observe(r.Method, req.Route, status, duration)
	level := slog.LevelInfo
	if req.Route == s.Quiet {
		level = slog.LevelDebug
	}
	if !s.Log.Enabled(ctx, level) {
		return
	}
	path := req.Route // paths may hold ids of people
	if path == "" {
		path = "(no route)"
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", path), slog.Int("status", status),
		slog.Duration("took", duration), slog.Int64("bytes", out.Bytes), slog.String("client", req.Client.String()),
	}
	if req.Account != "" {
		attrs = append(attrs, slog.String("account", req.Account))
	}
	s.Log.LogAttrs(ctx, level, "request", attrs...)
}

// recovered turns a panic into an internal problem.
func (s *Stack) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				panic(v)
			}
			s.Log.ErrorContext(r.Context(), "handler panicked",
				slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
			if out, ok := w.(*Response); ok && out.Status != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeInternal, ""))
		}()
		next.ServeHTTP(w, r)
	})
}

// headAsGet answers HEAD as GET; net/http leaves out the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			httpapi.RequestOf(r.Context()).Head = true
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}

func rememberRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route := mux.CurrentRoute(r); route != nil {
			httpapi.RequestOf(r.Context()).Route, _ = route.GetPathTemplate()
		}
		next.ServeHTTP(w, r)
	})
}

// unescapeVars gives parameters of the path the values that were meant: the
// router takes them from the path as it was written.
func unescapeVars(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		vars := mux.Vars(r) // the map that handlers read
		for name, escaped := range vars {
			if value, err := url.PathUnescape(escaped); err == nil {
				vars[name] = value
			}
		}
		next.ServeHTTP(w, r)
	})
}

// NotFound answers that a path does not exist.
func NotFound(w http.ResponseWriter, _ *http.Request) {
	httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeNotFound, "this path does not exist: see the API docs at /swagger"))
}

// literalFirst refuses what only a path with parameters would answer, where
// there is a literal one. (The router forgets a method that did not match when
// a later route is like the path.)
func (s *Stack) literalFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.API.Owns(r.URL.Path, mux.CurrentRoute(r)) {
			httpapi.RequestOf(r.Context()).Route = r.URL.Path
			s.methodNotAllowed(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// methodNotAllowed names the methods that the path has.
func (s *Stack) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, m := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	} {
		try := *r
		if try.Method = m; m == http.MethodHead {
			try.Method = http.MethodGet
		}
		var match mux.RouteMatch
		if s.Router.Match(&try, &match) && match.MatchErr == nil && s.API.Owns(r.URL.Path, match.Route) {
			w.Header().Add("Allow", m)
		}
	}
	httpapi.WriteProblem(w, httpapi.NewProblem(httpapi.CodeMethodNotAllowed, "this path does not have this method: see Allow"))
}

func newRequestID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}
