package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

//go:embed swagger/index.html swagger/init.js swagger/*.gz
var swagger embed.FS

// filesPath is where links to files lead.
const filesPath = "/files/"

// docsPolicy lets the page of the API's documents load what we serve, and
// nothing else. Swagger UI sets styles in its elements.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageRoutes are what a browser opens.
func (s *Server) pageRoutes(r *mux.Router) {
	base := ""
	if u, err := url.Parse(s.cfg.BaseURL); err == nil {
		base = u.Path
	}
	document := s.api.Document(describeAll)
	r.Handle("/swagger/openapi.json", s.late(func() (asset, error) {
		b, err := json.Marshal(document)
		return newAsset(b, "application/json", false), err
	})).Methods(http.MethodGet)
	for path, file := range map[string]struct{ name, mime string }{
		"/swagger":                      {"index.html", "text/html; charset=utf-8"},
		"/swagger/init.js":              {"init.js", "text/javascript; charset=utf-8"},
		"/swagger/swagger-ui-bundle.js": {"swagger-ui-bundle.js.gz", "text/javascript; charset=utf-8"},
		"/swagger/swagger-ui.css":       {"swagger-ui.css.gz", "text/css; charset=utf-8"},
	} {
		r.Handle(path, s.late(func() (asset, error) {
			body, err := swagger.ReadFile("swagger/" + file.name)
			return newAsset(body, file.mime, strings.HasSuffix(file.name, ".gz")), err
		})).Methods(http.MethodGet)
	}
	first := base + "/swagger"
	if s.cfg.Panel != nil {
		first = base + "/panel/"
		r.Handle("/panel", redirect(first)).Methods(http.MethodGet)
		r.PathPrefix("/panel/").Handler(s.cfg.Panel(first)).Methods(http.MethodGet)
	}
	r.Handle("/", redirect(first)).Methods(http.MethodGet)
	r.Handle("/swagger/", redirect(base+"/swagger")).Methods(http.MethodGet)
}

// fileRoutes serves what links lead to. No more than the link is needed.
func (s *Server) fileRoutes(r *mux.Router) {
	r.PathPrefix(filesPath).Methods(http.MethodGet).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.media == nil {
			notFound(w, r)
			return
		}
		if httpapi.RequestOf(r.Context()).Head { // the file need not be read for it
			head := *r
			head.Method, r = http.MethodHead, &head
		}
		s.media.ServeHTTP(w, r)
	})
}

func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
}

// late serves an asset that is made when it is first asked for: few servers
// are, and it takes time and memory.
func (s *Server) late(load func() (asset, error)) http.Handler {
	load = sync.OnceValues(load)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := load()
		if err != nil {
			httpapi.WriteProblem(w, s.problemOf(r.Context(), fmt.Errorf("making a page: %w", err)))
			return
		}
		a.ServeHTTP(w, r)
	})
}

// asset is a file in memory.
type asset struct {
	body    []byte
	gzipped bool
	mime    string
	etag    string
}

func newAsset(body []byte, mime string, gzipped bool) asset {
	sum := sha256.Sum256(body)
	return asset{body: body, gzipped: gzipped, mime: mime, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.mime)
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cache-Control", "no-cache") // asked again, but not sent again
	h.Set("ETag", a.etag)
	h.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.body
	if a.gzipped {
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
		} else {
			body = gunzip(body)
		}
	}
	_, _ = w.Write(body)
}

// gunzip opens what was embedded, which is sound.
func gunzip(b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return out
}
